"""``turn_signals`` -> ``embeddings``: each distinct text of kept turns once per model.

spark-submit $(turnmill spark-args) jobs/embed_stream.py --lake LAKE --available-now

On a cluster with GPUs: --conf spark.executor.resource.gpu.amount=1 --conf spark.task.resource.gpu.amount=1
"""

from __future__ import annotations

import datetime as dt

import click
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.embedding.embed import TEXTS_OF_A_TASK, embed, texts_to_embed
from pipelines.embedding.encoder import Encoder, SentenceTransformerEncoder
from pipelines.embedding.models import DEFAULT_MODEL
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

QUERY = "embed"
FILES_OF_A_BATCH = 64
"""Files of ``turn_signals`` that one micro-batch reads, so that a backlog comes in pieces."""


def embed_batch(signals: DataFrame, batch_id: int, lake: Lake, encoder: Encoder) -> int:
    """Embed what is new in the batch, with at most one write; return the number of texts that the model saw."""
    spark = signals.sparkSession
    started_at = dt.datetime.now(dt.UTC)
    if signals.isEmpty():
        return 0
    turns, embeddings = delta.read(spark, lake, TURNS), delta.read(spark, lake, EMBEDDINGS)
    texts = texts_to_embed(signals, turns, embeddings, encoder.fingerprint).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        n_texts = texts.count()
        if n_texts == 0:
            return 0
        tasks = min(spark.sparkContext.defaultParallelism, -(-n_texts // TEXTS_OF_A_TASK))
        rows = embed(texts.repartition(tasks), encoder, started_at).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            rows.count()
            delta.merge(rows, lake, EMBEDDINGS, update=False, txn=(f"{QUERY}:v1", batch_id))
        finally:
            rows.unpersist()
        return n_texts
    finally:
        texts.unpersist()


def embed_turns(settings: Settings, schedule: Schedule, encoder: Encoder | None = None) -> dict:
    """Embed until ``turn_signals`` is drained or a signal says stop; return the query's figures."""
    encoder = encoder or SentenceTransformerEncoder()
    lake = Lake(settings.lake)
    spark = spark_session("turnmill embed")
    n_embedded = 0

    def write_batch(signals: DataFrame, batch_id: int) -> None:
        nonlocal n_embedded
        n_embedded += embed_batch(signals, batch_id, lake, encoder)

    with StreamJob(spark, lake, schedule) as job:
        signals = delta.read_stream(spark, lake, TURN_SIGNALS, maxFilesPerTrigger=FILES_OF_A_BATCH)
        job.start(QUERY, signals, EMBEDDINGS, each_batch=write_batch)
        job.run()
    return {
        "query": QUERY,
        "embedded": n_embedded,
        "model": encoder.name,
        "embeddings_version": delta.version(lake, EMBEDDINGS.name),
    }


@turnmill_command("embed", help="Kept turns -> embeddings: each distinct text once.")
@stream_schedule
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME",
              help="A sentence-transformers model: its name or a folder.")  # fmt: skip
def command(settings: Settings, schedule: Schedule, model: str) -> None:
    """Run the query as flags say."""
    figures = embed_turns(settings, schedule, SentenceTransformerEncoder(model))
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
