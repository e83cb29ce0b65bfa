"""How sure a difference between two models is: both measured on the same rows, owners drawn again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
CONFIDENCE = 0.95
BLOCK = 200
"""Resamples drawn at a time, which bounds the memory of the draw."""


@dataclass(frozen=True)
class Interval:
    """A mean difference with its confidence interval, over ``n`` rows of ``n_owners`` owners."""

    mean: float
    low: float
    high: float
    n: int
    n_owners: int

    @property
    def is_below_zero(self) -> bool:
        """The whole interval lies below zero."""
        return self.high < 0

    @property
    def is_above_zero(self) -> bool:
        """The whole interval lies above zero."""
        return self.low > 0


def paired_bootstrap(
    differences: Sequence[float] | NDArray[np.float64],
    weights: Sequence[float] | NDArray[np.float64] | None = None,
    owners: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """Return the weighted mean of paired differences with a percentile interval (Efron, 1979; Koehn, EMNLP 2004).

    ``differences`` holds one number a row: the first model's value less the second's. Rows of one owner (a user or a
    conversation) are drawn together, since they resemble each other; without ``owners`` each row is its own. A single
    owner tells nothing about others: its interval is without bounds. Deterministic for a seed and the order of owners'
    names. Raises ``ValueError`` for no rows, or for numbers that are not finite.
    """
    values = np.asarray(differences, dtype=np.float64)
    mass = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.size == 0 or values.shape != mass.shape or not (np.isfinite(values).all() and np.isfinite(mass).all()):
        raise ValueError("bootstrap: wanted one finite difference and one finite weight for each row, found others")
    if (mass < 0).any() or mass.sum() <= 0:
        raise ValueError("bootstrap: wanted weights of at least zero with a positive sum, found others")
    names = [str(i) for i in range(values.size)] if owners is None else list(owners)
    _, group = np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)
    tops, bottoms = np.bincount(group, values * mass), np.bincount(group, mass)
    mean = float(tops.sum() / bottoms.sum())
    n_owners = len(tops)
    if n_owners < 2:
        return Interval(mean, float("-inf"), float("inf"), int(values.size), n_owners)
    draw = np.random.default_rng(seed)
    drawn = []
    for start in range(0, resamples, BLOCK):
        picks = draw.integers(0, n_owners, size=(min(BLOCK, resamples - start), n_owners))
        mass_drawn = bottoms[picks].sum(axis=1)
        # A draw of owners without any weight has no mean; it counts as the mean of all.
        safe = np.where(mass_drawn > 0, mass_drawn, 1.0)
        drawn.append(np.where(mass_drawn > 0, tops[picks].sum(axis=1) / safe, mean))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(np.concatenate(drawn), [tail, 1.0 - tail])
    return Interval(mean, float(low), float(high), int(values.size), n_owners)


def seed_of(*names: str) -> int:
    """Return a seed that is the same for the same names, so that a judgement can be repeated."""
    return int.from_bytes(hashlib.sha256("\x1f".join(names).encode()).digest()[:8], "big")
