"""Kafka -> ``landing``: parse, identify and anonymise, exactly once.

spark-submit $(turnmill spark-args) jobs/ingest_stream.py --lake LAKE --bootstrap HOST:PORT --available-now
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from jobs.kafka_bootstrap import bootstrap_for
from jobs.options import Settings, turnmill_command
from jobs.pipe_anonymize import policy_option
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.kafka_source import MAX_OFFSETS_PER_TRIGGER, records_stream
from pipelines.adapters.lake import Lake
from pipelines.adapters.schema_registry import SchemaRegistry
from pipelines.adapters.spark_session import spark_session
from pipelines.adapters.streams import Watch
from pipelines.intake.landing import Intake, to_landing
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import Policy
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
    # A key that is rotated while the query runs waits for its next start.
    intake = replace(intake, epoch=keys.current_epoch)
    bootstrap = bootstrap_for(settings)
    spark = spark_session("turnmill ingest")
    records = records_stream(spark, bootstrap, topics, max_offsets_per_trigger=max_offsets)
    with StreamJob(spark, lake, schedule) as job:
        log = job.start(QUERY, to_landing(records, intake), LANDING, outcomes="outcome")
        job.run(watch=watch, key_epoch=lambda: intake.epoch or keys.current_epoch)
    return {"query": QUERY, "batches": len(log.seconds), "landing_version": delta.version(lake, LANDING.name)}


def registry_of(url: str | None, auth: Path | None, ca: Path | None) -> SchemaRegistry | None:
    """Return the schema registry that the flags name, its files looked at once before any worker needs them."""
    if url is None:
        if auth or ca:
            raise click.UsageError("--schema-registry-auth and --schema-registry-ca need --schema-registry.")
        return None
    return SchemaRegistry(url, auth and auth.absolute(), ca and ca.absolute()).check()


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
@click.option(
    "--schema-registry",
    "registry_url",
    envvar="TURNMILL_SCHEMA_REGISTRY",
    metavar="URL",
    help="Registry of the schemas that records name (Avro and JSON Schema framing).  [default: none]",
)
@click.option(
    "--schema-registry-auth",
    "registry_auth",
    envvar="TURNMILL_SCHEMA_REGISTRY_AUTH",
    type=click.Path(path_type=Path),
    help="File of mode 0600 that holds user:password for the registry.",
)
@click.option(
    "--schema-registry-ca",
    "registry_ca",
    envvar="TURNMILL_SCHEMA_REGISTRY_CA",
    type=click.Path(path_type=Path),
    help="File of certificates to trust for the registry, instead of the system's.",
)
@policy_option
def command(
    settings: Settings,
    schedule: Schedule,
    policy: Policy,
    max_offsets: int,
    max_record_bytes: int,
    default_consent: str,
    topics: tuple[str, ...],
    registry_url: str | None,
    registry_auth: Path | None,
    registry_ca: Path | None,
) -> None:
    """Run the query as flags say."""
    registry = registry_of(registry_url, registry_auth, registry_ca)
    intake = Intake(
        settings.keys,
        policy,
        max_record_bytes=max_record_bytes,
        default_consent=default_consent,
        schemas=registry,
    )
    figures = ingest(settings, schedule, intake, topics=topics, max_offsets=max_offsets)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
