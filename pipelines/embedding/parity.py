"""Compare a backend with torch on pairs of sentences that people scored, and tell whether it may be used."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipelines.embedding.encoder import Encoder

MOST_LOSS = 0.005
"""Share of torch's rank correlation that a backend may lose."""


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of sentences with the similarity that people gave them."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    scores: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Parity:
    """How well a backend ranks pairs, and how far its vectors are from the reference's.

    ``spearman`` between its cosines and the scores; ``loss`` the share of the reference's that it lacks;
    ``max_deviation`` the largest difference of one component, None where the widths differ.
    """

    backend: str
    spearman: float
    loss: float
    max_deviation: float | None

    @property
    def accepted(self) -> bool:
        """The backend loses no more than it may."""
        return self.loss <= MOST_LOSS


def read_pairs(files: Sequence[Path]) -> ScoredPairs:
    """Read STS files: CSV without a header, two sentences and a score a line. Raises ValueError for another form."""
    rows: list[tuple[str, str, float]] = []
    for file in files:
        with file.open(newline="", encoding="utf-8") as stream:
            for number, row in enumerate(csv.reader(stream), 1):
                try:
                    first, second, score = row
                    rows.append((first, second, float(score)))
                except ValueError:
                    raise ValueError(
                        f"{file.name}, row {number}: wanted two sentences and a number, found {len(row)} fields"
                    ) from None
    if len(rows) < 2:
        raise ValueError(f"wanted at least 2 scored pairs, found {len(rows)} in {len(files)} files; give CSV files")
    first_ones, second_ones, scores = zip(*rows, strict=True)
    return ScoredPairs(first_ones, second_ones, np.array(scores))


def ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the rank of each value from 1; equal values share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(((last - counts + 1 + last) / 2)[places])


def spearman(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> float:
    """Return the rank correlation of two series of equal length; 0 where one of them is constant."""
    a, b = (ranks(values) - (len(values) + 1) / 2 for values in (left, right))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else 0.0


def compare(reference: Encoder, encoders: Sequence[Encoder], pairs: ScoredPairs) -> list[Parity]:
    """Return the parity of the reference with itself, then of each encoder with it."""
    n = len(pairs.first)
    results: list[Parity] = []
    wanted: npt.NDArray[np.float32] | None = None
    for encoder in (reference, *encoders):
        embedded = encoder.encode([*pairs.first, *pairs.second])
        vectors = embedded.vectors
        found = spearman(np.sum(vectors[:n] * vectors[n:], axis=1, dtype=np.float64), pairs.scores)
        wanted = vectors if wanted is None else wanted
        deviation = float(np.abs(vectors - wanted).max()) if vectors.shape == wanted.shape else None
        best = results[0].spearman if results else found
        loss = 1 - found / best if best > 0 else 0.0
        results.append(Parity(embedded.backend, found, loss, deviation))
    return results
