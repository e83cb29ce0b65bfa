"""One visible text out of the text parts of a message, by the same rule in every format."""

from __future__ import annotations

from collections.abc import Iterable


def join_texts(texts: Iterable[str]) -> str:
    """Join the parts that are not empty by a line feed, so that a talk reads the same whichever format cut it up."""
    return "\n".join(filter(None, texts))
