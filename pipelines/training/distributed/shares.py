"""How many rows of a step each process gets: in proportion to its measured speed, moved only when that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

LEAST_GAIN = 0.05
"""Part of the step's time that a move must save: below it measured speeds differ by chance (hysteresis)."""
NEWEST_WEIGHT = 0.5
"""Weight of the newest measurement in the running mean of a speed."""
LEAST_PART_OF_EQUAL = 1 / 8
"""No process gets less than this part of an equal share: one that gets nothing can never show that it recovered."""

MEASURABLE = 1e-6
"""Rows a second below which a speed says nothing."""


def proportional(weights: Sequence[float], total: int, least: int = 0) -> list[int]:
    """Return whole numbers that add up to ``total``, in proportion to ``weights`` (largest remainders).

    None is below ``least``, which gives way where ``total`` is too small for it.
    """
    parts = np.asarray(weights, dtype=np.float64)
    if not len(parts) or total < 0 or (parts < 0).any() or not np.isfinite(parts).all() or parts.sum() <= 0:
        raise ValueError("shares: wanted finite weights of which one is above 0 and a total of 0 or more, found others")
    exact = parts / parts.sum() * total
    counts = np.floor(exact).astype(int)
    by_remainder = np.argsort(counts - exact, kind="stable")
    counts[by_remainder[: total - counts.sum()]] += 1
    least = min(least, total // len(counts))
    while counts.min() < least:
        counts[counts.argmin()] += 1
        counts[counts.argmax()] -= 1
    return [int(count) for count in counts]


def step_seconds(counts: Sequence[int], rows_per_second: Sequence[float]) -> float:
    """Return how long a step takes: as long as the process that ends last."""
    return max(count / speed for count, speed in zip(counts, rows_per_second, strict=True))


@dataclass
class ShareController:
    """Shares of ``batch_rows`` among ``world`` processes, equal at first.

    ``tell`` is given the same measurements on all processes and so comes to the same shares on each, without asking.
    """

    world: int
    batch_rows: int
    counts: list[int] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = self.counts or proportional([1.0] * self.world, self.batch_rows)

    @property
    def least(self) -> int:
        """Fewest rows that a process keeps."""
        return max(1, int(self.batch_rows / self.world * LEAST_PART_OF_EQUAL))

    def tell(self, rows_per_second: Sequence[float]) -> bool:
        """Take speeds measured since the last call; returns whether the shares moved.

        A speed that is 0 or not known leaves the mean of that process as it was.
        """
        before = self.speeds or [0.0] * self.world
        self.speeds = [_mean(old, new) for old, new in zip(before, rows_per_second, strict=True)]
        if min(self.speeds) <= 0:
            return False
        wanted = proportional(self.speeds, self.batch_rows, self.least)
        if step_seconds(wanted, self.speeds) > (1 - LEAST_GAIN) * step_seconds(self.counts, self.speeds):
            return False
        self.counts = wanted
        return True


def _mean(old: float, new: float) -> float:
    if not np.isfinite(new) or new < MEASURABLE:
        return old
    return new if old <= 0 else (1 - NEWEST_WEIGHT) * old + NEWEST_WEIGHT * new
