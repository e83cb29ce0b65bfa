"""Which rows a step sees and which process gets them: a function of the dataset version, the seed and the epoch alone.

The batch of a step is drawn for all processes together, so that a run on one process, on eight, or on eight of which
two fell away takes the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pipelines.training.distributed.shares import proportional

BATCHES_SORTED_TOGETHER = 50
"""Batches whose rows are sorted by length before they are cut: little padding, and still other batches each epoch."""


@dataclass(frozen=True)
class StepPlan:
    """The steps of an epoch over rows of ``lengths`` (tokens), ``batch_rows`` a step, the last with what is left.

    Every row is in exactly one step of an epoch.
    """

    lengths: tuple[int, ...]
    batch_rows: int
    seed: int

    def __post_init__(self) -> None:
        if not self.lengths or self.batch_rows < 1:
            raise ValueError(f"plan: wanted rows and batches of at least 1, found {len(self.lengths)} rows in batches "
                             f"of {self.batch_rows}")  # fmt: skip

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.lengths) // self.batch_rows)

    def batch(self, epoch: int, step: int) -> list[int]:
        """Return the rows of a step, by length."""
        return list(_epoch(self, epoch)[step])


def deal(rows: Sequence[int], counts: Sequence[int]) -> list[list[int]]:
    """Return ``counts[r]`` of the rows for each process r, dealt in turn, so that each gets short and long ones.

    Raises ``ValueError`` where the counts do not add up to the rows.
    """
    if sum(counts) != len(rows):
        raise ValueError(f"shares: wanted counts that add up to {len(rows)} rows, found {sum(counts)}")
    dealt: list[list[int]] = [[] for _ in counts]
    for nth, row in enumerate(rows, start=1):
        behind = [count * nth / len(rows) - len(mine) for count, mine in zip(counts, dealt, strict=True)]
        dealt[behind.index(max(behind))].append(row)
    return dealt


def dealt_by_shares(rows: Sequence[int], shares: Sequence[int]) -> list[list[int]]:
    """Return the rows of each process, in proportion to ``shares``; a batch shorter than others is shared alike."""
    return deal(rows, proportional(shares, len(rows)))


def micro_batches(rows: Sequence[int], most: int) -> list[list[int]]:
    """Cut rows into as few parts of at most ``most`` rows as there can be, all of about one size."""
    parts = -(-len(rows) // most)
    return (
        [[int(row) for row in part] for part in np.array_split(np.asarray(rows, dtype=np.int64), parts)]
        if parts
        else []
    )


@lru_cache(maxsize=2)
def _epoch(plan: StepPlan, epoch: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of all steps of an epoch: shuffled, sorted by length in chunks, cut, shuffled again."""
    draw = np.random.default_rng([plan.seed, epoch])
    lengths = np.asarray(plan.lengths)
    order = draw.permutation(len(lengths))
    chunk = plan.batch_rows * BATCHES_SORTED_TOGETHER
    order = np.concatenate(
        [
            part[np.argsort(lengths[part], kind="stable")]
            for part in (order[i : i + chunk] for i in range(0, len(order), chunk))
        ]
    )
    batches = [order[i : i + plan.batch_rows] for i in range(0, len(order), plan.batch_rows)]
    whole = [batch for batch in batches if len(batch) == plan.batch_rows]
    shuffled = [whole[i] for i in draw.permutation(len(whole))] + batches[len(whole) :]
    return tuple(tuple(int(row) for row in batch) for batch in shuffled)
