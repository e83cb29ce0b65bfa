"""A 64-bit sketch of a text: two texts that say nearly the same have sketches that differ in few bits.

SimHash (Charikar, Similarity estimation techniques from rounding algorithms, STOC 2002) over words and pairs of words.
Words of more than three letters weigh three times as much as short ones: "how do I make a ..." is no common question.
"""

from __future__ import annotations

from math import cos, pi

import numpy as np
from numpy.typing import NDArray

from pipelines.quality.word_stream import WordStream, phrase_hashes

MIN_WORDS = 4
"""Texts of fewer words have no sketch: "yes", "go on" and "try it again" are asked of everything."""
MAX_WORDS = 512
"""Words of a text that its sketch is made of: what a long text is about shows long before."""

_SHORT, _HEAVY = 3, 3
_AT_ONCE = 63
"""Words whose weighted bits, four a word at most, fit into a byte."""
_SPREAD = np.array([sum(1 << (8 * bit) for bit in range(8) if byte >> bit & 1) for byte in range(256)], "<u8")
"""The eight bits of a byte, each in a byte of its own."""
_BITS = 64


def sketch(text: str) -> int | None:
    """Return the sketch of ``text`` as a signed 64-bit integer; None for fewer than ``MIN_WORDS`` words."""
    return sketches(WordStream([text]))[0]


def similarity(a: int, b: int) -> float:
    """Return how alike two texts are by their sketches, 0 to 1: the cosine that the share of equal bits stands for.

    Texts without a word in common come to 0.0 on average and stay below 0.6 in 99.9 of 100 pairs.
    """
    different = ((a ^ b) & (2**_BITS - 1)).bit_count()
    return max(0.0, cos(pi * different / _BITS))


def sketches(stream: WordStream) -> list[int | None]:
    """Return the sketch of each text of the stream, in order."""
    n_words = np.minimum(np.diff(stream.starts), MAX_WORDS)
    told = np.flatnonzero(n_words >= MIN_WORDS)
    found: list[int | None] = [None] * stream.n_texts
    if len(told):
        for text, bits in zip(told.tolist(), _sketched(stream, told, n_words[told]).tolist(), strict=True):
            found[text] = bits
    return found


def _sketched(stream: WordStream, told: NDArray[np.int64], n_words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sketches of the texts ``told``, by their first ``n_words`` words."""
    begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(n_words)))
    inside = np.arange(begin[-1]) - np.repeat(begin[:-1], n_words)
    places = np.repeat(stream.starts[told], n_words) + inside
    weights = np.where(stream.n_chars[places] > _SHORT, _HEAVY, 1).astype(np.uint64)
    counts = _SPREAD[_bytes(stream.hashes[places])] * weights[:, None]
    pairs = phrase_hashes(stream.hashes, 2)
    has_pair = np.flatnonzero(inside > 0)
    counts[has_pair] += _SPREAD[_bytes(pairs[places[has_pair] - 1])]
    # Sums of a few words fit into bytes; those of a whole text do not.
    segment = np.flatnonzero(inside % _AT_ONCE == 0)
    sums = np.add.reduceat(counts, segment, axis=0).view(np.uint8).astype(np.int32)
    of_text = np.searchsorted(segment, begin[:-1])
    ones = np.add.reduceat(sums, of_text, axis=0)
    total = np.add.reduceat(weights.astype(np.int64), begin[:-1]) + n_words - 1
    packed = np.packbits(2 * ones > total[:, None], axis=1, bitorder="little")
    bits: NDArray[np.int64] = packed.view("<i8")[:, 0]
    return bits


def _bytes(hashes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(hashes, "<u8").view(np.uint8).reshape(-1, 8)
