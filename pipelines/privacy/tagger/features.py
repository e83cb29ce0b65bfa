"""Features of a word by itself, as rows of one hashed table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger.lexicon import COMMON, FAMILY, FOR_RULES, GIVEN, PLACE
from pipelines.privacy.tagger.tokens import Words, Words64, has_letters_beyond_ascii

TABLE_BITS = 17
FEATURES = 11
"""Lexeme, lexeme with shape, two prefixes, three suffixes, shape with length, signs, signs with shape, script."""
LEXEME_FEATURES = (0, 1)
NAME_SIGNS = GIVEN | FAMILY | COMMON | PLACE

_ROWS = np.uint64((1 << TABLE_BITS) - 1)
_SPREAD = np.uint64(0xFF51AFD7ED558CCD)
_DOWN = np.uint64(64 - TABLE_BITS)


def feature_rows(words: Words, signs: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
    """Return for each word its rows in the table, shape (words, FEATURES). Row 0 is never among them."""
    shape = words.shape.astype(np.uint64)
    length = np.minimum(words.length, 12).astype(np.uint64)
    known = (signs & ~np.uint16(FOR_RULES)).astype(np.uint64)
    columns = (
        words.lexeme,
        words.key,
        _start(words.first, 3),
        _start(words.first, 5),
        _end(words.tail, 2),
        _end(words.tail, 3),
        _end(words.tail, 4),
        shape * np.uint64(16) + length,
        known,
        known * np.uint64(8) + shape,
        has_letters_beyond_ascii(words).astype(np.uint64) * np.uint64(8) + shape,
    )
    rows = np.empty((words.length.size, FEATURES), np.int32)
    for place, column in enumerate(columns):
        rows[:, place] = _row(column, place)
    return rows


def _row(values: Words64, place: int) -> npt.NDArray[np.int32]:
    mixed = (values + np.uint64((place + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)) * _SPREAD
    mixed ^= mixed >> np.uint64(31)
    mixed *= _SPREAD
    return ((mixed >> _DOWN) % _ROWS).astype(np.int32) + 1


def _start(first: Words64, size: int) -> Words64:
    return first & np.uint64((1 << 8 * size) - 1)


def _end(tail: Words64, size: int) -> Words64:
    return tail >> np.uint64(64 - 8 * size)
