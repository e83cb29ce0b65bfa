"""The turns that an analysis looks at: their vectors and texts from the view, a sample of them where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pipelines.embedding.conversation_vectors import conversation_vectors
from pipelines.index.filters import Predicate, arrow_expression
from pipelines.index.rows import Vector, index_schema, matrix, with_schema
from pipelines.index.view import view_sql, with_terms
from schemas import CONVERSATIONS, EMBEDDINGS

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


def read_conversations(
    connection: Any, tenant: str, fingerprint: str, where: Predicate, *, most: int = MOST_TURNS
) -> Window:
    """Read the conversations of ``tenant`` that have a turn that fits, each as one row without calling the model.

    A row's ``turn_id`` is the conversation's id, its ``text`` the texts of the fitting turns of its active path in
    order, its vector their mean by tokens; role and language are those of the first of them, its time is the earliest.
    """
    turns = read_window(connection, tenant, fingerprint, where, most=most)
    connection.register("window_turns", turns.turns.append_column("nth", pa.array(np.arange(turns.turns.num_rows))))
    members = connection.execute(
        f"""
        SELECT conversation_id, nth, n_tokens
        FROM (
            SELECT conversation_id, unnest(turn_ids) AS turn_id, unnest(range(len(turn_ids))) AS place
            FROM {CONVERSATIONS.name} WHERE tenant = $tenant
        )
        JOIN window_turns USING (turn_id)
        JOIN (
            SELECT text_hash, n_tokens FROM {EMBEDDINGS.name}
            WHERE tenant = $tenant AND model_fingerprint = $fingerprint
        ) USING (text_hash)
        ORDER BY md5(conversation_id), conversation_id, place
        """,  # noqa: S608 - names of the schema only
        {"tenant": tenant, "fingerprint": fingerprint},
    ).to_arrow_table()
    connection.unregister("window_turns")
    return _joined(turns, members)


def _joined(turns: Window, members: pa.Table) -> Window:
    ids = np.array(members["conversation_id"].to_pylist(), dtype=object)
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.empty(0, np.intp)
    n_turns = np.diff(np.append(starts, len(ids)))
    nth = members["nth"].to_numpy().astype(np.intp)
    n_tokens = members["n_tokens"].to_numpy().astype(np.int32)
    vectors = conversation_vectors(turns.vectors[nth], n_tokens, n_turns)
    told = np.linalg.norm(vectors, axis=1) > 0
    firsts = turns.turns.take(pa.array(nth[starts]))
    texts = turns.texts
    joined = ["\n".join(texts[row] for row in rows) for rows in np.split(nth, starts[1:])] if len(ids) else []
    firsts = firsts.set_column(firsts.schema.get_field_index("turn_id"), "turn_id", pa.array(ids[starts], pa.string()))
    firsts = firsts.set_column(firsts.schema.get_field_index("text"), "text", pa.array(joined, pa.string()))
    return Window(firsts.filter(pa.array(told)), vectors[told])
