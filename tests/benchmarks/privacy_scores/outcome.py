"""What a system did to a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Replaced(NamedTuple):
    """Code points of the source that were replaced, and by what."""

    start: int
    end: int
    replacement: str


class Outcome(NamedTuple):
    """The text after the edit and its replaced parts, disjoint and in order; nothing where it was refused."""

    text: str | None
    replaced: Sequence[Replaced]

    @classmethod
    def of(cls, source: str, spans: Iterable[tuple[int, int, str]]) -> Outcome:
        """Splice spans into a text. Where they overlap, one replacement covers their union: that of the longest."""
        joined: list[tuple[int, int, int, str]] = []
        for start, end, replacement in sorted(spans, key=lambda span: (span[0], -span[1])):
            if joined and start < joined[-1][1]:
                first, last, size, text = joined[-1]
                if end - start > size:
                    size, text = end - start, replacement
                joined[-1] = (first, max(last, end), size, text)
            elif end > start:
                joined.append((start, end, end - start, replacement))
        replaced = [Replaced(start, end, text) for start, end, _, text in joined]
        return cls(spliced(source, replaced), replaced)


def spliced(source: str, replaced: Iterable[Replaced]) -> str:
    """Return the source with its replaced parts exchanged."""
    pieces: list[str] = []
    done = 0
    for one in replaced:
        pieces += (source[done : one.start], one.replacement)
        done = one.end
    pieces.append(source[done:])
    return "".join(pieces)


def covered(size: int, replaced: Iterable[tuple[int, int, str]]) -> bytearray:
    """Return a byte for each code point: 1 where it was replaced."""
    marks = bytearray(size)
    for start, end, _ in replaced:
        marks[start:end] = b"\x01" * (end - start)
    return marks
