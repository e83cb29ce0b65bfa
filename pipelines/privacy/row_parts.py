"""The texts of one row as detectors see them: fields, and the strings inside fields that are JSON."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from pipelines.privacy.folding import compose, fold
from pipelines.privacy.json_leaves import Leaf, json_leaves, leaf_starts
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import TYPES, Span

OWN = re.compile(rf"{TOKEN.pattern}|\[(?:{'|'.join(TYPES)})\]")
"""A token or a mask."""

Place = tuple[int, int, str]
"""Start, end, type in the source of a field."""


class Part:
    """A field, or one string of a JSON field, folded; where it stands in the field's source is read when asked for."""

    __slots__ = ("_folded", "_index", "_source", "_starts", "leaf", "spans", "text")

    def __init__(self, leaf: Leaf, source: _JsonSource | None = None, index: int = 0) -> None:
        self.text = leaf.text
        self._folded: Sequence[int] | None = None
        if not self.text.isascii():
            self.text, self._folded = fold(self.text)
        self.leaf = leaf
        self.spans: Sequence[Span] = ()
        self._source, self._index = source, index
        self._starts: Sequence[int] | None = None

    @property
    def starts(self) -> Sequence[int] | None:
        """The place in the field's source of each character, and of the end; None is one to one."""
        if self._source is None:
            return self._folded
        if self._starts is None:
            self._starts = compose(self._source.starts(self._index), self._folded)
        return self._starts

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the field's source of ``text[start:end]``."""
        starts = self.starts
        return (start, end) if starts is None else (starts[start], starts[end])

    def without(self, written: Sequence[Place]) -> None:
        """Cut out of the spans what lies in places of the source that an earlier run wrote."""
        for start, end, _ in written:
            first, last = self._inside(start, end)
            if first < last:
                self.spans = [rest for span in self.spans for rest in _cut(span, first, last, self.text)]

    def without_own(self) -> None:
        """Cut tokens and masks out of the spans, so that a second run changes nothing, whatever detectors say."""
        if self.spans and ("<" in self.text or "[" in self.text):
            for own in OWN.finditer(self.text):
                self.spans = [rest for span in self.spans for rest in _cut(span, *own.span(), self.text)]

    def _inside(self, start: int, end: int) -> tuple[int, int]:
        starts = self.starts
        if starts is None:
            return start, min(end, len(self.text))
        return bisect_left(starts, start), bisect_right(starts, end) - 1


class _JsonSource:
    """A field that is JSON: most are clean, and need no places of their leaves."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[Sequence[int]] | None = None

    def starts(self, index: int) -> Sequence[int]:
        """Return the source places of the characters of a leaf."""
        if self._starts is None:
            self._starts = leaf_starts(self._text)
        return self._starts[index]


def _cut(span: Span, first: int, last: int, text: str) -> Iterable[Span]:
    if span.end <= first or span.start >= last:
        return [span]
    rests = (span.start, min(first, span.end)), (max(last, span.start), span.end)
    kept = [(start, end) for start, end in rests if any(c.isalnum() for c in text[start:end])]
    return [span._replace(start=start, end=end, canonical=text[start:end].strip().lower()) for start, end in kept]


def parts_of(text: str) -> list[Part]:
    """Return the parts of a field, in the order of its source, without spans.

    Parts are the strings and long numbers of a field that is JSON, else the field as a whole.
    """
    leaves = json_leaves(text)
    if not leaves:
        return [Part(Leaf(text, None, ""))]
    source = _JsonSource(text)
    return [Part(leaf, source, index) for index, leaf in enumerate(leaves)]
