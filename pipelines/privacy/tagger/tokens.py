"""A batch of texts as one byte buffer, and its words: borders by byte class, keys by 8-byte loads.

No step looks at one text or one word: every line works on the whole buffer. Words of up to 16 bytes have keys of their
own; longer ones share a key when length and both ends are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words64 = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

SEPARATOR = b"\xfd\xfe\xff"
"""Stands between texts: bytes that no UTF-8 text holds, each a token of its own."""

SPACE, LETTER, DIGIT, LINE = range(4)
"""Codes of byte classes; a mark has its own (last) byte as code, so that ``."`` are two tokens and ``---`` is one."""

FIRST_SEPARATOR = SEPARATOR[0]
PLAIN, TITLE, CAPITALS, INITIAL, INNER, LATE = range(6)
"""Shapes: no capitals, the first only, all, one capital letter, first and others (McRae), others only (iPhone)."""

_MARGIN = bytes(8)
_ASCII_MARKS = frozenset(c for c in range(33, 127) if not chr(c).isalnum() and chr(c) != "_")


def _code(byte: int) -> int:
    if byte >= FIRST_SEPARATOR or byte in _ASCII_MARKS:
        return byte
    if byte == 0x0A:
        return LINE
    if byte <= 0x20 or byte == 0x7F:
        return SPACE
    return DIGIT if chr(byte).isdecimal() and byte < 0x80 else LETTER


_CODES = bytes(_code(byte) for byte in range(256))
_LOWER = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in range(256))
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)
_K1, _K2, _K3, _K4 = (
    np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
)
_SHIFT = np.uint64(29)
_MARK_BYTES = np.uint64(0x8080808080808080)
_YEAR = np.uint64(int.from_bytes(b"year", "little"))
_DIGITS = np.uint64(int.from_bytes(b"0", "little"))


class Words(NamedTuple):
    """What is known of words without their context; arrays of one length.

    ``first`` and ``tail`` are up to 8 bytes of the lower-case word from its start and to its end (the last one on
    top); ``lexeme`` is its hash in lower case, ``key`` the hash with its shape; a number is known by its length alone.
    """

    first: Words64
    tail: Words64
    length: Places
    shape: Bytes
    lexeme: Words64
    key: Words64

    def at(self, places: Places) -> Words:
        """Return the words at some places."""
        return Words._make(column[places] for column in self)


class Tokens(NamedTuple):
    """The tokens of a buffer in order: byte offsets, class code of each, its word."""

    start: Places
    end: Places
    code: Bytes
    words: Words


