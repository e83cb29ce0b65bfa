"""A small convolutional network over words, in whole numbers: the same scores in any batch and on any machine.

Weights are 8-bit; every product and every sum stays below 2**24, so that float32 matrix products are exact, whatever
their order and block size. The first layer is a table: what a word adds at each of its neighbours is reckoned once a
distinct word (``WordTable``), and the layer is a sum of table rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger.tokens import Bytes, Places

TAPS = 5
"""Words that the first layer sees: two on each side."""
SPREAD = 3
"""Distance of the neighbours that the second layer sees."""
REACH = TAPS // 2 + SPREAD + 1
"""How far a word's score looks to each side, in tokens."""
KINDS = ("", "PERSON", "ADDRESS")
EXACT = 1 << 24

Rows = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Weights:
    """Whole-number weights as float32. ``shifts`` are the binary places cut after the table and after layer 2.

    ``ceilings`` bound what layers 1 and 2 give.
    """

    embedding: npt.NDArray[np.int8]
    first: Floats
    first_bias: npt.NDArray[np.int16]
    second: Floats
    second_bias: Floats
    third: Floats
    third_bias: Floats
    shifts: tuple[int, int]
    ceilings: tuple[int, int]

    def __post_init__(self) -> None:
        for matrix, ceiling in ((self.second, self.ceilings[0]), (self.third, self.ceilings[1])):
            if float(np.abs(matrix).sum(axis=0).max()) * ceiling >= EXACT:
                raise ValueError("weights are too large for exact sums")

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, npt.NDArray[np.generic]]) -> Weights:
        """Return the weights out of the tensors of the model file. KeyError when one is missing."""
        scales = [int(value) for value in tensors["scales"]]
        return cls(
            tensors["embedding"].astype(np.int8, copy=False),
            tensors["first"].astype(np.float32),
            tensors["first_bias"].astype(np.int16),
            tensors["second"].astype(np.float32),
            tensors["second_bias"].astype(np.float32),
            tensors["third"].astype(np.float32),
            tensors["third_bias"].astype(np.float32),
            (scales[0], scales[1]),
            (scales[2], scales[3]),
        )

    def rows(self, features: npt.NDArray[np.int32]) -> Rows:
        """Return what distinct words add to layer 1, shape (TAPS, words, width); the middle tap has the bias."""
        sums = self.embedding[features].sum(axis=1, dtype=np.int32).astype(np.float32)
        whole = np.floor(sums @ self.first * np.float32(2.0 ** -self.shifts[0]))
        width = self.first_bias.size
        rows = np.clip(whole, -6000, 6000).astype(np.int16).reshape(-1, TAPS, width).transpose(1, 0, 2).copy()
        rows[TAPS // 2] += self.first_bias
        return rows


class Network:
    """Scores tokens in blocks that fit the cache. Holds scratch space: one caller at a time.

    A layer's view of neighbours is a sum of shifted products: rows of one width lie close together, so that the shift
    is a shift of the flat array, and each sum is one loop.
    """

    def __init__(self, weights: Weights, block: int = 1024) -> None:
        self._weights = weights
        self.block = block
        self._size = block + 2 * REACH
        self._width, self._width_2 = weights.first_bias.size, weights.second_bias.size
        self._taken = np.empty((self._size, self._width), np.int16)
        self._first = np.empty((self._size, self._width), np.int16)
        self._second = np.empty((3, self._size, self._width_2), np.float32)
        self._matrices = np.split(weights.second, 3)
        self._last = np.concatenate(np.split(weights.third, 3), axis=1)

    def scores(self, rows: Rows, places: Places, is_border: npt.NDArray[np.bool_]) -> Floats:
        """Return the scores of tokens, shape (tokens, kinds), whole numbers.

        ``places`` are the places of the tokens' words in ``rows``. Borders stand three in a row between texts; what the
        layers say of them counts as zero, so that no text sees another.
        """
        total = places.size
        scores = np.zeros((total, len(KINDS)), np.float32)
        for start in range(0, total, self.block):
            low, high = max(0, start - REACH), min(total, start + self.block + REACH)
            stop = min(total, start + self.block)
            borders = np.flatnonzero(is_border[low:high])
            scores[start:stop] = self._block(rows, places[low:high], borders)[start - low : stop - low]
        return scores

    def _block(self, rows: Rows, places: Places, borders: Places) -> Floats:
        first = self._layer_1(rows, places)
        first[borders] = 0
        second = self._layer_2(first)
        second[borders] = 0
        beside = second @ self._last
        kinds = len(KINDS)
        scores = beside[:, kinds : 2 * kinds] + self._weights.third_bias
        scores[1:] += beside[:-1, :kinds]
        scores[:-1] += beside[1:, 2 * kinds :]
        return scores

    def _layer_1(self, rows: Rows, places: Places) -> npt.NDArray[np.int16]:
        size, width, half = places.size, self._width, TAPS // 2
        first, taken = self._first[:size], self._taken[:size]
        np.take(rows[half], places, axis=0, out=first, mode="clip")
        flat, added = first.reshape(-1), taken.reshape(-1)
        for tap in range(TAPS):
            shift = min(abs(tap - half), size) * width
            if tap == half:
                continue
            np.take(rows[tap], places, axis=0, out=taken, mode="clip")
            if tap < half:
                flat[shift:] += added[: added.size - shift]
            else:
                flat[: flat.size - shift] += added[shift:]
        np.maximum(first, 0, out=first)
        return np.minimum(first, np.int16(self._weights.ceilings[0]), out=first)

    def _layer_2(self, first: npt.NDArray[np.int16]) -> Floats:
        weights, size = self._weights, first.shape[0]
        values = first.astype(np.float32)
        left, second, right = (part[:size] for part in self._second)
        for matrix, out in zip(self._matrices, (left, second, right), strict=True):
            np.matmul(values, matrix, out=out)
        shift = min(SPREAD, size) * self._width_2
        flat = second.reshape(-1)
        flat[shift:] += left.reshape(-1)[: flat.size - shift]
        flat[: flat.size - shift] += right.reshape(-1)[shift:]
        second += weights.second_bias
        np.maximum(second, 0, out=second)
        second *= np.float32(2.0 ** -weights.shifts[1])
        np.floor(second, out=second)
        return np.minimum(second, weights.ceilings[1], out=second)


def kinds_of(scores: Floats, name_leads: Floats, address_lead: float) -> Bytes:
    """Return the kind of each token by its highest score; names have a lead a token, addresses one for all."""
    name, address = scores[:, 1] + name_leads, scores[:, 2] + np.float32(address_lead)
    clean = scores[:, 0]
    is_name, is_address = (name > clean) & (name >= address), (address > clean) & (address > name)
    return is_name.view(np.uint8) + np.uint8(2) * is_address.view(np.uint8)
