"""``turnmill status``: how each job does, what is where, whether it adds up, how much raw text Kafka still holds."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import click
from rich.console import Group
from rich.live import Live
from rich.table import Table as RichTable

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from jobs.status_jobs import Deployments, JobLine, complaints, figures, look, screen
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_broker import EmbeddedBroker
from pipelines.adapters.kafka_settings import RETENTION_MS
from pipelines.adapters.lake import Lake
from pipelines.conversations.accounting import accounts
from pipelines.index.by_model import active_choice
from pipelines.index.lag import index_lag
from pipelines.index.standing import read_standing
from schemas import TABLES

WATCH_SECONDS = 2.0


def _index(lake: Lake) -> dict[str, Any] | None:
    """Rows and lag of the index that searches use; None before the first one. Opens no engine."""
    choice = active_choice(lake.index)
    standing = read_standing(lake.index / choice.name) if choice else None
    if standing is None:
        return None
    return {"rows": standing.rows, "lag": dataclasses.asdict(index_lag(lake.table, standing))}


@turnmill_command("status", help="See each job and its lag, count what is where, and check that all is accounted for.")
@click.option("--watch", is_flag=True, help="Show the jobs alone, again every two seconds, until interrupted.")
@click.option("--ready", "probe", is_flag=True, help="Tell the jobs alone; exit 1 where one is not ready.")
def command(settings: Settings, *, watch: bool, probe: bool) -> None:
    """Show jobs, tables and accounts; exit 3 when the accounts do not add up."""
    lake = existing_lake(settings)
    if watch:
        _watch(settings, lake)
    elif probe:
        _probe(settings, lake)
    else:
        _count(settings, lake)


def _look(settings: Settings, lake: Lake) -> tuple[Deployments, list[JobLine]]:
    return look(lake, EmbeddedBroker(settings.kafka_folder), settings.bootstrap)


def _watch(settings: Settings, lake: Lake) -> None:
    if settings.json:
        while True:
            settings.emit(figures(*_look(settings, lake)))
            time.sleep(WATCH_SECONDS)
    with Live(console=settings.console, screen=settings.console.is_terminal, auto_refresh=False) as live:
        while True:
            deployments, lines = _look(settings, lake)
            shown = screen(f"{lake.path}  {time.strftime('%H:%M:%S')}", deployments, lines)
            live.update(Group(shown, *complaints(lines)), refresh=True)
            time.sleep(WATCH_SECONDS)


def _probe(settings: Settings, lake: Lake) -> None:
    deployments, lines = _look(settings, lake)
    told = figures(deployments, lines)
    if settings.json:
        settings.emit(told)
    elif told["ready"]:
        click.echo("ready")
    if not told["ready"]:
        raise UserError("not ready: " + "; ".join(f"{job}: {why}" for job, why in told["troubles"].items()))


def _count(settings: Settings, lake: Lake) -> None:
    deployments, lines = _look(settings, lake)
    connection = connect(lake)
    rows = {t.name: connection.sql(f"SELECT count(*) AS n FROM {t.name}").fetchall()[0][0] for t in TABLES}  # noqa: S608
    versions = {t.name: delta.version(lake, t.name) for t in TABLES}
    found = accounts(connection)
    index = _index(lake)
    broker = EmbeddedBroker(settings.kafka_folder).status()
    if settings.json:
        raw = {"raw_text_bytes": broker.data_bytes, "retention_hours": RETENTION_MS / 3_600_000}
        settings.emit(
            {"rows": rows, "versions": versions, "accounts": found.figures(), "kafka": raw, "index": index}
            | figures(deployments, lines)
        )
    else:
        settings.console.print(screen(str(lake.path), deployments, lines), *complaints(lines), sep="\n")
        shown = RichTable("table", "rows", "version", title=str(lake.path))
        for name, count in rows.items():
            shown.add_row(name, f"{count:,}", str(versions[name]) if versions[name] >= 0 else "-")
        settings.console.print(shown)
        for name, count in found.figures().items():
            settings.console.print(f"{name.replace('_', ' '):>14}  {count}")
        if index:
            behind = f"{sum(index['lag']['versions'].values())} commits and {index['lag']['seconds']:,.1f} s"
            settings.console.print(f"The index has {index['rows']:,} rows and is {behind} behind its tables.")
        if not settings.bootstrap:
            held = f"{broker.data_bytes / 1e6:,.1f} MB, at most {RETENTION_MS / 3_600_000:g} hours old"
            settings.console.print(f"Raw text is only in the embedded Kafka: {held} ({settings.kafka_folder}).")
    if not found.balanced and not found.pending:
        raise UserError("the accounts do not add up: see landed_twice, settled_twice, unexplained.", Exit.DATA_GAP)
    if found.pending:
        click.echo(
            f"{found.pending} items have landed and are not settled yet: turnmill settle --available-now", err=True
        )
