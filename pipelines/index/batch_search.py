"""Many questions at once: one pass over all rows by blocked products where that is cheaper than asking one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from pipelines.index import planner
from pipelines.index.filters import EVERYTHING, Predicate, arrow_expression, equals
from pipelines.index.resident import top_k
from pipelines.index.rows import HIT_COLUMNS, Found, Hit, Vector, checked_vector, matrix
from pipelines.index.vector_index import VectorIndex

ROWS_A_QUESTION = 5_000
"""Rows that one pass compares in the time of one approximate question, with hundreds of questions (two cores)."""


def search_many(index: VectorIndex, vectors: Vector, k: int, tenant: str, where: Predicate = EVERYTHING) -> list[Found]:
    """Return for each of the float32 [m, d] ``vectors`` the ``k`` nearest turns that ``where`` lets through."""
    standing = index.standing()
    if standing is None or len(vectors) * ROWS_A_QUESTION < standing.rows:
        return [index.search(vector, k, tenant, where) for vector in vectors]
    if not standing.rows or not len(vectors) or k < 1:
        return [Found(standing, [], planner.NOTHING) for _ in vectors]
    units = np.stack([checked_vector(vector, standing.dimension) for vector in vectors])
    chosen = list(_chosen(index.scan(), tenant, where))
    if not chosen:
        return [Found(standing, [], planner.NOTHING) for _ in vectors]
    scores, rows = top_k(units, (matrix(batch["vector"]) for batch in chosen), k)
    columns = pa.Table.from_batches([batch.select(HIT_COLUMNS) for batch in chosen])
    return [
        Found(standing, _hits(columns, found, score), planner.EXACT) for found, score in zip(rows, scores, strict=True)
    ]


def _chosen(batches: Iterator[pa.RecordBatch], tenant: str, where: Predicate) -> Iterator[pa.RecordBatch]:
    expression = arrow_expression(equals(tenant=tenant)) & arrow_expression(where)
    for batch in batches:
        yield from pa.Table.from_batches([batch]).filter(expression).to_batches()


def _hits(columns: pa.Table, rows: np.ndarray, scores: np.ndarray) -> list[Hit]:
    found = columns.take(pa.array(rows)).to_pylist()
    return [Hit(**row, score=float(score)) for row, score in zip(found, scores, strict=True)]
