"""Which writing systems a text uses: one table look-up a character (ranges: Unicode 16, Blocks.txt and Scripts.txt)."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

LATIN, CYRILLIC, ARABIC, DEVANAGARI, BENGALI = "Latin", "Cyrillic", "Arabic", "Devanagari", "Bengali"
HAN, KANA, HANGUL = "Han", "Kana", "Hangul"

RANGES: dict[str, tuple[tuple[int, int], ...]] = {
    LATIN: ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF), (0xFF21, 0xFF5A)),
    CYRILLIC: ((0x400, 0x52F), (0x1C80, 0x1C8F), (0xA640, 0xA69F)),
    ARABIC: (
        (0x620, 0x65F),
        (0x66E, 0x6EF),
        (0x6FA, 0x6FF),
        (0x750, 0x77F),
        (0x8A0, 0x8FF),
        (0xFB50, 0xFDFF),
        (0xFE70, 0xFEFC),
    ),
    DEVANAGARI: ((0x900, 0x963), (0x970, 0x97F)),
    BENGALI: ((0x980, 0x9E3), (0x9F0, 0x9FF)),
    HAN: ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)),
    KANA: ((0x3041, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)),
    HANGUL: ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7A3)),
    "Greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
    "Armenian": ((0x530, 0x58F),),
    "Hebrew": ((0x590, 0x5FF),),
    "Gurmukhi": ((0xA00, 0xA7F),),
    "Gujarati": ((0xA80, 0xAFF),),
    "Oriya": ((0xB00, 0xB7F),),
    "Tamil": ((0xB80, 0xBFF),),
    "Telugu": ((0xC00, 0xC7F),),
    "Kannada": ((0xC80, 0xCFF),),
    "Malayalam": ((0xD00, 0xD7F),),
    "Sinhala": ((0xD80, 0xDFF),),
    "Thai": ((0xE01, 0xE4E),),
    "Lao": ((0xE80, 0xEDF),),
    "Myanmar": ((0x1000, 0x109F),),
    "Georgian": ((0x10A0, 0x10FF),),
    "Ethiopic": ((0x1200, 0x139F),),
    "Khmer": ((0x1780, 0x17DF),),
}  # fmt: skip
NAMES = tuple(RANGES)

UNSPACED = (HAN, KANA, "Thai", "Lao", "Myanmar", "Khmer")
"""Scripts written without spaces between words (UAX #29, section 4)."""

LETTERS_A_SYLLABLE = 3
"""A Han, kana or Hangul character says about as much as this many letters of an alphabet (own choice)."""


@cache
def _table() -> NDArray[np.uint8]:
    """Script of each code point: 0 for none, else 1 + its place in ``NAMES``."""
    table = np.zeros(0x110000, dtype=np.uint8)
    for number, ranges in enumerate(RANGES.values(), start=1):
        for first, last in ranges:
            table[first : last + 1] = number
    return table


@cache
def _weights() -> NDArray[np.int64]:
    return np.array([0] + [LETTERS_A_SYLLABLE if name in (HAN, KANA, HANGUL) else 1 for name in NAMES])


def letters_by_script(text: str) -> dict[str, int]:
    """Count the letters of each script, syllable and word characters as ``LETTERS_A_SYLLABLE``; no zeros inside."""
    if text.isascii():
        n = len(text.encode("ascii").translate(None, _ASCII_NON_LETTERS))
        return {LATIN: n} if n else {}
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    counts = np.bincount(_table()[points], minlength=len(NAMES) + 1) * _weights()
    return {NAMES[i - 1]: int(counts[i]) for i in np.flatnonzero(counts)}


_ASCII_NON_LETTERS = bytes(b for b in range(128) if not chr(b).isalpha())
