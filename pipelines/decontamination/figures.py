"""Items that are told again with the same numbers: a translation or paraphrase keeps the figures of its original."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.quality.language import UNDETERMINED, identify

NUMBER = re.compile(r"\d+(?:[.,'\u2019\u066b\u066c]\d+)*")
WORD = re.compile(r"[^\W\d_]{3,}")

FEWEST_NUMBERS, FEWEST_DIGITS, MOST_NUMBERS = 2, 4, 12
"""Different numbers and digits that an item must have to be known by them; above the last one it is a table.

Own choice, by the false alarms of ``tests/benchmarks/decontamination.py``."""

WORDS_IN_COMMON = 0.5
"""Share of an item's words that a text of its language, or of an unknown one, has to have as well (own choice)."""

SIZE_RATIO = 4.0
"""A translation has at least a quarter of the characters of its original, and at most four times as many."""


@dataclass(frozen=True)
class FiguredItem:
    """An item that its figures tell from all others: number, length, language and words."""

    item: int
    n_characters: int
    language: str
    words: frozenset[int]

    def is_told_by(self, text: str) -> bool:
        """Tell whether a text with the same figures may be a translation or a paraphrase of the item."""
        if not 1 / SIZE_RATIO <= len(text) / self.n_characters <= SIZE_RATIO:
            return False
        language = identify([text])[0].code
        if UNDETERMINED not in (language, self.language) and language != self.language:
            return True
        return len(self.words & _words(text)) >= WORDS_IN_COMMON * len(self.words)


FigureTable = Mapping[tuple[str, ...], FiguredItem]


def figures(text: str) -> tuple[str, ...] | None:
    """Return the numbers of a text in ascending order, None where they are too few or too many to know it by.

    Signs between digits are left out, since 1.5 is written 1,5 elsewhere and 1,000 is 1.000.
    """
    if not FEWEST_NUMBERS <= len(NUMBER.findall(text)) <= MOST_NUMBERS:
        return None
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found = sorted("".join(str(unicodedata.digit(d)) for d in n if d.isdigit()) for n in NUMBER.findall(plain))
    is_telling = len(set(found)) >= FEWEST_NUMBERS and sum(map(len, found)) >= FEWEST_DIGITS
    return tuple(found) if is_telling else None


def figure_table(texts: Sequence[str], numbers: Sequence[int]) -> FigureTable:
    """Return the item that has each set of figures, where only one has it; ``numbers`` are those of the texts."""
    found: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        if (key := figures(text)) is not None:
            found[key].append(row)
    alone = {key: rows[0] for key, rows in found.items() if len(rows) == 1}
    languages = identify([texts[row] for row in alone.values()])
    return {
        key: FiguredItem(numbers[row], len(texts[row]), language.code, _words(texts[row]))
        for (key, row), language in zip(alone.items(), languages, strict=True)
    }


def _words(text: str) -> frozenset[int]:
    """Return the words of a text as hashes that are the same in every process."""
    return frozenset(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in WORD.findall(text.casefold()))
