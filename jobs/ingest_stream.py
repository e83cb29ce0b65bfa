"""Kafka -> ``landing``: parse, identify and anonymise, exactly once.

spark-submit $(turnmill spark-args) jobs/ingest_stream.py --lake LAKE --bootstrap HOST:PORT --available-now
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from jobs.kafka_bootstrap import bootstrap_for
from jobs.lake_queries import INGEST
from jobs.options import Settings, turnmill_command
from jobs.pipe_anonymize import policy_option
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.batch_log import BatchLog
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

QUERY = INGEST
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
    intake, bootstrap = of_this_start(intake), bootstrap_for(settings)
    with StreamJob(spark_session("turnmill ingest"), lake, schedule) as job:
        log = start_ingest(job, bootstrap, intake, topics=topics, max_offsets=max_offsets)
        job.run(watch=watch)
    return {"query": QUERY, "batches": len(log.seconds), "landing_version": delta.version(lake, LANDING.name)}


def of_this_start(intake: Intake) -> Intake:
    """Return ``intake`` under the newest epoch of its keys, which are made where there are none.

    A key that is rotated while the query runs waits for its next start.
    """
    return replace(intake, epoch=KeyFolder(intake.keys).open_or_create().current_epoch)


def start_ingest(
    job: StreamJob,
    bootstrap: str,
    intake: Intake,
    *,
    topics: Sequence[str] = TOPICS,
    max_offsets: int = MAX_OFFSETS_PER_TRIGGER,
) -> BatchLog:
    """Start the query from Kafka to ``landing`` among those of ``job``; return its log."""
    records = records_stream(job.spark, bootstrap, topics, max_offsets_per_trigger=max_offsets)
    return job.start(QUERY, to_landing(records, intake), LANDING, outcomes="outcome", key_epoch=intake.epoch)


def registry_of(url: str | None, auth: Path | None, ca: Path | None) -> SchemaRegistry | None:
    """Return the schema registry that the flags name, its files looked at once before any worker needs them."""
    if url is None:
        if auth or ca:
            raise click.UsageError("--schema-registry-auth and --schema-registry-ca need --schema-registry.")
        return None
    return SchemaRegistry(url, auth and auth.absolute(), ca and ca.absolute()).check()


def intake_of(
    settings: Settings,
    *,
    policy: Policy,
    max_record_bytes: int,
    default_consent: str,
    registry_url: str | None,
    registry_auth: Path | None,
    registry_ca: Path | None,
    **_: Any,
) -> Intake:
    """Return the intake that the flags of the command ask for."""
    return Intake(
        settings.keys,
        policy,
        max_record_bytes=max_record_bytes,
        default_consent=default_consent,
        schemas=registry_of(registry_url, registry_auth, registry_ca),
    )


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
def command(settings: Settings, schedule: Schedule, topics: tuple[str, ...], max_offsets: int, **flags: Any) -> None:
    """Run the query as flags say."""
    intake = intake_of(settings, **flags)
    figures = ingest(settings, schedule, intake, topics=topics, max_offsets=max_offsets)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
