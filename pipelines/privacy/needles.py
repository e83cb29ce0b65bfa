"""Many short values searched for at once in bytes: plain, in any letter case, UTF-16, hex and base64."""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

SHORTEST = 8
"""Bytes that a value needs at least: shorter ones turn up by chance."""

_GRAM = 4
_STEP = SHORTEST - _GRAM + 1
_TABLE_BITS = 22
_MULTIPLIER = np.uint32(2654435761)
_WIDE_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class _Pattern:
    value: int
    lowered: bytes
    exact: bytes | None


class Needles:
    """Finds any of some thousand values in bytes at a rate that hardly depends on their number.

    Every fifth four-byte gram of the text is looked up in a bitmap of the grams of all patterns (a pattern of eight
    bytes or more always covers one such place whole), and only the hits are compared with the patterns themselves.
    """

    def __init__(self, values: Sequence[str]) -> None:
        """Take the values; ``ValueError`` (naming the index, never the value) for one below eight bytes."""
        self.longest = SHORTEST
        heads: dict[int, dict[tuple[int, bytes], _Pattern]] = {}
        for index, value in enumerate(values):
            for pattern in _patterns(index, value):
                head = int.from_bytes(pattern.lowered[:SHORTEST], "little")
                heads.setdefault(head, {})[index, pattern.exact or pattern.lowered] = pattern
                self.longest = max(self.longest, len(pattern.lowered))
        self._by_head = {head: tuple(found.values()) for head, found in heads.items()}
        self._heads = np.array(sorted(self._by_head), dtype=np.uint64)
        self._bitmap = np.zeros(1 << _TABLE_BITS, dtype=bool)
        for shift in range(_STEP):
            grams = ((self._heads >> np.uint64(8 * shift)) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
            self._bitmap[_slots(grams)] = True
        self._head_bitmap = np.zeros(1 << _TABLE_BITS, dtype=bool)
        self._head_bitmap[_head_slots(self._heads)] = True

    def find(self, text: bytes) -> Iterator[int]:
        """Yield the index of each value found in ``text``, once per occurrence."""
        if len(text) < SHORTEST or not len(self._heads):
            return
        lowered = text.lower()
        for place, head in self._candidates(lowered):
            for pattern in self._by_head[head]:
                if not lowered.startswith(pattern.lowered, place):
                    continue
                if pattern.exact is None or text.startswith(pattern.exact, place):
                    yield pattern.value

    def _candidates(self, lowered: bytes) -> Iterator[tuple[int, int]]:
        count = (len(lowered) - _GRAM) // _STEP + 1
        grams: np.ndarray = np.ndarray((count,), dtype="<u4", buffer=lowered, strides=(_STEP,))
        places = np.flatnonzero(self._bitmap[_slots(grams)]) * _STEP
        if not len(places):
            return
        last = len(lowered) - SHORTEST
        eights: np.ndarray = np.ndarray((last + 1,), dtype="<u8", buffer=lowered, strides=(1,))
        for shift in range(_STEP):
            starts = places - shift
            starts = starts[(starts >= 0) & (starts <= last)]
            heads = eights[starts]
            likely = self._head_bitmap[_head_slots(heads)]
            starts, heads = starts[likely], heads[likely]
            near = np.minimum(np.searchsorted(self._heads, heads), len(self._heads) - 1)
            hits = self._heads[near] == heads
            yield from zip(starts[hits].tolist(), heads[hits].tolist(), strict=True)


def _slots(grams: np.ndarray) -> np.ndarray:
    return (grams * _MULTIPLIER) >> np.uint32(32 - _TABLE_BITS)


def _head_slots(heads: np.ndarray) -> np.ndarray:
    return (heads * _WIDE_MULTIPLIER) >> np.uint64(64 - _TABLE_BITS)


def _patterns(index: int, value: str) -> Iterator[_Pattern]:
    """Yield the byte forms of a value; those of base64 are told by their exact bytes, all others in any letter case."""
    if len(value.encode()) < SHORTEST:
        raise ValueError(f"value {index} has fewer than {SHORTEST} bytes, too few to be told from chance")
    spellings = {form(value) for form in (str, str.lower, str.upper, str.casefold)}
    spellings |= {unicodedata.normalize(form, one) for one in list(spellings) for form in ("NFC", "NFD")}
    for spelling in sorted(spellings):
        plain = spelling.encode()
        yield _Pattern(index, plain.lower(), None)
        yield _Pattern(index, plain.hex().encode(), None)
        for codec in ("utf-16-le", "utf-16-be", "utf-32-le"):
            yield _Pattern(index, spelling.encode(codec).lower(), None)
        for shifted in _base64_forms(plain):
            if len(shifted) >= SHORTEST:
                yield _Pattern(index, shifted.lower(), shifted)


def _base64_forms(plain: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of ``plain`` at each of its three alignments, less what its neighbours share."""
    for lead in range(3):
        bits = 8 * (lead + len(plain))
        encoded = base64.b64encode(bytes(lead) + plain)
        inner = encoded[-(-8 * lead // 6) : bits // 6]
        yield inner
        if b"+" in inner or b"/" in inner:
            yield inner.replace(b"+", b"-").replace(b"/", b"_")
