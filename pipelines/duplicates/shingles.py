"""Shingles of chat: the set of a text's words and the set of its word pairs.

Chat is short: shingles of five words, as for web pages, leave most turns without one, and a single edit takes five of
them away. Words show what is said, pairs that it is said in the same order. In scripts without spaces words are pairs
of characters, and pairs cover three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.duplicates.mixing import U32, high_half, mixed
from pipelines.duplicates.ragged import Ints, Ragged, as_sets, starts_of
from pipelines.duplicates.tokens import Tokens, word_ids

FEWEST_WORDS = 5
"""A text of fewer words is a duplicate of equal texts alone: "yes", "go on", "thank you very much" say nothing more."""

_PAIR = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class Shingles:
    """``words`` and ``pairs`` of each text: sets of 32-bit hashes in ascending order."""

    words: Ragged
    pairs: Ragged

    def both(self) -> Ragged:
        """Return words and pairs in one set a text; the few hashes that are in both count twice."""
        sizes = self.words.sizes + self.pairs.sizes
        starts = starts_of(sizes)
        values = np.empty(starts[-1], np.uint32)
        values[_targets(self.words, starts[:-1])] = self.words.values
        values[_targets(self.pairs, starts[:-1] + self.words.sizes)] = self.pairs.values
        return Ragged(values, starts)


def shingles(cut: Tokens) -> Shingles:
    """Return the shingles of each text. Repeats within a text count once."""
    words, rows = cut.words, len(cut.words)
    owners = np.repeat(np.arange(rows), words.sizes)
    joined = owners[1:] == owners[:-1]
    return Shingles(
        as_sets(word_ids(words.values), owners, rows),
        as_sets(_pairs(words.values)[joined], owners[1:][joined], rows),
    )


def _pairs(words: np.ndarray) -> U32:
    return high_half(mixed(words[:-1] * _PAIR + words[1:]))


def _targets(part: Ragged, first: Ints) -> Ints:
    return np.arange(len(part.values)) + np.repeat(first - part.starts[:-1], part.sizes)
