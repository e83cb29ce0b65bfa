"""Words of a batch as hashes, and the tokens that make templated texts differ: numbers, names and signs.

All texts of a batch are cut at once: a look-up a character, then arithmetic on whole arrays.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.fixed_words import NEGATIONS, NEVER_NAMES
from pipelines.duplicates.mixing import U32, U64, high_half, mixed
from pipelines.duplicates.normalise import CodePoints
from pipelines.duplicates.ragged import Ints, Ragged, starts_of
from pipelines.quality.scripts import RANGES, UNSPACED

Bits = NDArray[np.bool_]

WORD, APART, SPACE, BREAK, SIGN, DIGIT, UPPER, MATHS, STOP = (np.uint16(1 << bit) for bit in range(9))
"""What a character is, as bits: part of a word; a word by itself (scripts without spaces); white space; a cut between
values (quotes, brackets, commas); a sign that changes a word it touches (C++, C#, 5%); and so on."""

MAX_NAMED_SHARE = 0.5
"""Above this share of words in upper case a text is a headline or shouted: upper case names nothing (own choice)."""

_BASE = 0x9E3779B97F4A7C15 | 1
_CASED_END = 0x1E944
_CLOSED = '"“”„«»()[]{}<>,;?!`|'
_SIGNS, _OPERATORS, _STOPS = "#%@&^", "-*/%^–", ".!?:…。؟।"


@dataclass(frozen=True)
class Tokens:
    """Words of texts in order, one row a text: ``words`` as hashes of 64 bits, ``spelled`` as ``spellings`` gives them.

    ``n_words`` is the length of each text in words; in scripts without spaces two characters count as one.
    ``marks`` are the numbers and signs of each text, ``names`` its words in upper case inside a sentence, both as the
    32-bit hash and in order; ``negations`` how many words like "not" it has.
    """

    words: Ragged
    spelled: Ragged
    marks: Ragged
    names: Ragged
    negations: Ints
    n_words: Ints


def tokens(batch: CodePoints) -> Tokens:
    """Cut texts into words and marks.

    A word is a run of letters, digits and marks, in lower case. In scripts without spaces each character makes a word
    with the one after it. A number or sign is a run between white space, quotes, brackets and commas that holds a digit
    or a sign, without the punctuation around it: ``1.5``, ``A-17``, ``10:30``, ``C++``.
    """
    kinds, lower = _kinds()[batch.points], _lower(batch.points)
    starts, ends = _word_bounds(kinds)
    prefix, powers = _prefix_hash(lower)
    hashes = _hash(prefix, powers, starts, ends)
    owners = _owners(batch, starts)
    counts = np.bincount(owners, minlength=len(batch))
    words = Ragged(hashes, starts_of(counts))
    mark_starts, mark_ends = _mark_bounds(batch.points, kinds)
    marks = high_half(_hash(prefix, powers, mark_starts, mark_ends))
    is_name = _names(batch.points, kinds, starts, ends, hashes)
    named = np.bincount(owners[is_name], minlength=len(batch))
    is_name &= (named <= MAX_NAMED_SHARE * counts)[owners]
    return Tokens(
        words,
        Ragged(spellings(lower, starts, ends), words.starts),
        Ragged(marks, starts_of(np.bincount(_owners(batch, mark_starts), minlength=len(batch)))),
        Ragged(word_ids(hashes[is_name]), starts_of(np.bincount(owners[is_name], minlength=len(batch)))),
        np.bincount(owners[np.isin(hashes, _hashes_of(NEGATIONS))], minlength=len(batch)),
        counts - np.bincount(owners[(kinds[starts] & APART) > 0], minlength=len(batch)) // 2,
    )


def word_ids(hashes: U64) -> U32:
    """Return words as 32 bits, enough to compare two texts."""
    return high_half(hashes)


def spellings(lower: U32, starts: Ints, ends: Ints) -> U64:
    """Return how each word is spelled, in 64 bits, to tell a slip of the pen from another word.

    Each pair of neighbouring letters, ends included, sets one of the lower 58 bits; the upper 6 hash the first letter.
    """
    if not len(starts):
        return np.zeros(0, np.uint64)
    places, first = _places(starts, ends)
    letters = lower.astype(np.uint64)
    is_first = np.zeros(len(places), bool)
    is_first[first[:-1]] = True
    before = np.where(is_first, np.uint64(0), letters[places - 1])
    bits = np.uint64(1) << (mixed((before << np.uint64(32)) | letters[places]) % np.uint64(58))
    last = np.uint64(1) << (mixed(letters[ends - 1] << np.uint64(32)) % np.uint64(58))
    masks = np.bitwise_or.reduceat(bits, first[:-1]) | last
    return masks | ((mixed(letters[starts]) & np.uint64(63)) << np.uint64(58))


def _places(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return all positions inside of spans, and where each span begins among them."""
    first = starts_of(ends - starts)
    return np.arange(first[-1]) + np.repeat(starts - first[:-1], ends - starts), first


def _word_bounds(kinds: NDArray[np.uint16]) -> tuple[Ints, Ints]:
    in_word, apart = (kinds & WORD) > 0, (kinds & APART) > 0
    starts = np.flatnonzero(in_word & ~_after(in_word))
    ends = np.flatnonzero(in_word & ~_before(in_word)) + 1
    # A lone character says little: it is joined to its neighbour, and a single one stays what it is.
    pairs = np.flatnonzero(apart & (_before(apart) | ~_after(apart)))
    both = np.concatenate((starts, pairs))
    order = np.argsort(both, kind="stable")
    return both[order], np.concatenate((ends, pairs + 1 + _before(apart)[pairs]))[order]


def _mark_bounds(points: U32, kinds: NDArray[np.uint16]) -> tuple[Ints, Ints]:
    """Return where numbers and signs stand: runs with a digit or sign, trimmed; operators between values."""
    inside = (kinds & (SPACE | BREAK)) == 0
    starts = np.flatnonzero(inside & ~_after(inside))
    ends = np.flatnonzero(inside & ~_before(inside)) + 1
    is_word, is_digit = (kinds & (WORD | APART)) > 0, (kinds & DIGIT) > 0
    is_sign = (kinds & SIGN) > 0
    opens = is_word | ((is_sign | (points == ord("-"))) & _before(is_digit) & (points != ord("#")))
    closes = is_word | is_sign
    heads, tails = _next_place(opens, starts), _last_place(closes, ends)
    has_word = heads < np.minimum(ends, tails)
    digits, signs = _count(is_digit, starts, ends) > 0, _count(is_sign, heads, tails) > 0
    value = has_word & (digits | signs)
    maths = (kinds & MATHS) > 0
    lone = ~has_word & (_count(~maths, starts, ends) == 0) & (ends - starts <= 3) & ~_line_begins(points, kinds, starts)
    # A dash or a star between words is punctuation, between numbers arithmetic.
    plain = np.isin(points, np.array([ord(one) for one in "-*/–−"], np.uint32))
    text = np.searchsorted(np.flatnonzero(points == 0), starts)
    joined = text[1:] == text[:-1]
    beside_digit = np.concatenate((digits[1:] & joined, [False])) | np.concatenate(([False], digits[:-1] & joined))
    operator = lone & (beside_digit | (_count(plain, starts, ends) == 0))
    return np.where(operator, starts, heads)[value | operator], np.where(operator, ends, tails)[value | operator]


def _names(points: U32, kinds: NDArray[np.uint16], starts: Ints, ends: Ints, hashes: U64) -> Bits:
    """Tell which words are in upper case inside of a sentence."""
    upper = (kinds[starts] & UPPER) > 0
    begins = _line_begins(points, kinds, starts) | _after_stop(kinds, starts)
    return upper & ~begins & ~np.isin(hashes, _hashes_of(NEVER_NAMES))


def _line_begins(points: U32, kinds: NDArray[np.uint16], places: Ints) -> Bits:
    """Tell whether only white space and punctuation stand between a place and the begin of its line."""
    solid = (kinds & (WORD | APART | SIGN)) > 0
    line = (points == ord("\n")) | (points == 0)
    return _last_place(line, places) >= _last_place(solid, places)


def _after_stop(kinds: NDArray[np.uint16], places: Ints) -> Bits:
    """Tell whether a sentence ends between a place and the word before it."""
    # Both are 0 where the first text of the batch begins.
    return _last_place((kinds & STOP) > 0, places) >= _last_place((kinds & (WORD | APART)) > 0, places)


def _next_place(flags: Bits, places: Ints) -> Ints:
    """Return the first flagged position at or after each place, the length of the array where there is none."""
    found = np.concatenate((np.flatnonzero(flags), [len(flags)]))
    return found[np.searchsorted(found, places)]


def _last_place(flags: Bits, places: Ints) -> Ints:
    """Return one more than the last flagged position before each place, 0 where there is none."""
    found = np.concatenate(([-1], np.flatnonzero(flags)))
    return found[np.searchsorted(found, places) - 1] + 1


def _count(flags: Bits, starts: Ints, ends: Ints) -> Ints:
    """Return how many positions of each span are flagged; none in a span that ends before it starts."""
    before = starts_of(flags.astype(np.int64))
    return before[np.maximum(ends, starts)] - before[starts]


def _after(flags: Bits) -> Bits:
    return np.concatenate(([False], flags[:-1]))


def _before(flags: Bits) -> Bits:
    return np.concatenate((flags[1:], [False]))


def _owners(batch: CodePoints, places: Ints) -> Ints:
    return np.searchsorted(batch.starts, places, side="right") - 1


def _prefix_hash(lower: U32) -> tuple[U64, U64]:
    """Return sums of a polynomial hash modulo 2^64, so that any span's hash is a difference, and the inverse powers."""
    powers = np.full(len(lower) + 1, np.uint64(_BASE))
    powers[0] = 1
    values = mixed(lower.astype(np.uint64) + np.uint64(1))
    inverse = np.full(len(lower) + 1, np.uint64(pow(_BASE, -1, 1 << 64)))
    inverse[0] = 1
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values * np.cumprod(powers)[:-1], dtype=np.uint64)))
    return sums, np.cumprod(inverse)


