"""Searches of a whole DataFrame of questions: each worker opens the index once, and only reads."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from pipelines.index.errors import FingerprintMismatchError, IndexUnreadableError
from pipelines.index.filters import EVERYTHING, Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pipelines.embedding.encoder import Encoder
    from pipelines.index.rows import Found
    from pipelines.index.vector_index import VectorIndex

QUESTION_VECTORS = T.StructType(
    [
        T.StructField("question_id", T.StringType()),
        T.StructField("tenant", T.StringType()),
        T.StructField("vector", T.ArrayType(T.FloatType())),
    ]
)
ANSWERS = T.StructType(
    [
        T.StructField("question_id", T.StringType()),
        T.StructField("rank", T.IntegerType()),
        T.StructField("tenant", T.StringType()),
        T.StructField("turn_id", T.StringType()),
        T.StructField("text_hash", T.StringType()),
        T.StructField("role", T.StringType()),
        T.StructField("lang", T.StringType()),
        T.StructField("score", T.DoubleType()),
        T.StructField("turns_version", T.LongType()),
        T.StructField("plan", T.StringType()),
    ]
)
_ANSWERS_ARROW = pa.schema(
    [("question_id", pa.string()), ("rank", pa.int32()), ("tenant", pa.string()), ("turn_id", pa.string()),
     ("text_hash", pa.string()), ("role", pa.string()), ("lang", pa.string()), ("score", pa.float64()),
     ("turns_version", pa.int64()), ("plan", pa.string())]
)  # fmt: skip


class IndexAt(Protocol, Hashable):
    """Where an index is; picklable, equal for the same index. Opens it, in the process that asks."""

    def __call__(self) -> VectorIndex:
        """Open the index."""


_opened: dict[tuple[int, IndexAt], VectorIndex] = {}


def embed_questions(questions: DataFrame, encoder: Encoder) -> DataFrame:
    """Return ``question_id``, ``tenant`` and ``vector`` of questions (``question_id``, ``tenant``, ``text``)."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            vectors = [encoder.encode_query(text).tolist() for text in batch.column("text").to_pylist()]
            column = pa.array(vectors, pa.list_(pa.float32()))
            names = ["question_id", "tenant", "vector"]
            yield pa.RecordBatch.from_arrays([batch.column("question_id"), batch.column("tenant"), column], names=names)

    return questions.select("question_id", "tenant", "text").mapInArrow(rows, QUESTION_VECTORS)


def search_questions(
    questions: DataFrame, index_at: IndexAt, *, model_fingerprint: str, k: int = 10, where: Predicate = EVERYTHING
) -> DataFrame:
    """Return up to ``k`` rows a question, ``rank`` from 1: the nearest turns of its own tenant.

    Grain: one row per question and hit. ``questions`` has ``question_id``, ``tenant`` and ``vector`` of the model with
    ``model_fingerprint``; a task raises ``FingerprintMismatchError`` where the index is another model's, and
    ``IndexUnreadableError`` where there is none. An embedded index must lie where workers can read it. Many questions
    of one batch are answered in one pass (``batch_search``).
    """

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield _answers(_open(index_at, model_fingerprint), batch, k, where)

    return questions.select("question_id", "tenant", "vector").mapInArrow(rows, ANSWERS)


def _open(index_at: IndexAt, model_fingerprint: str) -> VectorIndex:
    # Spark forks its workers, and no engine's threads survive a fork.
    key = (os.getpid(), index_at)
    if key not in _opened:
        _opened[key] = index_at()
    index = _opened[key]
    standing = index.standing()
    if standing is None:
        raise IndexUnreadableError(f"no readable index in {index.folder}; build it: turnmill index --available-now")
    if standing.model_fingerprint != model_fingerprint:
        raise FingerprintMismatchError(standing.model, standing.model_fingerprint, model_fingerprint)
    return index


def _answers(index: VectorIndex, batch: pa.RecordBatch, k: int, where: Predicate) -> pa.RecordBatch:
    from pipelines.index.batch_search import search_many

    tenants: Sequence[str] = batch.column("tenant").to_pylist()
    ids = batch.column("question_id").to_pylist()
    vectors = batch.column("vector").to_pylist()
    told = []
    for tenant, places in groupby(sorted(range(batch.num_rows), key=tenants.__getitem__), tenants.__getitem__):
        asked = list(places)
        found = search_many(index, np.array([vectors[i] for i in asked], np.float32), k, tenant, where)
        told += [row for i, one in zip(asked, found, strict=True) for row in _rows(ids[i], one)]
    return pa.RecordBatch.from_pylist(told, _ANSWERS_ARROW)


def _rows(question_id: str, found: Found) -> Iterator[dict[str, object]]:
    for rank, hit in enumerate(found.hits, start=1):
        yield {
            "question_id": question_id, "rank": rank, "tenant": hit.tenant, "turn_id": hit.turn_id,
            "text_hash": hit.text_hash, "role": hit.role, "lang": hit.lang, "score": hit.score,
            "turns_version": found.standing.versions.get("turns"), "plan": found.plan,
        }  # fmt: skip
