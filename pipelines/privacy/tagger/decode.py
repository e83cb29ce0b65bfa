"""Kinds of tokens to spans: gaps closed, ends trimmed, fragments dropped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger.network import KINDS
from pipelines.privacy.tagger.tokens import DIGIT, FIRST_SEPARATOR, INITIAL, LETTER, LINE, Bytes, Places, Tokens

PERSON, ADDRESS = (KINDS.index(kind) for kind in ("PERSON", "ADDRESS"))
_INSIDE_NAMES = np.zeros(256, bool)
_INSIDE_NAMES[[ord(c) for c in ".-'"] + [0x99, 0x90, 0x91]] = True
_INSIDE_ADDRESSES = np.zeros(256, bool)
_INSIDE_ADDRESSES[[ord(c) for c in ".,-/#&'()"] + [0x99, 0x93, 0xBA, LINE, LETTER, DIGIT]] = True
_SHORTENED = np.array([int.from_bytes(word, "little") for word in (b"jr", b"sr", b"jnr", b"snr")], np.uint64)


class Spans:
    """Spans of one kind each, as places of tokens: the first, and the one behind the last."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, start: Places, end: Places, kind: Bytes) -> None:
        self.start, self.end, self.kind = start, end, kind


def spans_of(tokens: Tokens, kinds: Bytes) -> Spans:
    """Return the spans of equal kinds; ``kinds`` is changed."""
    code = tokens.code
    kinds[code >= FIRST_SEPARATOR] = 0
    _close(kinds, PERSON, _INSIDE_NAMES[code])
    _close(kinds, ADDRESS, _INSIDE_ADDRESSES[code])
    _trim(tokens, kinds)
    _take_numbers(tokens, kinds)
    edges = np.flatnonzero(np.diff(kinds, prepend=np.uint8(0), append=np.uint8(0)))
    start, end = edges[:-1], edges[1:]
    kind = kinds[start] if start.size else kinds[:0]
    kept = kind != 0
    start, end, kind = start[kept], end[kept], kind[kept]
    kept = _is_whole(tokens, start, end, kind)
    return Spans(start[kept], end[kept], kind[kept])


def _close(kinds: Bytes, kind: int, may_be_inside: npt.NDArray[np.bool_]) -> None:
    """Give one odd token between two of a kind that kind."""
    is_kind = kinds == kind
    between = is_kind[:-2] & is_kind[2:] & ~is_kind[1:-1] & may_be_inside[1:-1]
    kinds[1:-1][between] = kind


def _trim(tokens: Tokens, kinds: Bytes) -> None:
    """Take marks and line ends off both ends of spans; a dot behind an initial or ``Jr`` stays."""
    is_mark = (tokens.code != LETTER) & (tokens.code != DIGIT)
    for _ in range(3):
        marked = np.flatnonzero(is_mark & (kinds != 0))
        if not marked.size:
            return
        marked = marked[(marked > 0) & (marked + 1 < kinds.size)]
        alone = (kinds[marked - 1] != kinds[marked]) | (kinds[marked + 1] != kinds[marked])
        before = tokens.words.at(marked - 1)
        short = (before.shape == INITIAL) | np.isin(before.first, _SHORTENED)
        dot = (tokens.code[marked] == ord(".")) & short
        kinds[marked[alone & ~(dot & (kinds[marked - 1] == kinds[marked]))]] = 0


def _take_numbers(tokens: Tokens, kinds: Bytes) -> None:
    """Give addresses the number right before them and the postal code behind up to three marks."""
    is_number = np.flatnonzero((tokens.code == DIGIT) & (kinds == 0))
    is_number = is_number[is_number + 1 < kinds.size]
    before = is_number[kinds[is_number + 1] == ADDRESS]
    kinds[before] = ADDRESS
    length = tokens.words.length[is_number]
    codes = is_number[(length >= 4) & (length <= 6) & (kinds[is_number] == 0)]
    is_mark = (tokens.code != LETTER) & (tokens.code != DIGIT) & (tokens.code < FIRST_SEPARATOR)
    for back in (1, 2, 3, 4):
        codes = codes[codes >= back]
        chosen = codes[kinds[codes - back] == ADDRESS]
        for step in range(1, back + 1):
            kinds[chosen - step + 1] = ADDRESS
        codes = codes[(kinds[codes] == 0) & is_mark[codes - back]]


def _is_whole(tokens: Tokens, start: Places, end: Places, kind: Bytes) -> npt.NDArray[np.bool_]:
    """Tell which spans are no fragments.

    Names need two bytes and a letter; addresses five tokens and a letter, or a word of four, or are a postal code: not
    the last group of a longer number.
    """
    if not start.size:
        return np.zeros(0, bool)
    letters = np.where(tokens.code == LETTER, tokens.words.length, 0)
    longest = np.maximum.reduceat(np.append(letters, 0), np.ravel(np.column_stack((start, end))))[::2]
    size = tokens.end[end - 1] - tokens.start[start]
    count = end - start
    is_code = (count == 1) & (tokens.code[start] == DIGIT) & (size >= 4) & (size <= 6) & ~_ends_a_number(tokens, start)
    is_address = is_code | ((count > 1) & ((longest > 3) | ((longest > 0) & (count > 4))))
    is_address &= ~((count <= 2) & _ends_a_code(tokens, start))
    return np.where(kind == PERSON, (longest > 0) & (size > 1), is_address)


def _ends_a_code(tokens: Tokens, start: Places) -> npt.NDArray[np.bool_]:
    """Tell which tokens are a number right behind a letter: ``C4``."""
    before = np.maximum(start - 1, 0)
    glued = (tokens.end[before] == tokens.start[start]) & (tokens.code[before] == LETTER)
    return glued & (tokens.code[start] == DIGIT)


def _ends_a_number(tokens: Tokens, start: Places) -> npt.NDArray[np.bool_]:
    """Tell which tokens stand behind a number and a hyphen."""
    hyphen, number = np.maximum(start - 1, 0), np.maximum(start - 2, 0)
    return (tokens.code[hyphen] == ord("-")) & (tokens.code[number] == DIGIT)