def pack(texts: Sequence[bytes]) -> tuple[bytes, Places]:
    """Return the buffer of a batch, and where each of its texts begins in it."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    return wrap(SEPARATOR.join(texts)), begins(sizes)


def wrap(joined: bytes) -> bytes:
    """Return texts that are joined by ``SEPARATOR`` as a buffer."""
    return b"".join((_MARGIN, SEPARATOR, joined, SEPARATOR, _MARGIN))


def begins(sizes: Places) -> Places:
    """Return where texts of these sizes begin in a buffer."""
    ends = np.cumsum(sizes + len(SEPARATOR))
    return ends - sizes + len(_MARGIN)


def tokenize(buffer: bytes) -> Tokens:
    """Return the tokens of a packed buffer: words, numbers, marks, line ends, separators. Linear; never fails."""
    raw = np.frombuffer(buffer, np.uint8)
    codes = np.frombuffer(buffer.translate(_CODES), np.uint8)
    lowered = np.frombuffer(buffer.translate(_LOWER), np.uint8)
    capitals = lowered != raw
    heads: npt.NDArray[np.bool_] | None = None
    if (leads := np.flatnonzero(raw >= 0xC2)).size > 2 * len(SEPARATOR):
        leads = leads[raw[leads] < FIRST_SEPARATOR]
        codes, lowered = codes.copy(), lowered.copy()
        _mark_codes(raw, leads, codes)
        capitals[leads[_lower_letters(raw, leads, lowered)]] = True
        heads = (raw & 0xC0) != 0x80
    borders = np.flatnonzero(codes[1:] != codes[:-1])
    borders += 1
    starts, ends = borders[:-1], borders[1:]
    kept = codes[starts] != SPACE
    starts, ends = starts[kept], ends[kept]
    code = codes[starts]
    return Tokens(starts, ends, code, _words(raw, lowered, capitals, heads, starts, ends, code))


def uncased(buffer: bytes, tokens: Tokens) -> Places:
    """Return the places of words with a letter of a script that has no capitals: Han, Thai, Hangul, Arabic and others.

    Armenian and Georgian count among them. Of the letters in three bytes Latin and Greek ones are left out.
    """
    raw = np.frombuffer(buffer, np.uint8)
    leads = np.flatnonzero(raw >= 0xD5)
    lead, second = raw[leads], raw[np.minimum(leads + 1, raw.size - 1)]
    cased = (lead == 0xE2) | ((lead == 0xE1) & (second >= 0xB8)) | ((lead == 0xE3) & (second == 0x80))
    leads = leads[(lead < 0xF0) & ~cased]
    if not leads.size:
        return leads
    found = np.unique(np.searchsorted(tokens.start, leads, "right") - 1)
    return found[tokens.code[found] == LETTER]


def _mark_codes(raw: Bytes, leads: Places, codes: Bytes) -> None:
    """Set the codes of marks beyond ASCII: Latin-1 signs, general punctuation, CJK punctuation, pictures."""
    lead, second = raw[leads], raw[leads + 1]
    third = raw[np.minimum(leads + 2, raw.size - 1)]
    signs = (lead == 0xC2) & (second != 0xAA) & (second != 0xBA)
    at = leads[signs]
    codes[at] = codes[at + 1] = np.where(second[signs] == 0xA0, SPACE, second[signs])
    signs = ((lead == 0xE2) & (second != 0xB1)) | ((lead == 0xE3) & (second == 0x80))
    is_space = (lead == 0xE2) & (second == 0x80) & ((third < 0x8B) | (third == 0xAF))
    is_space |= (lead == 0xE3) & (third == 0x80)
    at = leads[signs]
    codes[at] = codes[at + 1] = codes[at + 2] = np.where(is_space[signs], SPACE, third[signs])
    at = leads[(lead >= 0xF0) & (leads + 3 < raw.size)]
    codes[at] = codes[at + 1] = codes[at + 2] = codes[at + 3] = 0xC0


def _lower_letters(raw: Bytes, leads: Places, lowered: Bytes) -> npt.NDArray[np.bool_]:
    """Write the lower case of Latin, Greek and Cyrillic capitals; return which of ``leads`` are capitals."""
    lead, second = raw[leads], raw[leads + 1]
    even, odd = (second & 1) == 0, (second & 1) == 1
    by_32 = (lead == 0xC3) & (second >= 0x80) & (second <= 0x9E) & (second != 0x97)
    by_32 |= (lead == 0xCE) & (second >= 0x91) & (second <= 0x9F)
    by_32 |= (lead == 0xD0) & (second >= 0x90) & (second <= 0x9F)
    by_1 = (lead == 0xC4) & even & (second < 0xB8) & (second != 0xB0)
    by_1 |= (lead == 0xC5) & even & (second >= 0x8A) & (second < 0xB8)
    by_1 |= ((lead == 0xC4) | (lead == 0xC5)) & odd & (second >= 0xB9) & (second < 0xBF)
    by_1 |= (lead == 0xC5) & odd & (second <= 0x87)
    over = ((lead == 0xCE) & (second >= 0xA0) & (second <= 0xA9)) | (
        (lead == 0xD0) & (second >= 0xA0) & (second < 0xB0)
    )
    for chosen, step in ((by_32, 32), (by_1, 1), (over, -32)):
        lowered[leads[chosen] + 1] = (second[chosen].astype(np.int16) + step).astype(np.uint8)
    lowered[leads[over]] = lead[over] + 1
    return by_32 | by_1 | over


def _words(
    raw: Bytes,
    lowered: Bytes,
    capitals: npt.NDArray[np.bool_],
    heads: npt.NDArray[np.bool_] | None,
    starts: Places,
    ends: Places,
    code: Bytes,
) -> Words:
    length = ends - starts
    mask = _MASKS[np.minimum(length, 8)]
    loads = _loads(lowered)
    first = loads[starts] & mask
    tail = loads[ends - 8] & ~_MASKS[np.maximum(8 - length, 0)]
    is_number = np.flatnonzero(code == DIGIT)
    if is_number.size:
        _hide_digits(raw, starts, length, is_number, first, tail)
    capital = np.bitwise_count(caps := _loads(capitals.view(np.uint8))[starts] & mask)
    letters = np.minimum(length, 8) if heads is None else np.bitwise_count(_loads(heads.view(np.uint8))[starts] & mask)
    shape = _shapes((caps & np.uint64(1)) != 0, capital, letters)
    lexeme = (first * _K1) ^ ((tail + length.astype(np.uint64)) * _K2)
    lexeme ^= lexeme >> _SHIFT
    lexeme *= _K3
    key = (lexeme ^ (shape.astype(np.uint64) + np.uint64(1))) * _K4
    key ^= key >> _SHIFT
    key |= np.uint64(1)
    return Words(first, tail, length, shape, lexeme, key)


def _loads(column: Bytes) -> Words64:
    """Return the 8 bytes from each place on as one number."""
    return np.ndarray((column.size - 7,), np.dtype("<u8"), np.ascontiguousarray(column), strides=(1,))


def _hide_digits(raw: Bytes, starts: Places, length: Places, chosen: Places, first: Words64, tail: Words64) -> None:
    """Make all numbers of one length equal, save those that look like years."""
    at = starts[chosen]
    lead = raw[at].astype(np.int64) * 256 + raw[at + 1]
    is_year = (length[chosen] == 4) & ((lead == 0x3139) | (lead == 0x3230))
    first[chosen] = np.where(is_year, _YEAR, _DIGITS)
    tail[chosen] = _DIGITS


def _shapes(starts_so: npt.NDArray[np.bool_], capital: Bytes, letters: npt.NDArray[np.integer]) -> Bytes:
    several = np.where(starts_so, np.where(capital == letters, CAPITALS, INNER), LATE)
    one = np.where(starts_so, np.where(letters == 1, INITIAL, TITLE), LATE)
    return np.where(capital == 0, PLAIN, np.where(capital == 1, one, several)).astype(np.uint8)


def has_letters_beyond_ascii(words: Words) -> npt.NDArray[np.bool_]:
    """Tell which words begin or end with letters beyond ASCII among their 8 outer bytes."""
    return ((words.first | words.tail) & _MARK_BYTES) != 0
