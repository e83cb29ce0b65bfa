"""The words of many texts at once as arrays: what repetition, sketches and cue words are looked up in.

A word is a run of letters and digits in lower case; a character of a script without spaces is a word of its own. Words
are known by a hash of their bytes alone, the same in every process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.quality.scripts import RANGES, UNSPACED

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]

EIGHT = 8
"""Bytes at each end of a word that its hash is made of, beside its length."""

_END = "\x00"
_UNSPACED = re.compile("([" + "".join(f"{chr(a)}-{chr(b)}" for name in UNSPACED for a, b in RANGES[name]) + "])")
_PUNCTUATION = re.compile(
    "[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u06d4\u0964\u0965"
    "\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u303f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
"""Marks outside of ASCII that part words (Unicode 16, Blocks.txt)."""

_WORD_BYTES = bytes(chr(c).isalnum() or c == ord("'") or c > 127 for c in range(256))
_DIGIT_BYTES = bytes(48 <= c < 58 for c in range(256))
_REST_BYTES = bytes(128 <= c < 192 for c in range(256))
_END_BYTES = bytes(c == 0 for c in range(256))
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(EIGHT + 1)], np.uint64)

# Odd multipliers and shifts of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
_GOLDEN, _MIX_1, _MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class WordStream:
    """The words of ``texts`` one after the other; arrays have one entry a word.

    ``hashes``: its hash; ``text_of``: which text it is of, growing; ``n_chars``: its code points; ``is_spoken``: it has
    no digit. ``starts`` has one entry a text and one more: the places where words of a text begin and end.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        joined = _END.join(map(_parted, texts)).lower() + _END
        raw = joined.encode("utf-8", "surrogatepass")
        is_word = _marks(raw, _WORD_BYTES)
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        if is_word[0]:
            edges = np.concatenate((np.zeros(1, np.int64), edges))
        first, length = edges[::2], edges[1::2] - edges[::2]
        self.n_texts = len(texts)
        self.starts: Places = np.zeros(len(texts) + 1, np.int64)
        self.starts[1:] = np.searchsorted(first, np.flatnonzero(_marks(raw, _END_BYTES)))
        self.text_of: Places = np.repeat(np.arange(len(texts)), np.diff(self.starts))
        self.hashes: Hashes = _hashes(raw + bytes(EIGHT), first, length)
        self.n_chars: Places = length - (0 if len(raw) == len(joined) else _counted(raw, _REST_BYTES, first))
        self.is_spoken: NDArray[np.bool_] = _counted(raw, _DIGIT_BYTES, first) == 0


def hashes_of(words: Sequence[str]) -> Hashes:
    """Return the hash of each word, as a stream of texts has it; ``ValueError`` for one that is no single word."""
    stream = WordStream(words)
    if len(stream.hashes) != len(words) or not (np.diff(stream.starts) == 1).all():
        raise ValueError(f"wanted {len(words)} single words, found {len(stream.hashes)} words")
    return stream.hashes


def mixed(hashes: Hashes) -> Hashes:
    """Return the hashes with every bit depending on every bit (splitmix64's finaliser)."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * _MIX_1
    hashes = (hashes ^ (hashes >> np.uint64(27))) * _MIX_2
    return hashes ^ (hashes >> np.uint64(31))


def phrase_hashes(hashes: Hashes, length: int) -> Hashes:
    """Return a hash of each run of ``length`` words, in order; one for each word that has enough words after it."""
    last = len(hashes) - length + 1
    if last <= 0:
        return hashes[:0]
    combined = hashes[:last].copy()
    for step in range(1, length):
        combined *= _GOLDEN
        combined += hashes[step : step + last]
    return mixed(combined)


def spaced(text: str) -> str:
    """Put spaces around each character of a script without spaces."""
    return text if text.isascii() or not _UNSPACED.search(text) else " ".join(_UNSPACED.split(text))


def is_unspaced(text: str) -> bool:
    """Tell whether most of the text is in a script without spaces between words."""
    return not text.isascii() and 2 * len(_UNSPACED.findall(text[:1000])) > len(text[:1000])


def _parted(text: str) -> str:
    """Part words where marks outside of ASCII or characters of scripts without spaces do."""
    if text.isascii():
        return text.replace(_END, " ") if _END in text else text
    return spaced(_PUNCTUATION.sub(" ", text.replace(_END, " ").replace("\u2019", "'")))


def _hashes(padded: bytes, first: Places, length: Places) -> Hashes:
    """Hash words by the eight bytes at their begin, those at their end, and their length."""
    loads = np.ndarray((len(padded) - EIGHT + 1,), "<u8", padded, strides=(1,))
    masks = _MASKS[np.minimum(length, EIGHT)]
    heads = loads[first] & masks
    tails = loads[np.maximum(first, first + length - EIGHT)] & masks
    return mixed(mixed(heads + length.astype(np.uint64) * _GOLDEN) + tails)


def _marks(raw: bytes, kind: bytes) -> NDArray[np.bool_]:
    """Tell of each byte whether it is of a kind."""
    return np.frombuffer(raw.translate(kind), np.bool_)


def _counted(raw: bytes, kind: bytes, first: Places) -> Places:
    """Count the bytes of a kind in each word; bytes of that kind stand in words alone."""
    words = np.searchsorted(first, np.flatnonzero(_marks(raw, kind)), "right") - 1
    return np.bincount(words, minlength=len(first))
