"""``turnmill load``: send log files to Kafka, one record a log entry, and account for each of them."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click

from jobs.download_progress import byte_bar
from jobs.kafka_bootstrap import bootstrap_for
from jobs.options import Exit, Settings, UserError, turnmill_command
from pipelines.adapters.kafka_producer import LoadReport, load_files
from pipelines.adapters.kafka_topics import ensure_topics, topic_partitions
from pipelines.intake.formats import FORMAT_OF_NAME
from schemas.records import (
    CONSENT_HEADER,
    CONVERSATION_HEADER,
    FORMAT_HEADER,
    LOGS_TOPIC,
    STREAM_HEADER,
    TENANT_HEADER,
    TOPICS,
    USER_HEADER,
)


@turnmill_command("load")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tenant", help="Tenant that the logs belong to.")
@click.option("--stream", help="Product or channel that they come from.")
@click.option("--user", help="User id of every entry; wins over the log's own.")
@click.option("--conversation", help="Conversation id of every entry; wins over the log's own.")
@click.option(
    "--consent", type=click.Choice(["training", "analytics", "none"]), help="What the entries may be used for."
)
@click.option("--format", "log_format", type=click.Choice(sorted(FORMAT_OF_NAME)), help="Told by shape if not given.")
@click.option("--topic", default=LOGS_TOPIC, show_default=True, help="Topic to send to.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Records a second.  [default: no limit]")
@click.option("--loop", is_flag=True, help="Begin anew after the last file, until interrupted.")
def command(
    settings: Settings, files: tuple[Path, ...], topic: str, rate: float | None, loop: bool, **given: str | None
) -> None:
    """Send log files to Kafka: JSON, JSON lines, either of them with gzip or zstd, Parquet.

    Each entry is one record, its bytes as they stand in the file; bad ones too, so that they become dead letters.
    Exits with 1 unless the cluster has acknowledged every record.
    """
    bootstrap = bootstrap_for(settings)
    _ensure(bootstrap, topic, settings)
    with _interruptible() as interrupted, byte_bar(settings) as bar:
        task = bar.add_task("Loading", total=None if loop else sum(path.stat().st_size for path in files))
        report = load_files(
            files, bootstrap, topic=topic, headers=_headers(given), rate=rate, loop=loop,
            progress=lambda read, sent: bar.update(task, completed=read, description=f"Loading ({sent:,} records)"),
            stop=lambda: bool(interrupted),
        )  # fmt: skip
    _tell(settings, report, topic)
    if interrupted:
        sys.exit(Exit.INTERRUPTED)
    if not report.all_acknowledged:
        sys.exit(Exit.FAILED)


def _ensure(bootstrap: str, topic: str, settings: Settings) -> None:
    if topic in TOPICS:
        for warning in ensure_topics(bootstrap).warnings:
            settings.console.print(f"Warning: {warning}", style="yellow")
    elif topic not in topic_partitions(bootstrap):
        raise UserError(f"There is no topic {topic} at {bootstrap}; create it, or use one of {', '.join(TOPICS)}.")


def _headers(given: dict[str, str | None]) -> dict[str, str]:
    names = {
        "tenant": TENANT_HEADER,
        "stream": STREAM_HEADER,
        "user": USER_HEADER,
        "conversation": CONVERSATION_HEADER,
        "consent": CONSENT_HEADER,
        "log_format": FORMAT_HEADER,
    }
    return {names[option]: value for option, value in given.items() if value is not None}


@contextlib.contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Give a list that a first Ctrl-C or SIGTERM fills; a second one has its usual effect."""
    got: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _: FrameType | None) -> None:
        got.append(number)
        for one, handler in before.items():
            signal.signal(one, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield got
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(settings: Settings, report: LoadReport, topic: str) -> None:
    if settings.json:
        settings.emit(report.figures())
        return
    seconds = max(report.seconds, 1e-9)
    settings.console.print(
        f"{report.acknowledged:,} records ({report.bytes / 1e6:,.1f} MB) acknowledged by {topic} in {seconds:.1f} s, "
        f"{report.failed:,} failed, {report.unknown:,} unknown."
    )
    for reason, times in sorted(report.reasons.items()):
        settings.console.print(f"  {reason}: {times:,}")
    if report.error:
        settings.console.print(f"  {report.error}")
