"""Upkeep of all tables beside running streams: join small files, remove old ones, let old payloads go.

turnmill maintain --every 600
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

import click
from rich.table import Table as RichTable

from jobs.lake_queries import ASSEMBLE, INDEX, SOURCES
from jobs.letters_expire import Age
from jobs.options import Settings, existing_lake, turnmill_command
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from pipelines.adapters.lake import Lake
from pipelines.adapters.payload_expiry import count_payloads, expire_payloads
from pipelines.adapters.progress import Progress
from pipelines.adapters.stream_lag import committed, next_version
from pipelines.adapters.table_upkeep import Reader, keep_up
from pipelines.index.by_model import active_choice
from pipelines.index.standing import read_standing
from schemas import TABLES

JOB = "maintain"


def readers(lake: Lake) -> list[Reader]:
    """Return every stream, batch and index that reads tables version by version, and where it stands."""
    found = []
    for query, table in SOURCES.items():
        _, _, offsets = committed(lake.checkpoint(query))
        found += [Reader(query, table.name, next_version(one)) for one in offsets if "reservoirVersion" in one]
    done = Progress(lake, ASSEMBLE).versions
    found += [Reader(ASSEMBLE, table, version + 1) for table, version in done.items()]
    choice = active_choice(lake.index)
    if choice is not None and (standing := read_standing(lake.index / choice.name)) is not None:
        found += [Reader(INDEX, table, version + 1) for table, version in standing.versions.items()]
    return found


def maintain(settings: Settings, *, expire: dt.timedelta | None = None, dry_run: bool = False) -> dict[str, Any]:
    """Do the upkeep of each table once; return what was done by table.

    ``expire`` lets go of the payloads of dead letters that landed longer ago.
    """
    lake = existing_lake(settings)
    with one_driver(lake, JOB):
        expired = 0
        if expire is not None:
            before = dt.datetime.now(dt.UTC) - expire
            expired = count_payloads(lake, before)
            if expired and not dry_run:
                expire_payloads(lake, before)
        standing = readers(lake)
        names = [table.name for table in TABLES if lake.exists(table.name)]
        done = [keep_up(lake, name, standing, dry_run=dry_run) for name in names]
    return {"job": JOB, "dry_run": dry_run, "expired": expired, "tables": [dataclasses.asdict(one) for one in done]}


@turnmill_command(JOB, help="Join small files, remove old ones, let old payloads go; streams run on.")
@click.option("--expire-letters", type=Age(), default=None,
              help="Let go of payloads of dead letters older than this, such as 30d.  [default: never]")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Tell what would be done, change nothing.")
@batch_schedule
def command(settings: Settings, schedule: Schedule, expire_letters: dt.timedelta | None, *, dry_run: bool) -> None:
    """Run once or again and again, as flags say."""
    figures = repeatedly(schedule, JOB, lambda: maintain(settings, expire=expire_letters, dry_run=dry_run))
    if settings.json:
        settings.emit(figures)
        return
    shown = RichTable("table", "files before", "after", "removed", "joined", "note")
    for one in figures["tables"]:
        note = one["held"] or ("another writer was faster: next time" if one["gave_way"] else "")
        joined = f"{one['bytes_joined'] / 1e6:,.1f} MB" if one["bytes_joined"] else "-"
        counts = (f"{one[key]:,}" for key in ("files_before", "files_after", "files_removed"))
        shown.add_row(one["table"], *counts, joined, note)
    settings.console.print(shown)
    if expire_letters is not None:
        settings.console.print(f"{figures['expired']:,} payloads expired.")


if __name__ == "__main__":
    command()
