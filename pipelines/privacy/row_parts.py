"""The texts of one row as detectors see them: fields, and the strings inside fields that are JSON."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipelines.privacy.folding import compose, fold
from pipelines.privacy.json_leaves import Leaf, json_leaves
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import TYPES, Span

OWN = re.compile(rf"{TOKEN.pattern}|\[(?:{'|'.join(TYPES)})\]")
"""A token or a mask."""

Place = tuple[int, int, str]
"""Start, end, type in the source of a field."""


@dataclass(slots=True)
class Part:
    """A field, or one string of a JSON field, folded; ``starts`` leads back into the field's source."""

    text: str
    starts: Sequence[int] | None
    leaf: Leaf
    spans: list[Span] = field(default_factory=list)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the field's source of ``text[start:end]``."""
        return (start, end) if self.starts is None else (self.starts[start], self.starts[end])

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
        if self.starts is None:
            return start, min(end, len(self.text))
        return bisect_left(self.starts, start), bisect_right(self.starts, end) - 1


def _cut(span: Span, first: int, last: int, text: str) -> Iterable[Span]:
    if span.end <= first or span.start >= last:
        return [span]
    rests = (span.start, min(first, span.end)), (max(last, span.start), span.end)
    kept = [(start, end) for start, end in rests if any(c.isalnum() for c in text[start:end])]
    return [span._replace(start=start, end=end, canonical=text[start:end].strip().lower()) for start, end in kept]


def parts_of(text: str) -> list[Part]:
    """Return the parts of a field, in the order of its source, without spans."""
    parts = []
    for leaf in leaves_of(text):
        folded = fold(leaf.text)
        parts.append(Part(folded.text, compose(leaf.starts, folded.starts), leaf))
    return parts


def leaves_of(text: str) -> list[Leaf]:
    """Return the strings and long numbers of a field that is JSON, else the field as one leaf."""
    return json_leaves(text) or [Leaf(text, None, None, "")]