def _hash(prefix: U64, inverse_powers: U64, starts: Ints, ends: Ints) -> U64:
    return mixed((prefix[ends] - prefix[starts]) * inverse_powers[starts])


@cache
def _hashes_of(words: tuple[str, ...]) -> U64:
    found = []
    for word in words:
        letters = np.array([ord(one) for one in word], np.uint32)
        found.append(_hash(*_prefix_hash(letters), np.zeros(1, np.int64), np.array([len(word)])))
    return np.concatenate(found)


def _lower(points: U32) -> U32:
    table = _lower_table()
    return np.where(points < len(table), table[np.minimum(points, len(table) - 1)], points)


@cache
def _lower_table() -> U32:
    """Lower case of each code point that has one of length one; no cased letter lies beyond (Unicode 16)."""
    pairs = ((code, chr(code).lower()) for code in range(_CASED_END))
    return np.array([ord(low) if len(low) == 1 else code for code, low in pairs], np.uint32)


@cache
def _kinds() -> NDArray[np.uint16]:
    """Bits of each code point."""
    table = np.full(0x110000, WORD)
    for code in range(0x20000):
        table[code] = _kind(chr(code))
    for script in UNSPACED:
        for first, last in RANGES[script]:
            table[first : last + 1] = APART
    table[0xE0000:] = BREAK
    return table


def _kind(one: str) -> np.uint16:
    category = unicodedata.category(one)
    if one.isspace() or category in ("Cc", "Zs"):
        return SPACE | STOP if one in "\n\x00" else SPACE
    if category[0] in "LMN" or one == "_":
        bits = WORD | (DIGIT if category[0] == "N" else np.uint16(0))
        return bits | (UPPER if one != one.lower() else np.uint16(0))
    return _punctuation(one, category)


def _punctuation(one: str, category: str) -> np.uint16:
    bits = np.uint16(0)
    if one in _CLOSED:
        bits |= BREAK
    elif category in ("Sm", "Sc") or one in "#%@&":
        bits |= SIGN
    if category == "Sm" or one in "-*/%–<>":
        bits |= MATHS
    if one in _STOPS:
        bits |= STOP
    return BREAK if not bits and category[0] in "CSZ" else bits
