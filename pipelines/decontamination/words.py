"""Words of a batch of texts as hashes, and which of them an item is about: numbers, names, single letters.

Case, white space, punctuation and compatibility forms do not count; signs of mathematics do.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.mixing import U32, U64, mixed
from pipelines.duplicates.normalise import CodePoints, code_points
from pipelines.duplicates.ragged import Ints, Ragged, starts_of
from pipelines.quality.scripts import RANGES, UNSPACED

Bits = NDArray[np.bool_]

WORD, APART, SIGN, STOP, DIGIT, UPPER = (np.uint8(1 << bit) for bit in range(6))
"""What a character is, as bits: part of a word; a word by itself (scripts without spaces, signs); the end of a
sentence; a digit; in upper case."""

MARKUP = frozenset("*-#_`~|>")
"""Signs that formatting adds and takes away."""

SMALL_WORDS = frozenset("aeiouy")
"""Words of one letter in English and the Romance languages; any other single letter is a variable or a label."""

MAX_NAMED_SHARE = 0.5
"""Above this share of words in upper case a text is a headline or shouted: upper case names nothing (own choice)."""

_CASED_END = 0x1E944
_STOPS = frozenset(".!?:;\n\x00。！？：")


@dataclass(frozen=True)
class Words:
    """Words of texts in order: ``hashes`` one row a text; ``apart`` tells which are single characters."""

    hashes: Ragged
    apart: Bits

    @property
    def owners(self) -> Ints:
        """Number of the text that each word is from."""
        return np.repeat(np.arange(len(self.hashes)), self.hashes.sizes)


@dataclass(frozen=True)
class _Cut:
    """Where the words of a batch stand: characters, what they are, and the begin and end of each word."""

    batch: CodePoints
    kinds: NDArray[np.uint8]
    lower: U32
    starts: Ints
    ends: Ints

    @cached_property
    def row_starts(self) -> Ints:
        """Where the words of each text begin."""
        owners = np.searchsorted(self.batch.starts, self.starts, side="right") - 1
        return starts_of(np.bincount(owners, minlength=len(self.batch)))


def words(texts: Sequence[str]) -> Words:
    """Cut texts into words: runs of letters, digits and marks; single characters where no spaces are written; signs."""
    cut = _cut(texts)
    rows = Ragged(_hashes(cut.lower, cut.starts, cut.ends), cut.row_starts)
    return Words(rows, (cut.kinds[cut.starts] & APART) > 0)


def particulars(texts: Sequence[str]) -> Ragged:
    """Return the distinct particular words of each text, ascending: those in which texts of one template differ.

    Words with a digit, words in upper case inside a sentence, single letters that are no words.
    """
    cut = _cut(texts)
    chosen = _is_particular(cut)
    hashes = _hashes(cut.lower, cut.starts, cut.ends)
    bounds = zip(cut.row_starts[:-1], cut.row_starts[1:], strict=True)
    rows = [np.unique(hashes[start:end][chosen[start:end]]) for start, end in bounds]
    return Ragged(np.concatenate([np.zeros(0, np.uint64), *rows]), starts_of(np.array([len(row) for row in rows])))


def whole_keys(rows: Ragged) -> U64:
    """Return a hash of each row's words in their order; rows without words get 0."""
    sizes = rows.sizes
    place = (np.arange(len(rows.values)) - np.repeat(rows.starts[:-1], sizes)).astype(np.uint64)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed(rows.values + mixed(place)), dtype=np.uint64)))
    keys = mixed((sums[rows.starts[1:]] - sums[rows.starts[:-1]]) ^ sizes.astype(np.uint64))
    return np.where(sizes > 0, keys, np.uint64(0))


def _hashes(lower: U32, starts: Ints, ends: Ints) -> U64:
    if not len(starts):
        return np.zeros(0, np.uint64)
    sizes = ends - starts
    first = starts_of(sizes)
    place = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    letters = lower[place + np.repeat(starts, sizes)].astype(np.uint64)
    values = mixed(letters | ((place.astype(np.uint64) + np.uint64(1)) << np.uint64(32)))
    return mixed(np.add.reduceat(values, first[:-1]))


def _cut(texts: Sequence[str]) -> _Cut:
    batch = code_points(texts)
    kinds, lower = _kinds()[batch.points], _lower(batch.points)
    in_word, alone = (kinds & WORD) > 0, (kinds & (APART | SIGN)) > 0
    starts = np.flatnonzero((in_word & ~_before(in_word)) | alone)
    ends = np.flatnonzero((in_word & ~_after(in_word)) | alone) + 1
    return _Cut(batch, kinds, lower, starts, ends)


def _is_particular(cut: _Cut) -> Bits:
    starts, ends, kinds = cut.starts, cut.ends, cut.kinds
    if not len(starts):
        return np.zeros(0, bool)
    sizes = np.diff(cut.row_starts)
    digits = _sums((kinds & DIGIT) > 0)
    with_digit = digits[ends] > digits[starts]
    stops = _sums((kinds & STOP) > 0)
    opens = stops[starts] > stops[np.concatenate(([0], ends[:-1]))]
    opens[cut.row_starts[:-1][sizes > 0]] = True
    small = np.isin(cut.lower[starts], np.array(sorted(map(ord, SMALL_WORDS)), np.uint32))
    single = (ends - starts == 1) & ((kinds[starts] & WORD) > 0)
    named = ((kinds[starts] & UPPER) > 0) & ~opens & ~(single & small)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shouted = np.bincount(owners[named], minlength=len(sizes)) > MAX_NAMED_SHARE * sizes
    return with_digit | (named & ~shouted[owners]) | (single & ~small)


def _sums(flags: Bits) -> Ints:
    return starts_of(flags.astype(np.int64))


def _before(flags: Bits) -> Bits:
    return np.concatenate(([False], flags[:-1]))


def _after(flags: Bits) -> Bits:
    return np.concatenate((flags[1:], [False]))


def _lower(points: U32) -> U32:
    table = _lower_table()
    return np.where(points < len(table), table[np.minimum(points, len(table) - 1)], points)


@cache
def _lower_table() -> U32:
    """Folded case of each code point that has one of length one; no cased letter lies beyond (Unicode 16)."""
    pairs = ((code, chr(code).casefold()) for code in range(_CASED_END))
    return np.array([ord(low) if len(low) == 1 else code for code, low in pairs], np.uint32)


@cache
def _kinds() -> NDArray[np.uint8]:
    """Bits of each code point."""
    table = np.full(0x110000, WORD)
    table[:0x20000] = [_kind(chr(code)) for code in range(0x20000)]
    for script in UNSPACED:
        for first, last in RANGES[script]:
            table[first : last + 1] = APART
    table[0xE0000:] = 0
    return table


def _kind(one: str) -> np.uint8:
    category = unicodedata.category(one)
    if one in _STOPS:
        return STOP
    if category[0] in "LMN":
        return WORD | (DIGIT if category[0] == "N" else np.uint8(0)) | (UPPER if one != one.lower() else np.uint8(0))
    is_sign = category in ("Sm", "Sc") or one in "%&/^\\"
    return SIGN if is_sign and one not in MARKUP else np.uint8(0)
