"""Distinct words met so far: key -> row of the network's first layer and signs. Kept over batches, bounded."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger.features import feature_rows
from pipelines.privacy.tagger.lexicon import Lexicon
from pipelines.privacy.tagger.network import TAPS, Rows, Weights
from pipelines.privacy.tagger.tokens import Places, Words, Words64

CAPACITY = 1 << 16
"""Words kept; when there are more the table starts anew."""
_ROOM = 4
_FIRST_ROWS = 1024


class WordTable:
    """An open hash table in arrays. What it says of a word depends on the word alone, never on what came before."""

    def __init__(self, weights: Weights, lexicon: Lexicon) -> None:
        self._weights, self._lexicon = weights, lexicon
        self.rows: Rows = np.empty((0, 0, 0), np.int16)
        self.signs: npt.NDArray[np.uint16] = np.empty(0, np.uint16)
        self._clear(CAPACITY)

    def __len__(self) -> int:
        return self._used

    def places(self, words: Words) -> Places:
        """Return for each word its place in ``rows`` and ``signs``; places of earlier calls are void."""
        places = self._find(words.key)
        missing = np.flatnonzero(places < 0)
        if not missing.size:
            return places
        if self._used + missing.size > CAPACITY:
            _, missing = np.unique(words.key, return_index=True)
            if self._used + missing.size > CAPACITY:
                self._clear(max(CAPACITY, missing.size))
            else:
                missing = missing[places[missing] < 0]
        else:
            _, at = np.unique(words.key[missing], return_index=True)
            missing = missing[at]
        self._learn(words.at(missing))
        return self._find(words.key)

    def _clear(self, words: int) -> None:
        bits = (words * _ROOM - 1).bit_length()
        self._down, self._slots = np.uint64(64 - bits), (1 << bits) - 1
        self._keys = np.zeros(1 << bits, np.uint64)
        self._places = np.full(1 << bits, -1, np.int64)
        self.rows = np.empty((TAPS, _FIRST_ROWS, self._weights.first_bias.size), np.int16)
        self.signs = np.empty(_FIRST_ROWS, np.uint16)
        self._used = 0

    def _find(self, keys: Words64) -> Places:
        slots = (keys >> self._down).astype(np.int64)
        places = self._places[slots]
        open_ones = np.flatnonzero(self._keys[slots] != keys)
        slots, keys = slots[open_ones], keys[open_ones]
        while open_ones.size:
            places[open_ones] = -1
            going = self._keys[slots] != 0
            open_ones, keys = open_ones[going], keys[going]
            slots = (slots[going] + 1) & self._slots
            places[open_ones] = self._places[slots]
            going = self._keys[slots] != keys
            open_ones, slots, keys = open_ones[going], slots[going], keys[going]
        return places

    def _learn(self, words: Words) -> None:
        """Add distinct words that are not there."""
        first, count = self._used, words.key.size
        self._grow(first + count)
        signs = self._lexicon.signs(words)
        self.signs[first : first + count] = signs
        self.rows[:, first : first + count] = self._weights.rows(feature_rows(words, signs))
        self._used += count
        slots, left = (words.key >> self._down).astype(np.int64), np.arange(count)
        while left.size:
            free = np.flatnonzero(self._keys[slots] == 0)
            _, at = np.unique(slots[free], return_index=True)
            taken = free[at]
            self._keys[slots[taken]] = words.key[left[taken]]
            self._places[slots[taken]] = first + left[taken]
            going = np.ones(left.size, bool)
            going[taken] = False
            left, slots = left[going], (slots[going] + 1) & self._slots

    def _grow(self, size: int) -> None:
        room = self.signs.size
        if size <= room:
            return
        room = max(size, 2 * room)
        rows, signs = np.empty((TAPS, room, self.rows.shape[2]), np.int16), np.empty(room, np.uint16)
        rows[:, : self._used], signs[: self._used] = self.rows[:, : self._used], self.signs[: self._used]
        self.rows, self.signs = rows, signs
