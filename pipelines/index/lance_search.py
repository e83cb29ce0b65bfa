"""How a trained table in Lance is searched: partitions, filters, and the references of what is found."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lancedb.expr import col, lit

from pipelines.index.filters import EVERYTHING, All, Any_, Compare, Comparison, OneOf, Predicate, compared, equals
from pipelines.index.references import References
from pipelines.index.rows import HIT_COLUMNS, Hit, Key, Vector
from pipelines.index.standing import Standing

PQ_ROWS = 2_000_000
"""From here on vectors are also held compressed (vectors.md, 2.4)."""

NPROBES, REFINE = 32, 10
"""Partitions that a search visits, and candidates a hit that are compared in full where vectors are compressed.

Of 100,000 clustered vectors of 384 numbers in 316 partitions, recall at 10 is 0.85 with 8, 0.93 with 16, 0.98 with 24
and 0.999 with 32, for about 5 ms of one core each: most of a search is not in its partitions. Twice as many partitions
need twice as many visits and twice the training; scalar quantisation (IVF_SQ) ends at 0.97, and compared in full again
costs more than what it saves.
"""

IDS_OF_A_DELETE = 5000
COUNTS_KEPT = 256


def partitions(rows: int) -> int:
    """Return how many partitions to train: finding the nearest ones costs as much as looking into some of them."""
    return max(1, math.isqrt(rows))


def efforts_of_all(rows: int) -> int:
    """Return the effort that visits all partitions of an index trained on ``rows``."""
    return -(-partitions(rows) // NPROBES)


@dataclass
class LanceSearch:
    """A trained table at one version as the planner sees it."""

    table: Any
    standing: Standing
    approximate: bool = True
    _counts: dict[tuple[str, Predicate], int] = field(default_factory=dict)
    _references: References = field(default_factory=References)

    @property
    def rows(self) -> int:
        """Rows of all tenants."""
        return self.standing.rows

    def count(self, tenant: str, where: Predicate) -> int:
        """Return how many rows of the tenant fit."""
        asked = (tenant, where)
        if asked not in self._counts:
            if len(self._counts) >= COUNTS_KEPT:
                self._counts.clear()
            self._counts[asked] = self.table.count_rows(filter_of(tenant, where).to_sql())
        return self._counts[asked]

    def nearest(self, vector: Vector, k: int, tenant: str, where: Predicate, effort: int | None) -> list[Hit]:
        """Return up to ``k`` nearest rows that fit; with ``effort`` None the exact ones."""
        query = self.table.search(vector).distance_type("cosine")
        if self.count(tenant, where) < self.rows:
            query = query.where(filter_of(tenant, where), prefilter=True)
        if effort is None:
            query = query.bypass_vector_index()
        else:
            query = query.nprobes(NPROBES * effort)
            if self.rows >= PQ_ROWS:
                query = query.refine_factor(REFINE * effort)
        query = query.limit(k)
        if self._references.ready(self.table, self.rows):
            found = query.with_row_id(True).select(["_distance"]).to_arrow()
            return self._references.hits(found["_rowid"].to_numpy(), 1.0 - found["_distance"].to_numpy())
        rows = query.select([*HIT_COLUMNS, "_distance"]).to_arrow().to_pylist()
        return [Hit(score=1.0 - row.pop("_distance"), **row) for row in rows]


def lance_expression(predicate: Predicate) -> Any:
    """Return the predicate as an expression of Lance; values are never part of a query's text."""
    match predicate:
        case Compare(column, op, value):
            return compared(op, col(column), lit(value))
        case OneOf(column, values, negated):
            test: Comparison = "!=" if negated else "="
            parts = [Compare(column, test, value) for value in values]
            return lance_expression(All(tuple(parts)) if negated else Any_(tuple(parts)))
        case All(parts) if parts:
            return functools.reduce(lambda a, b: a & b, map(lance_expression, parts))
        case Any_(parts) if parts:
            return functools.reduce(lambda a, b: a | b, map(lance_expression, parts))
    return lit(isinstance(predicate, All))


def filter_of(tenant: str, where: Predicate) -> Any:
    """Return the expression of the tenant's rows that ``where`` lets through."""
    own = equals(tenant=tenant)
    return lance_expression(own if where == EVERYTHING else All((own, where)))


def key_filters(keys: Iterable[Key]) -> Iterator[Any]:
    """Yield expressions that together hold exactly the rows of ``keys``."""
    by_tenant: dict[str, list[str]] = {}
    for tenant, turn_id in keys:
        by_tenant.setdefault(tenant, []).append(turn_id)
    for tenant, turn_ids in by_tenant.items():
        for start in range(0, len(turn_ids), IDS_OF_A_DELETE):
            yield (col("tenant") == lit(tenant)) & col("turn_id").isin(turn_ids[start : start + IDS_OF_A_DELETE])
