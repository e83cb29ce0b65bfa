"""What may be shown of the text around a suspected value: shapes of words, never the words."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.privacy.anonymizer import Edit

WIDTH = 32


def masked_context(text: str, suspect: Edit, others: Sequence[Edit]) -> str:
    """Return ``[TYPE]`` with up to 32 characters on each side: letters as x or X, digits as 0, marks as they are.

    Other suspects nearby show as their type too.
    """
    first, last = max(0, suspect.start - WIDTH), min(len(text), suspect.end + WIDTH)
    pieces: list[str] = []
    done = first
    for edit in sorted(others):
        if edit.end <= first or edit.start >= last:
            continue
        pieces += (shape(text[done : edit.start]), f"[{edit.kind}]")
        done = max(done, edit.end)
    return "".join((*pieces, shape(text[done:last])))


def shape(text: str) -> str:
    """Return a text with its letters and digits as x, X and 0, control characters as spaces."""
    return "".join(_sign(c) for c in text)


def _sign(sign: str) -> str:
    if sign.isdecimal():
        return "0"
    if sign.isalnum():
        return "X" if sign.isupper() else "x"
    return sign if sign.isprintable() else " "
