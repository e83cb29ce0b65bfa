"""``turnmill status``: what is where, whether it adds up, and how much raw text Kafka still holds."""

from __future__ import annotations

import click
from rich.table import Table as RichTable

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_broker import EmbeddedBroker
from pipelines.adapters.kafka_settings import RETENTION_MS
from pipelines.conversations.accounting import accounts
from schemas import TABLES


@turnmill_command("status", help="Count what is where, and check that every record is accounted for.")
def command(settings: Settings) -> None:
    """Show versions and rows of all tables, then the accounts; exit 3 when they do not add up."""
    lake = existing_lake(settings)
    connection = connect(lake)
    rows = {t.name: connection.sql(f"SELECT count(*) AS n FROM {t.name}").fetchall()[0][0] for t in TABLES}  # noqa: S608
    versions = {t.name: delta.version(lake, t.name) for t in TABLES}
    found = accounts(connection)
    broker = EmbeddedBroker(settings.kafka_folder).status()
    if settings.json:
        raw = {"raw_text_bytes": broker.data_bytes, "retention_hours": RETENTION_MS / 3_600_000}
        settings.emit({"rows": rows, "versions": versions, "accounts": found.figures(), "kafka": raw})
    else:
        shown = RichTable("table", "rows", "version", title=str(lake.path))
        for name, count in rows.items():
            shown.add_row(name, f"{count:,}", str(versions[name]) if versions[name] >= 0 else "-")
        settings.console.print(shown)
        for name, count in found.figures().items():
            settings.console.print(f"{name.replace('_', ' '):>14}  {count}")
        if not settings.bootstrap:
            held = f"{broker.data_bytes / 1e6:,.1f} MB, at most {RETENTION_MS / 3_600_000:g} hours old"
            settings.console.print(f"Raw text is only in the embedded Kafka: {held} ({settings.kafka_folder}).")
    if not found.balanced and not found.pending:
        raise UserError("the accounts do not add up: see landed_twice, settled_twice, unexplained.", Exit.DATA_GAP)
    if found.pending:
        click.echo(
            f"{found.pending} items have landed and are not settled yet: turnmill settle --available-now", err=True
        )
