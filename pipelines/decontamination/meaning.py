"""Items that are told again in other words or, with a multilingual model, in another language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.embedding.encoder import Encoder

ROWS_A_BLOCK = 4096


@dataclass(frozen=True)
class ItemVectors:
    """Vectors of items, float32 [n, d] of unit length; ``items`` their numbers in the index."""

    items: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def near(self, vectors: NDArray[np.float32], least: float) -> Iterator[tuple[int, int, float]]:
        """Yield (row, item, cosine) of all pairs of at least ``least``; exact, in blocks."""
        for start in range(0, len(vectors), ROWS_A_BLOCK):
            cosines = vectors[start : start + ROWS_A_BLOCK] @ self.vectors.T
            for row, column in zip(*np.nonzero(cosines >= least), strict=True):
                yield int(start + row), int(self.items[column]), float(cosines[row, column])


def embed_items(encoder: Encoder, texts: Sequence[str], items: Sequence[int]) -> ItemVectors:
    """Embed the texts of items."""
    return ItemVectors(np.array(items, np.int64), encoder.encode(texts).vectors)
