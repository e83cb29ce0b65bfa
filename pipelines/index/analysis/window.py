"""The turns that an analysis looks at: their vectors and texts from the view, a sample of them where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipelines.index.filters import Predicate, arrow_expression
from pipelines.index.rows import Vector, index_schema, matrix, with_schema
from pipelines.index.view import view_sql, with_terms

MOST_TURNS = 200_000
"""A sample of that size tells topics and drift; more would cost memory (300 MB of 384 numbers) and no answer gain."""


@dataclass(frozen=True)
class Window:
    """Turns of a tenant with their unit vectors, all at the same versions of the tables."""

    turns: pa.Table
    vectors: Vector

    @property
    def texts(self) -> list[str]:
        """Texts of the turns."""
        texts: list[str] = self.turns["text"].to_pylist()
        return texts


def read_window(connection: Any, tenant: str, fingerprint: str, where: Predicate, *, most: int = MOST_TURNS) -> Window:
    """Read the turns of ``tenant`` that fit, ordered by hashed id, so that a sample is the same each time."""
    query = (
        f"SELECT * FROM ({view_sql()}) WHERE tenant = $tenant "  # noqa: S608 - the view's own text
        "ORDER BY md5(turn_id), turn_id"
    )
    found = connection.execute(query, {"tenant": tenant, "fingerprint": fingerprint}).to_arrow_table()
    fitting = found.filter(arrow_expression(where)).slice(0, most).combine_chunks()
    if not fitting.num_rows:
        return Window(fitting.drop_columns(["vector"]), matrix(index_schema(1).empty_table()["vector"]))
    schema = index_schema(len(fitting["vector"][0]))
    rows = pa.Table.from_batches([with_schema(with_terms(batch), schema) for batch in fitting.to_batches()])
    return Window(fitting.drop_columns(["vector"]), matrix(rows["vector"]))
