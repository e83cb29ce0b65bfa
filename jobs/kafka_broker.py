"""``turnmill kafka``: start, stop or look at the embedded broker."""

from __future__ import annotations

from dataclasses import asdict

import click

from jobs.download_progress import download_progress
from jobs.options import Settings, turnmill_command
from pipelines.adapters.kafka_broker import EmbeddedBroker
from pipelines.adapters.kafka_settings import DEFAULT_PARTITIONS, RETENTION_MS
from pipelines.adapters.kafka_topics import ensure_topics, topic_partitions


@click.group("kafka")
def command() -> None:
    """Start, stop or look at the embedded Kafka broker, which is reachable from this machine only."""


@turnmill_command("start")
@click.option("--partitions", type=click.IntRange(1, 1000), default=DEFAULT_PARTITIONS, show_default=True,
              help="Partitions of topics that do not exist yet.")  # fmt: skip
def start(settings: Settings, partitions: int) -> None:
    """Start the broker if it does not run, and create the topics that are missing. It runs until it is stopped."""
    broker = EmbeddedBroker(settings.kafka_folder)
    with download_progress(settings, "Kafka's jars") as progress:
        bootstrap = broker.start(progress=progress)
    report = ensure_topics(bootstrap, partitions=partitions)
    for warning in report.warnings:
        settings.console.print(f"Warning: {warning}", style="yellow")
    if settings.json:
        settings.emit({"bootstrap": bootstrap, "created": report.created, "warnings": report.warnings})
        return
    hours = RETENTION_MS // 3_600_000
    settings.console.print(f"Kafka runs at {bootstrap}; raw records stay in {broker.folder} for {hours} hours.")
    settings.console.print("Next: `turnmill load FILES…`; later `turnmill kafka stop`.")


@turnmill_command("stop")
def stop(settings: Settings) -> None:
    """Stop the broker; its data stays until its retention is over."""
    stopped = EmbeddedBroker(settings.kafka_folder).stop()
    if settings.json:
        settings.emit({"stopped": stopped})
    else:
        settings.console.print("Kafka is stopped." if stopped else "Kafka was not running.")


@turnmill_command("status")
def status(settings: Settings) -> None:
    """Tell where the broker listens, which topics it has, and how long raw text stays in them."""
    found = EmbeddedBroker(settings.kafka_folder).status()
    topics = topic_partitions(found.bootstrap) if found.bootstrap else {}
    hours = RETENTION_MS / 3_600_000
    if settings.json:
        settings.emit({**asdict(found), "topics": topics, "retention_hours": hours})
        return
    if not found.running:
        settings.console.print(f"Kafka is not running; {found.data_bytes / 1e6:.1f} MB of data in {found.folder}.")
        return
    memory = (found.memory_bytes or 0) / 1e6
    settings.console.print(f"Kafka runs at {found.bootstrap} (process {found.pid}, {memory:.0f} MB of memory).")
    settings.console.print(
        f"{found.data_bytes / 1e6:.1f} MB of data in {found.folder}, raw, kept for {hours:.0f} hours."
    )
    for name, partitions in sorted(topics.items()):
        settings.console.print(f"  {name}: {partitions} partitions")


for subcommand in (start, stop, status):
    command.add_command(subcommand)
