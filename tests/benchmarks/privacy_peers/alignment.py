"""Lead the replaced parts of an edited text back into its source, from what stands between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Spans = list[tuple[int, int, str]]


class _Between(NamedTuple):
    """Unchanged text of the edited text: where it begins in the source and in the edited text, and its size."""

    at: int
    edited_at: int
    size: int


def aligned(source: str, edited: str, redactions: Sequence[tuple[int, int, str]]) -> Spans:
    """Return (start, end, replacement) in the source; splicing them gives the edited text.

    ``redactions`` are (start, end, type) in the edited text; what stands between them is unchanged, but for quotes
    around the replacement of a JSON number, which count as part of the replacement. It is looked for from left to
    right, which finds a place whenever there is one. Raises ``ValueError`` when there is none.
    """
    places = _joined(redactions)
    if not places:
        return []
    bounds = [0, *(bound for place in places for bound in place), len(edited)]
    betweens: list[_Between] = []
    at = 0
    for number in range(0, len(bounds), 2):
        start, end = bounds[number], bounds[number + 1]
        is_first, is_last = number == 0, number == len(bounds) - 2
        found = _place(source, edited, start, end, at, is_first=is_first, is_last=is_last)
        betweens.append(found)
        at = found.at + found.size + 1
    return [
        (before.at + before.size, after.at, edited[before.edited_at + before.size : after.edited_at])
        for before, after in zip(betweens, betweens[1:], strict=False)
    ]


def _place(source: str, edited: str, start: int, end: int, at: int, *, is_first: bool, is_last: bool) -> _Between:
    """Find an unchanged part in the source: at its begin, at its end, or at the earliest place from ``at`` on."""
    best: _Between | None = None
    for left in (0, 1) if not is_first and edited[start : start + 1] == '"' else (0,):
        for right in (0, 1) if not is_last and edited[end - 1 : end] == '"' and end > start else (0,):
            part = edited[start + left : max(start + left, end - right)]
            if is_first:
                found = 0 if source.startswith(part) else -1
            elif is_last:
                found = len(source) - len(part) if source.endswith(part) else -1
                found = found if found >= at else -1
            else:
                found = source.find(part, at)
            if found >= 0 and (best is None or found < best.at):
                best = _Between(found, start + left, len(part))
    if best is None:
        raise ValueError("wanted the text between replaced parts in the source, found none")
    return best


def _joined(redactions: Sequence[tuple[int, int, str]]) -> list[tuple[int, int]]:
    """Return the replaced parts in order; those that touch are one."""
    joined: list[tuple[int, int]] = []
    for start, end, _ in sorted(redactions):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
