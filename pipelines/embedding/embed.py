"""Embed the distinct texts of kept turns, each once per model. Grain: one row per (tenant, text hash), in and out."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.embedding.encoder import Encoder
from schemas import EMBEDDING_FAILURES, EMBEDDINGS

TEXTS_OF_A_TASK = 512
"""Texts that are worth a Python worker of their own, which loads the model anew (seconds)."""


def texts_to_embed(
    signals: DataFrame, turns: DataFrame, embeddings: DataFrame, failures: DataFrame, fingerprint: str
) -> DataFrame:
    """Return ``tenant, text_hash, text`` of each distinct text that may be embedded and that the model has not seen.

    ``signals`` are new rows of ``turn_signals``; ``turns``, ``embeddings`` and ``failures`` the whole tables. A turn
    counts when it is kept, has text, and none of its rows says consent ``none``. Texts are looked up among the turns
    that landed in the time span of ``signals``, so Delta reads only their files. Runs one small job at once, for that
    span.
    """
    landed_at = F.unix_micros("landed_at")
    first, last = signals.agg(F.min(landed_at), F.max(landed_at)).collect()[0]
    kept = signals.where(F.col("keep") & F.col("text_hash").isNotNull()).select("tenant", "turn_id", "text_hash")
    withheld = turns.where(F.col("consent") == "none").select("tenant", "turn_id")
    tried = embeddings.select("tenant", "text_hash", "model_fingerprint").unionByName(
        failures.select("tenant", "text_hash", "model_fingerprint")
    )
    known = tried.where(F.col("model_fingerprint") == fingerprint).select("tenant", "text_hash")
    wanted = (
        kept.join(withheld, on=["tenant", "turn_id"], how="left_anti")
        .select("tenant", "text_hash")
        .distinct()
        .join(known, on=["tenant", "text_hash"], how="left_anti")
    )
    landed = turns.where(F.col("landed_at").between(F.timestamp_micros(F.lit(first)), F.timestamp_micros(F.lit(last))))
    return (
        landed.where(F.col("text").rlike(r"\S"))
        .select("tenant", "text_hash", "text")
        .join(wanted, on=["tenant", "text_hash"], how="left_semi")
        .dropDuplicates(["tenant", "text_hash"])
    )


def try_to_embed(texts: DataFrame, encoder: Encoder, embedded_at: dt.datetime) -> DataFrame:
    """Return one row a text: the columns of ``embeddings``, ``reason`` where there is no vector, ``model_seconds``.

    ``texts`` are rows of ``tenant, text_hash, text`` without empty texts. ``model_seconds`` is the text's share of the
    time that its call of the model took. Not deterministic to the last bit (a vector depends on its batch), so persist
    the result before it is read twice: the model is called again otherwise.
    """
    fingerprint = encoder.fingerprint
    schema = pa.schema(
        [*EMBEDDINGS.arrow_schema.remove_metadata(), ("reason", pa.string()), ("model_seconds", pa.float64())]
    )

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            started = time.perf_counter()
            embedded = encoder.encode(batch.column("text").to_pylist())
            seconds = time.perf_counter() - started
            n, width = embedded.vectors.shape
            columns: dict[str, Any] = {
                "tenant": batch.column("tenant"),
                "text_hash": batch.column("text_hash"),
                "model_fingerprint": pa.array([fingerprint] * n),
                "model": pa.array([encoder.name] * n),
                "vector": pa.ListArray.from_arrays(
                    pa.array(range(0, (n + 1) * width, width), type=pa.int32()), pa.array(embedded.vectors.ravel())
                ),
                "n_tokens": pa.array(embedded.n_tokens),
                "truncated": pa.array(embedded.truncated),
                "backend": pa.array([embedded.backend] * n),
                "embedded_at": pa.array([embedded_at] * n),
                "reason": pa.array([embedded.failures.get(row) for row in range(n)], type=pa.string()),
                "model_seconds": pa.array([seconds / n] * n),
            }
            yield pa.RecordBatch.from_arrays([columns[f.name].cast(f.type) for f in schema], schema=schema)

    tried = T.StructType(
        [
            *EMBEDDINGS.spark_schema.fields,
            T.StructField("reason", T.StringType()),
            T.StructField("model_seconds", T.DoubleType()),
        ]
    )
    return texts.mapInArrow(rows, tried)


def embedded(tried: DataFrame) -> DataFrame:
    """Return the rows of ``embeddings``."""
    return tried.where(F.col("reason").isNull()).select(*EMBEDDINGS.column_names)


def not_embedded(tried: DataFrame) -> DataFrame:
    """Return the rows of ``embedding_failures``."""
    failed = tried.where(F.col("reason").isNotNull()).withColumnRenamed("embedded_at", "failed_at")
    return failed.select(*EMBEDDING_FAILURES.column_names)
