"""What the second tier gives: spans of names and addresses for many texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

TaggedSpan = tuple[int, int, str] | tuple[int, int, str, float]
"""Start and end in code points, type, and how sure it is where the source can say."""

DEFAULT_SCORE = 0.85


class SpanSource(Protocol):
    """Finds spans that no pattern gives. Pickles; deterministic; never cuts a text.

    A text does not change what is found in its neighbours of the same call.
    """

    def tag(self, texts: Sequence[str]) -> Sequence[Sequence[TaggedSpan]]:
        """Return the spans of each text, in order. An error means that none of the texts may pass."""
        ...
