"""Embed the distinct texts of kept turns, each once per model. Grain: one row per (tenant, text hash), in and out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.embedding.encoder import Encoder
from schemas import EMBEDDINGS

TEXTS_OF_A_TASK = 512
"""Texts that are worth a Python worker of their own, which loads the model anew (seconds)."""


def texts_to_embed(signals: DataFrame, turns: DataFrame, embeddings: DataFrame, fingerprint: str) -> DataFrame:
    """Return ``tenant, text_hash, text`` of each distinct text that may be embedded and that the model has not seen.

    ``signals`` are new rows of ``turn_signals``; ``turns`` and ``embeddings`` the whole tables. A turn counts when it
    is kept, has text, and none of its rows says consent ``none``. Texts are looked up among the turns that landed in
    the time span of ``signals``, so Delta reads only their files. Runs one small job at once, for that span.
    """
    landed_at = F.unix_micros("landed_at")
    first, last = signals.agg(F.min(landed_at), F.max(landed_at)).collect()[0]
    kept = signals.where(F.col("keep") & F.col("text_hash").isNotNull()).select("tenant", "turn_id", "text_hash")
    withheld = turns.where(F.col("consent") == "none").select("tenant", "turn_id")
    known = embeddings.where(F.col("model_fingerprint") == fingerprint).select("tenant", "text_hash")
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


def embed(texts: DataFrame, encoder: Encoder, embedded_at: dt.datetime) -> DataFrame:
    """Return the rows of ``embeddings`` for rows of ``tenant, text_hash, text`` without empty texts.

    Not deterministic to the last bit (a vector depends on its batch), so persist the result before it is read twice:
    the model is called again otherwise.
    """
    fingerprint, schema = encoder.fingerprint, EMBEDDINGS.arrow_schema

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            embedded = encoder.encode(batch.column("text").to_pylist())
            n, width = embedded.vectors.shape
            columns = {
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
            }
            yield pa.RecordBatch.from_arrays(
                [columns[field.name].cast(field.type) for field in schema], schema=schema.remove_metadata()
            )

    return texts.mapInArrow(rows, EMBEDDINGS.spark_schema).select(*EMBEDDINGS.column_names)
