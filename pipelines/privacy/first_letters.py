"""Places of a text where one of many values may begin, in time that does not depend on their number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_HASH_BITS = 14
_DOWN = np.uint32(32 - _HASH_BITS)
_MULTIPLIER = np.uint32(2654435761)

Letters = npt.NDArray[np.uint32]


class FirstLetters:
    """The first ``width`` characters of some values, as marks in a table of hashes."""

    def __init__(self, values: Sequence[str], width: int) -> None:
        """Take the values; ``ValueError`` when one is shorter than ``width``."""
        starts = _letters("".join([value[:width] for value in values]))
        if starts.size != width * len(values):
            raise ValueError(f"a value has fewer than {width} characters")
        self._width = width
        self._marks = np.zeros(1 << _HASH_BITS, bool)
        self._marks[_hashes(starts.reshape(-1, width).T)] = True

    def places(self, text: str) -> list[int]:
        """Return in order the places of ``text`` where a value may begin: all where one does, few more."""
        letters = _letters(text)
        last = letters.size - self._width + 1
        if last < 1:
            return []
        hashes = _hashes([letters[step : step + last] for step in range(self._width)])
        found: list[int] = np.flatnonzero(self._marks[hashes]).tolist()
        return found


def _letters(text: str) -> Letters:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _hashes(columns: Sequence[Letters] | Letters) -> Letters:
    hashes = columns[0] * _MULTIPLIER
    for column in columns[1:]:
        hashes += column
        hashes *= _MULTIPLIER
    return hashes >> _DOWN
