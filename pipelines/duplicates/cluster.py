"""From pairs to clusters: the first row stays, and a row goes only with a row that stays and that it matches itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.ragged import Ints

NONE = -1
"""Stands for no match."""

GIANT_ROWS = 1000
GIANT_SHARE = 0.05
"""A cluster is a giant above both: so many rows, and this share of the rows looked at (own choice)."""


@dataclass(frozen=True)
class Clusters:
    """``matched[i]`` is the row that row ``i`` repeats, ``NONE`` where it stays; ``scores[i]`` how alike they are."""

    matched: Ints
    scores: NDArray[np.float64]


def clusters(rows: int, pairs: tuple[Ints, Ints], scores: NDArray[np.float64]) -> Clusters:
    """Decide rows 0 to ``rows - 1`` in order: one that is near a row that stays before it goes, with the first such.

    ``pairs`` holds (row, earlier row). Nothing chains: a row that matches only rows that went is kept.
    """
    out = Clusters(np.full(rows, NONE, np.int64), np.zeros(rows))
    gone = np.zeros(rows, bool)
    order = np.lexsort((pairs[1], pairs[0]))
    for place in order.tolist():
        row, earlier = int(pairs[0][place]), int(pairs[1][place])
        if gone[row] or gone[earlier]:
            continue
        gone[row] = True
        out.matched[row], out.scores[row] = earlier, scores[place]
    return out


def giants(matched_ids: Sequence[str | None]) -> dict[str, int]:
    """Return the kept rows that took alarmingly many with them, and how many: a sign of scaffold that texts share."""
    limit = max(GIANT_ROWS, GIANT_SHARE * len(matched_ids))
    counts = Counter(one for one in matched_ids if one is not None)
    return {one: count for one, count in counts.most_common() if count > limit}
