"""Many short values searched for at once in bytes: in any letter case, in hex and at any place of base64."""

from __future__ import annotations

import base64
import unicodedata
from collections import Counter
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


_Places = dict[tuple[int, int], dict[bytes, list[_Pattern]]]
"""Patterns of one anchor by the anchor's offset and the pattern's length, then by their lowered bytes."""


class Needles:
    """Finds any of some thousand values in bytes at a rate that hardly depends on their number.

    Every pattern has an anchor: eight bytes of it that few other patterns share. Every fifth four-byte gram of the text
    is looked up in a bitmap of the grams of all anchors (an anchor always covers one such place whole); only where
    the anchor itself follows is the text compared with patterns.
    """

    def __init__(self, values: Sequence[str]) -> None:
        """Take the values; ``ValueError`` (naming the index, never the value) for one below eight bytes."""
        patterns = [pattern for index, value in enumerate(values) for pattern in _patterns(index, value)]
        self.longest = max((len(pattern.lowered) for pattern in patterns), default=SHORTEST)
        shared = Counter(anchor for pattern in patterns for _, anchor in _anchors(pattern.lowered))
        self._by_anchor: dict[int, _Places] = {}
        for pattern in patterns:
            offset, anchor = min(_anchors(pattern.lowered), key=lambda one: shared[one[1]])
            places = self._by_anchor.setdefault(int.from_bytes(anchor, "little"), {})
            places.setdefault((offset, len(pattern.lowered)), {}).setdefault(pattern.lowered, []).append(pattern)
        self._heads = np.array(sorted(self._by_anchor), dtype=np.uint64)
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
        for place, anchor in self._candidates(lowered):
            for (offset, length), patterns in self._by_anchor[anchor].items():
                start = place - offset
                if start < 0:
                    continue
                for pattern in patterns.get(lowered[start : start + length], ()):
                    if pattern.exact is None or text.startswith(pattern.exact, start):
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


def _anchors(pattern: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, eight bytes) of the places that an anchor may be at: the end, the middle, the front."""
    last = len(pattern) - SHORTEST
    for offset in (last, last // 2, 0):
        yield offset, pattern[offset : offset + SHORTEST]


def _patterns(index: int, value: str) -> Iterator[_Pattern]:
    """Yield the byte forms of a value; those of base64 are told by their exact bytes, all others in any letter case."""
    if len(value.encode()) < SHORTEST:
        raise ValueError(f"value {index} has fewer than {SHORTEST} bytes, too few to be told from chance")
    for lowered in {spelling.encode().lower() for spelling in _spellings(value)}:
        yield _Pattern(index, lowered, None)
    for plain in {value.encode(), value.lower().encode()}:
        yield _Pattern(index, plain.hex().encode(), None)
    for shifted in set(_base64_forms(value.encode())):
        if len(shifted) >= SHORTEST:
            yield _Pattern(index, shifted.lower(), shifted)


def _spellings(value: str) -> set[str]:
    if value.isascii():
        return {value}
    cases = {form(value) for form in (str, str.lower, str.upper, str.casefold)}
    return cases | {unicodedata.normalize(form, one) for one in cases for form in ("NFC", "NFD")}


def _base64_forms(plain: bytes) -> Iterator[bytes]:
    """Yield what base64 makes of ``plain`` at each of its three alignments, less what its neighbours share."""
    for lead in range(3):
        bits = 8 * (lead + len(plain))
        encoded = base64.b64encode(bytes(lead) + plain)
        inner = encoded[-(-8 * lead // 6) : bits // 6]
        yield inner
        if b"+" in inner or b"/" in inner:
            yield inner.replace(b"+", b"-").replace(b"/", b"_")
