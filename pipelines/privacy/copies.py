"""Other occurrences of the values that detectors found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipelines.privacy.first_letters import FirstLetters
from pipelines.privacy.folding import lower
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import USERNAME, Span

MIN_WHOLE_WORD = 4
"""Shorter values are replaced where they were found only."""
MIN_ANYWHERE = 8
"""From this length on a value is replaced inside longer words too."""
_FEW = 8


class Copies:
    """Finds all occurrences of a set of values in folded text, in any case.

    Values of 8 characters and more count anywhere, shorter ones and user names as whole words, those below 4 never.
    Linear in the text, however many values there are.
    """

    def __init__(self, found: Iterable[tuple[str, Span]]) -> None:
        self.values: dict[str, Span] = {}
        for value, span in found:
            if len(value) >= MIN_WHOLE_WORD:
                self.values.setdefault(value, span)
        self._by_prefix: dict[int, dict[str, list[str]]] = {}
        if len(self.values) > _FEW:
            for value in self.values:
                size = MIN_ANYWHERE if len(value) >= MIN_ANYWHERE else MIN_WHOLE_WORD
                self._by_prefix.setdefault(size, {}).setdefault(value[:size], []).append(value)
            self._first_letters = FirstLetters(list(self.values), MIN_WHOLE_WORD)

    def find(self, text: str) -> Iterator[Span]:
        """Yield the occurrences in ``text`` with the type and canonical form of their value; they may overlap."""
        if not self.values:
            return
        lowered = lower(text)
        tokens = [m.span() for m in TOKEN.finditer(text)] if "<" in text else []
        for at, value in self._many(lowered) if self._by_prefix else self._few(lowered):
            end = at + len(value)
            span = self.values[value]
            if (len(value) < MIN_ANYWHERE or span.kind == USERNAME) and not _is_whole_word(lowered, at, end):
                continue
            if not any(start < end and at < stop for start, stop in tokens):
                yield Span(at, end, span.kind, span.canonical)

    def _few(self, lowered: str) -> Iterator[tuple[int, str]]:
        for value in self.values:
            at = lowered.find(value)
            while at >= 0:
                yield at, value
                at = lowered.find(value, at + len(value))

    def _many(self, lowered: str) -> Iterator[tuple[int, str]]:
        for at in self._first_letters.places(lowered):
            for size, table in self._by_prefix.items():
                for value in table.get(lowered[at : at + size], ()):
                    if lowered.startswith(value, at):
                        yield at, value


def _is_whole_word(text: str, start: int, end: int) -> bool:
    return not (start and text[start - 1].isalnum() and text[start].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )
