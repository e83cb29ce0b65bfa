"""Copies of the values of a row in all its parts: looked for in one go, since most rows have many short parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from pipelines.privacy.copies import Copies
from pipelines.privacy.name_copies import NameCopies
from pipelines.privacy.row_parts import Part
from pipelines.privacy.scan import PERSON, Span

_BETWEEN = "\x00"
"""Stands between parts: neither a letter nor a digit, so that a part begins and ends as a text does."""
_GROWS = "\u0130"
"""The one letter whose lower case is longer."""


class RowCopies:
    """Finders of the values of a row, all asked at once."""

    def __init__(self, *finders: Copies | NameCopies) -> None:
        self._finders = finders

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return for each text the places of values in it; they may overlap."""
        if len(texts) == 1:
            return [self._find(texts[0])]
        joined = _BETWEEN.join(texts)
        if joined.count(_BETWEEN) != len(texts) - 1 or _GROWS in joined:
            return [self._find(text) for text in texts]
        found: list[list[Span]] = [[] for _ in texts]
        if spans := self._find(joined):
            begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
            for start, end, kind, canonical, score in spans:
                owner = bisect_right(begins, start) - 1
                begin = begins[owner]
                found[owner].append(Span(start - begin, end - begin, kind, canonical, score))
        return found

    def _find(self, text: str) -> list[Span]:
        return [span for finder in self._finders for span in finder.find(text)]


def copies_in(parts: Iterable[Part]) -> RowCopies:
    """Return finders of the values that were found in the parts of a row; names are looked for in their own way."""
    found = [(part.text[span.start : span.end], span) for part in parts for span in part.spans]
    values = Copies((text.lower(), span) for text, span in found if span.kind != PERSON)
    return RowCopies(values, NameCopies((text, span) for text, span in found if span.kind == PERSON))
