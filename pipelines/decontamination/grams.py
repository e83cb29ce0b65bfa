"""Runs of words that are looked for: 8 words, or 13 characters of a script without spaces.

8 words as in Tulu 3 (Lambert et al. 2024, arXiv 2411.15124, decontamination); 13 as in GPT-3 (Brown et al. 2020, arXiv
2005.14165, appendix C), there for words. A word of Chinese or Japanese has about two characters, so that 13 characters
say a little less than 8 words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.decontamination.words import Words
from pipelines.duplicates.mixing import U64, mixed
from pipelines.duplicates.ragged import Ints

SPACED_WORDS, APART_CHARACTERS = 8, 13
SIZES = (SPACED_WORDS, APART_CHARACTERS)

_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Grams:
    """Runs of one size: ``hashes`` of each, the text ``owners`` that it is from, the word ``places`` it begins at."""

    size: int
    hashes: U64
    owners: Ints
    places: Ints


def grams(cut: Words) -> tuple[Grams, Grams]:
    """Return the runs of 8 words that are mostly spaced, and those of 13 that mostly are not, in order."""
    return _runs(cut, SPACED_WORDS, apart=False), _runs(cut, APART_CHARACTERS, apart=True)


def _runs(cut: Words, size: int, *, apart: bool) -> Grams:
    values, owners = cut.hashes.values, cut.owners
    n_runs = max(len(values) - size + 1, 0)
    hashes = np.zeros(n_runs, np.uint64)
    for offset in range(size if n_runs else 0):
        hashes = hashes * _STEP + values[offset : offset + n_runs]
    n_apart = np.concatenate(([0], np.cumsum(cut.apart)))
    inside = n_apart[size : size + n_runs] - n_apart[:n_runs]
    kept = np.flatnonzero((owners[:n_runs] == owners[size - 1 : size - 1 + n_runs]) & ((inside * 2 > size) == apart))
    places = kept - cut.hashes.starts[owners[kept]]
    return Grams(size, mixed(hashes[kept] + np.uint64(size)), owners[kept], places)
