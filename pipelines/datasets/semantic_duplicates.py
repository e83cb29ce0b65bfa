"""Exchanges of a lake that say the same in other words. Grain: one row per exchange that repeats another one.

Not row-wise: a batch stage; a tenant's exchanges are compared in one task, 3 kB of vectors each with a model of 384
numbers. Vectors are those of the table ``embeddings``; an exchange without both of them is not compared.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.datasets.topic_rows import one_model
from pipelines.duplicates.index import AcceptedIndex, Verdict
from pipelines.duplicates.semantic import semantic_exchanges

DUPLICATE_COLUMNS = ["tenant", "subject_id", "matched_id", "score"]
_DUPLICATES = "tenant string, subject_id string, matched_id string, score double"
SIDES = ("question", "answer")


def find_semantic_duplicates(exchanges: DataFrame, embeddings: DataFrame, threshold: float) -> DataFrame:
    """Return ``tenant, subject_id, matched_id, score`` of each exchange that repeats an earlier one (``at``, then id).

    ``exchanges`` are rows of ``tenant, subject_id, at, text, question_hash, answer_hash``, hashes being those of
    ``embeddings``. Question and answer must each reach ``threshold``, a cosine; the score is the lower one. Where
    several models have made vectors, those of the model with most of a tenant's rows count.
    """
    vectors = one_model(embeddings)
    rows = exchanges.select("tenant", "subject_id", "at", "text", *(f"{side}_hash" for side in SIDES))
    for side in SIDES:
        own = vectors.select("tenant", F.col("text_hash").alias(f"{side}_hash"), F.col("vector").alias(side))
        rows = rows.join(own, ["tenant", f"{side}_hash"]).drop(f"{side}_hash")
    return rows.groupBy("tenant").applyInArrow(_decider(threshold), _DUPLICATES).select(*DUPLICATE_COLUMNS)


def _decider(threshold: float) -> Callable[[pa.Table], pa.Table]:
    def decided(rows: pa.Table) -> pa.Table:
        rows = rows.sort_by([("at", "ascending"), ("subject_id", "ascending")])
        ids: list[str] = rows.column("subject_id").to_pylist()
        batch = AcceptedIndex().batch(ids, rows.column("text").to_pylist(), ranks=list(range(len(ids))))
        questions, answers = (_unit(rows.column(side)) for side in SIDES)
        verdicts = semantic_exchanges(batch, questions, answers, threshold)
        gone = [one.dropped for one in verdicts]
        return _table(rows.filter(pa.array(gone, pa.bool_())), [one for one in verdicts if one.dropped])

    return decided


def _table(gone: pa.Table, verdicts: list[Verdict]) -> pa.Table:
    return pa.table(
        {
            "tenant": gone.column("tenant").cast(pa.string()),
            "subject_id": gone.column("subject_id").cast(pa.string()),
            "matched_id": pa.array([one.matched_id for one in verdicts], pa.string()),
            "score": pa.array([one.score for one in verdicts], pa.float64()),
        }
    )


def _unit(column: pa.ChunkedArray) -> np.ndarray:
    """Return stored vectors as float32 [rows, d]; stored ones are of unit length up to the rounding of their type."""
    values = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    vectors = values.reshape(len(column), -1)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
