"""How sure a difference between two models is whose answers are to other questions: owners drawn again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.promotion.paired_bootstrap import BLOCK, CONFIDENCE, RESAMPLES, Interval

Values = Sequence[float] | NDArray[np.float64]


def unpaired_bootstrap(
    first: Values,
    second: Values,
    first_owners: Sequence[str],
    second_owners: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """Return the mean of ``first`` less that of ``second`` with a percentile interval (Efron, 1979).

    All values of an owner are drawn together, on both sides: people who rate one model low rate the other low too, and
    such a person must not count as two. ``n`` counts the values of both sides. A side with a single owner tells nothing
    about others: the interval is without bounds. Deterministic for a seed and the owners' names. Raises ``ValueError``
    for a side without values, for numbers that are not finite, or for owners that do not fit.
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    for side, owners in zip(sides, (first_owners, second_owners), strict=True):
        if side.size == 0 or side.shape != (len(owners),) or not np.isfinite(side).all():
            raise ValueError("bootstrap: wanted one finite value and one owner for each row of both sides")
    names = np.asarray([*first_owners, *second_owners], dtype=object).astype(str)
    unique, group = np.unique(names, return_inverse=True)
    groups = np.split(group, [sides[0].size])
    n_owners = len(unique)
    sums = [np.bincount(g, side, minlength=n_owners) for g, side in zip(groups, sides, strict=True)]
    counts = [np.bincount(g, minlength=n_owners).astype(np.float64) for g in groups]
    mean = float(sides[0].mean() - sides[1].mean())
    n = int(sides[0].size + sides[1].size)
    if min(len(np.unique(g)) for g in groups) < 2:
        return Interval(mean, float("-inf"), float("inf"), n, n_owners)
    draw = np.random.default_rng(seed)
    drawn = []
    for start in range(0, resamples, BLOCK):
        picks = draw.integers(0, n_owners, size=(min(BLOCK, resamples - start), n_owners))
        held = [count[picks].sum(axis=1) for count in counts]
        # A draw without anybody of one side has no difference; it counts as the difference of all.
        whole = (held[0] > 0) & (held[1] > 0)
        means = [total[picks].sum(axis=1) / np.maximum(mass, 1.0) for total, mass in zip(sums, held, strict=True)]
        drawn.append(np.where(whole, means[0] - means[1], mean))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(np.concatenate(drawn), [tail, 1.0 - tail])
    return Interval(mean, float(low), float(high), n, n_owners)
