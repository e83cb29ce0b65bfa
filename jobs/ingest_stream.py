"""Kafka -> ``landing``: parse, identify and anonymise, exactly once.

spark-submit $(turnmill spark-args) jobs/ingest_stream.py --lake LAKE --bootstrap HOST:PORT --available-now
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from jobs.kafka_bootstrap import bootstrap_for
from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.kafka_source import MAX_OFFSETS_PER_TRIGGER, records_stream
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.adapters.streams import Watch
from pipelines.intake.landing import Intake, to_landing
from pipelines.privacy.keys import KeyFolder
from schemas import LANDING
from schemas.records import FEEDBACK_TOPIC, LOGS_TOPIC, MAX_RECORD_BYTES

QUERY = "ingest"
TOPICS = (LOGS_TOPIC, FEEDBACK_TOPIC)


def ingest(
    settings: Settings,
    schedule: Schedule,
    intake: Intake,
    *,
    topics: Sequence[str] = TOPICS,
    max_offsets: int = MAX_OFFSETS_PER_TRIGGER,
    watch: Watch | None = None,
) -> dict:
    """Run the ingest query until it has drained the topics or is told to stop; return its figures.

    ``watch`` is told the records read so far.
    """
    lake = Lake(settings.lake)
    keys = KeyFolder(settings.keys).open_or_create()
    bootstrap = bootstrap_for(settings)
    spark = spark_session("turnmill ingest")
    records = records_stream(spark, bootstrap, topics, max_offsets_per_trigger=max_offsets)
    with StreamJob(spark, lake, schedule) as job:
        log = job.start(QUERY, to_landing(records, intake), LANDING, outcomes="outcome")
        job.run(watch=watch, key_epoch=lambda: keys.current_epoch)
    return {"query": QUERY, "batches": len(log.seconds), "landing_version": delta.version(lake, LANDING.name)}


@turnmill_command("ingest", help="Kafka -> landing: parse, identify, anonymise.")
@stream_schedule
@click.option(
    "--max-offsets", default=MAX_OFFSETS_PER_TRIGGER, show_default=True, help="Records a micro-batch at most."
)
@click.option(
    "--max-record-bytes", default=MAX_RECORD_BYTES, show_default=True, help="Larger records are dead letters."
)
@click.option(
    "--default-consent",
    type=click.Choice(["training", "analytics", "none"]),
    default="training",
    show_default=True,
    help="Consent of logs that do not say.",
)
@click.option("--topic", "topics", multiple=True, default=TOPICS, show_default=True, help="Topics to read.")
def command(
    settings: Settings,
    schedule: Schedule,
    max_offsets: int,
    max_record_bytes: int,
    default_consent: str,
    topics: tuple[str, ...],
) -> None:
    """Run the query as flags say."""
    intake = Intake(settings.keys, max_record_bytes=max_record_bytes, default_consent=default_consent)
    figures = ingest(settings, schedule, intake, topics=topics, max_offsets=max_offsets)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
