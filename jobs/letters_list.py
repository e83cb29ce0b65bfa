"""``turnmill dead-letters list|show``: what could not be used, when, and why."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table as RichTable

from jobs.letter_records import one_letter, raw_record
from jobs.options import Settings, existing_lake, turnmill_command
from pipelines.adapters.duck import connect
from schemas.records import DEAD_REASONS, DeadReason

BY_REASON = (
    "SELECT reason, count(*) AS n, count(replayed_as) AS replayed, count(*) - count(payload_encrypted) AS expired, "
    "min(landed_at) AS first_at, max(landed_at) AS last_at "
    "FROM dead_letters GROUP BY reason ORDER BY n DESC, reason"
)
BY_TIME = (
    "SELECT date_trunc(?, landed_at) AS from_time, reason, count(*) AS n, count(replayed_as) AS replayed "
    "FROM dead_letters GROUP BY ALL ORDER BY from_time, n DESC, reason"
)


@turnmill_command("list", help="Count dead letters by reason, first and last landing of each; --by counts over time.")
@click.option("--by", type=click.Choice(["hour", "day"]), help="One row an hour or day (UTC) and reason.")
def list_letters(settings: Settings, by: str | None) -> None:
    """Show one row a reason; replayed letters are counted apart."""
    cursor = connect(existing_lake(settings)).execute(BY_TIME if by else BY_REASON, [by] if by else [])
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    if settings.json:
        settings.emit({"dead_letters": sum(row["n"] for row in found), "over_time" if by else "reasons": found})
        return
    shown = _over_time(found, by) if by else _by_reason(found)
    settings.console.print(shown if found else "No dead letters.")


def _by_reason(found: list[dict[str, Any]]) -> RichTable:
    shown = RichTable("reason", "letters", "replayed", "expired", "first", "last", "what it means")
    for row in found:
        words = DEAD_REASONS.get(DeadReason(row["reason"]), "")
        times = (f"{row[at]:%Y-%m-%d %H:%M}" for at in ("first_at", "last_at"))
        shown.add_row(row["reason"], str(row["n"]), str(row["replayed"]), str(row["expired"]), *times, words)
    return shown


def _over_time(found: list[dict[str, Any]], by: str) -> RichTable:
    shown = RichTable(f"{by} (UTC)", "reason", "letters", "replayed")
    for row in found:
        at = f"{row['from_time']:%Y-%m-%d %H:%M}" if by == "hour" else f"{row['from_time']:%Y-%m-%d}"
        shown.add_row(at, row["reason"], str(row["n"]), str(row["replayed"]))
    return shown


@turnmill_command("show", help="Decrypt one dead letter and print it: AT is TOPIC:PARTITION:OFFSET[:ENTRY:POSITION].")
@click.argument("at")
@click.option("--yes", is_flag=True, help="Do not ask before raw content is shown.")
def show_letter(settings: Settings, at: str, yes: bool) -> None:
    """Print reason, detail and the raw record."""
    row = one_letter(settings, at)
    if not yes:
        click.confirm("This shows raw content, which may hold personal data. Go on?", abort=True, err=True)
    value, headers = raw_record(row, settings)
    names = {name: content.decode("utf-8", "replace") for name, content in headers.items()}
    if settings.json:
        settings.emit({"reason": row["reason"], "detail": row["detail"], "headers": names,
                       "value": value.decode("utf-8", "backslashreplace")})  # fmt: skip
        return
    settings.console.print(f"{row['reason']}: {row['detail'] or DEAD_REASONS[DeadReason(row['reason'])]}", markup=False)
    settings.console.print(f"headers: {names}", markup=False)
    click.echo(value)
