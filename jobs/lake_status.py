"""``turnmill status``: what is where, whether it adds up, and how much raw text Kafka still holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
from rich.table import Table as RichTable

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
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


def _index(lake: Lake) -> dict[str, Any] | None:
    """Rows and lag of the index that searches use; None before the first one. Opens no engine."""
    choice = active_choice(lake.index)
    standing = read_standing(lake.index / choice.name) if choice else None
    if standing is None:
        return None
    return {"rows": standing.rows, "lag": dataclasses.asdict(index_lag(lake.table, standing))}


@turnmill_command("status", help="Count what is where, and check that every record is accounted for.")
def command(settings: Settings) -> None:
    """Show versions and rows of all tables, then the accounts; exit 3 when they do not add up."""
    lake = existing_lake(settings)
    connection = connect(lake)
    rows = {t.name: connection.sql(f"SELECT count(*) AS n FROM {t.name}").fetchall()[0][0] for t in TABLES}  # noqa: S608
    versions = {t.name: delta.version(lake, t.name) for t in TABLES}
    found = accounts(connection)
    index = _index(lake)
    broker = EmbeddedBroker(settings.kafka_folder).status()
    if settings.json:
        raw = {"raw_text_bytes": broker.data_bytes, "retention_hours": RETENTION_MS / 3_600_000}
        settings.emit({"rows": rows, "versions": versions, "accounts": found.figures(), "kafka": raw, "index": index})
    else:
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
