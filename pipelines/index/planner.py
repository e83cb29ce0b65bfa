"""How a search is done so that it never gives fewer than k turns where k exist, and the name of the way it took."""

from __future__ import annotations

from typing import Protocol

from pipelines.index.filters import Predicate
from pipelines.index.rows import Hit, Vector

EXACT_ROWS = 5_000
"""Rows that are compared one by one sooner than by the approximate index: it would visit about as many."""

EFFORTS = (1, 8)
"""Multiples of the usual number of partitions that an approximate search visits before the exact one is due."""

MOST_EFFORT = 32
"""Multiple of the usual work from which on comparing all rows is the better bargain."""

EXACT, EXACT_FILTERED, APPROXIMATE, EXPANDED, NOTHING = (
    "exact", "exact on the filtered rows", "approximate", "approximate, expanded", "nothing fits",
)  # fmt: skip


class Searched(Protocol):
    """What the planner asks of an engine."""

    @property
    def approximate(self) -> bool:
        """Whether there is a trained index."""

    @property
    def rows(self) -> int:
        """Rows of all tenants."""

    def count(self, tenant: str, where: Predicate) -> int:
        """Return how many rows of the tenant fit."""

    def nearest(self, vector: Vector, k: int, tenant: str, where: Predicate, effort: int | None) -> list[Hit]:
        """Return up to ``k`` nearest rows that fit; with ``effort`` None the exact ones."""


def search(
    engine: Searched, vector: Vector, k: int, tenant: str, where: Predicate, *, effort: int | None
) -> tuple[list[Hit], str]:
    """Return min(k, number of rows that fit) hits, best first, and how they were found; ``effort`` None is exact."""
    fitting = engine.count(tenant, where)
    wanted = min(k, fitting)
    if wanted <= 0:
        return [], NOTHING
    if effort is not None and engine.approximate and fitting > max(EXACT_ROWS, k):
        for times in EFFORTS:
            hits = engine.nearest(vector, wanted, tenant, where, effort * times)
            if len(hits) >= wanted:
                return hits, APPROXIMATE if times == EFFORTS[0] else EXPANDED
    hits = engine.nearest(vector, wanted, tenant, where, None)
    return hits, EXACT if fitting == engine.rows else EXACT_FILTERED


def wider(effort: int, most: int = MOST_EFFORT) -> int | None:
    """Return twice the effort, or None (all rows) where that is no bargain or reaches ``most``."""
    return 2 * effort if 2 * effort < min(most, MOST_EFFORT) else None
