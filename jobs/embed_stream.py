"""``turn_signals`` -> ``embeddings``: each distinct text of kept turns once per model.

spark-submit $(turnmill spark-args) jobs/embed_stream.py --lake LAKE --available-now

On a cluster with GPUs: --conf spark.executor.resource.gpu.amount=1 --conf spark.task.resource.gpu.amount=1
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import click
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.embed_parity import compare_backends
from jobs.embedding_model import named_encoder
from jobs.lake_queries import EMBED
from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.embedding.embed import TEXTS_OF_A_TASK, embedded, not_embedded, texts_to_embed, try_to_embed
from pipelines.embedding.encoder import BACKENDS, Backend, Encoder
from pipelines.embedding.models import DEFAULT_MODEL
from schemas import EMBEDDING_FAILURES, EMBEDDINGS, TURN_SIGNALS, TURNS

QUERY = EMBED
FILES_OF_A_BATCH = 64
"""Files of ``turn_signals`` that one micro-batch reads, so that a backlog comes in pieces."""


@dataclass(frozen=True)
class EmbedFigures:
    """What batches cost: turns ``asked`` for, texts that got a vector or failed, and seconds in the model."""

    asked: int = 0
    embedded: int = 0
    failed: int = 0
    model_seconds: float = 0.0

    def __add__(self, other: EmbedFigures) -> EmbedFigures:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
        return EmbedFigures(*(mine + its for mine, its in pairs))

    @property
    def hit_rate(self) -> float:
        """Share of the turns whose text cost no call of the model: known, or a repeat inside the batch."""
        return 1 - (self.embedded + self.failed) / self.asked if self.asked else 0.0

    @property
    def seconds_saved(self) -> float:
        """What the model would have taken for the others, at the mean of those that it saw; 0 where it saw none."""
        seen = self.embedded + self.failed
        return (self.asked - seen) * self.model_seconds / seen if seen else 0.0


def embed_batch(signals: DataFrame, batch_id: int, lake: Lake, encoder: Encoder) -> EmbedFigures:
    """Embed what is new in the batch, with at most one write a table."""
    spark = signals.sparkSession
    started_at = dt.datetime.now(dt.UTC)
    asked = signals.where(F.col("keep") & F.col("text_hash").isNotNull()).count()
    if asked == 0:
        return EmbedFigures()
    turns, embeddings = delta.read(spark, lake, TURNS), delta.read(spark, lake, EMBEDDINGS)
    failures = delta.read(spark, lake, EMBEDDING_FAILURES)
    texts = texts_to_embed(signals, turns, embeddings, failures, encoder.fingerprint)
    texts = texts.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        n_texts = texts.count()
        if n_texts == 0:
            return EmbedFigures(asked)
        tasks = min(spark.sparkContext.defaultParallelism, -(-n_texts // TEXTS_OF_A_TASK))
        tried = try_to_embed(texts.repartition(tasks), encoder, started_at).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            return _write(tried, lake, asked, batch_id)
        finally:
            tried.unpersist()
    finally:
        texts.unpersist()


def _write(tried: DataFrame, lake: Lake, asked: int, batch_id: int) -> EmbedFigures:
    n_embedded, n_failed, seconds = tried.agg(
        F.count_if(F.col("reason").isNull()), F.count("reason"), F.sum("model_seconds")
    ).collect()[0]
    if n_failed:
        delta.merge(not_embedded(tried), lake, EMBEDDING_FAILURES, update=False, txn=(f"{QUERY}:v1", batch_id))
    if n_embedded:
        delta.merge(embedded(tried), lake, EMBEDDINGS, update=False, txn=(f"{QUERY}:v1", batch_id))
    return EmbedFigures(asked, n_embedded, n_failed, seconds)


def embed_turns(settings: Settings, schedule: Schedule, encoder: Encoder | None = None) -> dict:
    """Embed until ``turn_signals`` is drained or a signal says stop; return the query's figures."""
    encoder = encoder or named_encoder()
    lake = Lake(settings.lake)
    spark = spark_session("turnmill embed")
    figures = EmbedFigures()

    def write_batch(signals: DataFrame, batch_id: int) -> None:
        nonlocal figures
        figures += embed_batch(signals, batch_id, lake, encoder)

    with StreamJob(spark, lake, schedule) as job:
        delta.create_table(lake, EMBEDDING_FAILURES)
        signals = delta.read_stream(spark, lake, TURN_SIGNALS, maxFilesPerTrigger=FILES_OF_A_BATCH)
        job.start(QUERY, signals, EMBEDDINGS, each_batch=write_batch)
        job.run()
    return {
        "query": QUERY,
        **dataclasses.asdict(figures),
        "hit_rate": figures.hit_rate,
        "seconds_saved": figures.seconds_saved,
        "model": encoder.name,
        "embeddings_version": delta.version(lake, EMBEDDINGS.name),
    }


@turnmill_command("embed", help="Kept turns -> embeddings: each distinct text once.")
@stream_schedule
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME",
              help="A sentence-transformers model: its name or a folder.")  # fmt: skip
@click.option("--backend", type=click.Choice(BACKENDS), default=None,
              help="What runs the model; the same as NAME@BACKEND.  "
                   "[default: torch; on a CPU openvino, where it is installed]")  # fmt: skip
@click.option("--parity", type=click.Path(path_type=Path, exists=True), default=None, metavar="FILES",
              help="Embed nothing; compare backends on scored sentence pairs: CSV, or a folder of it.")  # fmt: skip
def command(settings: Settings, schedule: Schedule, model: str, backend: Backend | None, parity: Path | None) -> None:
    """Run the query as flags say."""
    if parity is not None:
        compare_backends(settings, parity, model, (backend,) if backend else BACKENDS[1:])
        return
    encoder = named_encoder(f"{model}@{backend}" if backend else model)
    figures = embed_turns(settings, schedule, encoder)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
