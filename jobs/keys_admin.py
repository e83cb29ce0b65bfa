"""``turnmill keys list|rotate``: the epochs of a lake's keys, which rows still need them, and the next one."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

import click
from rich.table import Table as RichTable

from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from schemas import TABLES

EPOCH_COLUMN = "key_epoch"


@dataclass
class Epoch:
    """One epoch: when its keys were made (None where a key service holds them or they are gone), rows by table."""

    epoch: int
    made_at: dt.datetime | None
    has_keys: bool
    in_force: bool
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def may_go(self) -> bool:
        """Tell whether no row needs the keys any more and newer ones are in force."""
        return self.has_keys and not self.in_force and not any(self.rows.values())


@turnmill_command("list", help="List the epochs of the keys: when they were made and how many rows carry them.")
def list_epochs(settings: Settings) -> None:
    """Show one row an epoch; an epoch that rows carry and whose keys are gone is told as missing."""
    found = epochs(settings)
    if settings.json:
        settings.emit({"epochs": [_figures(one) for one in found]})
        return
    shown = RichTable("epoch", "made", "rows", "state", title=str(settings.keys))
    for one in found:
        rows = ", ".join(f"{count:,} {table}" for table, count in one.rows.items() if count)
        made = f"{one.made_at:%Y-%m-%d %H:%M}" if one.made_at else "-"
        shown.add_row(str(one.epoch), made, rows or "none", _state(one))
    settings.console.print(shown)


@turnmill_command("rotate", help="Make the keys of the next epoch; ingest uses them from its next start on.")
def rotate(settings: Settings) -> None:
    """Prepare an epoch. Rows keep theirs: no row is written anew, and old keys stay until no row carries them."""
    try:
        before = KeyFolder(settings.keys).open().current_epoch
        prepared = KeyFolder(settings.keys).prepare_epoch()
    except KeyFolderError as error:
        raise UserError(str(error)) from error
    if settings.json:
        settings.emit({"prepared": prepared, "in_force": before})
        return
    settings.console.print(
        f"Epoch {prepared} is ready. Running jobs go on with theirs; ingest uses it from its next start on.\n"
        f"Keep the keys of epoch {before} until `turnmill keys list` says that no row carries it."
    )


def epochs(settings: Settings) -> list[Epoch]:
    """Return all epochs that have keys or that rows of the lake carry, oldest first."""
    try:
        keys = KeyFolder(settings.keys).open()
        known, current = keys.epochs, keys.current_epoch
    except KeyFolderError as error:
        raise UserError(str(error)) from error
    carried = rows_by_epoch(Lake(settings.lake)) if settings.lake.is_dir() else {}
    return [
        Epoch(epoch, keys.made_at(epoch), epoch in known, epoch == current, carried.get(epoch, {}))
        for epoch in sorted({*known, *carried})
    ]


def rows_by_epoch(lake: Lake) -> dict[int, dict[str, int]]:
    """Return for each epoch the number of rows that carry it, by table."""
    connection = connect(lake)
    found: dict[int, dict[str, int]] = {}
    for table in TABLES:
        if EPOCH_COLUMN in table.column_names and lake.exists(table.name):
            query = f"SELECT {EPOCH_COLUMN}, count(*) FROM {table.name} WHERE {EPOCH_COLUMN} IS NOT NULL GROUP BY 1"  # noqa: S608 - names of this module
            for epoch, count in connection.sql(query).fetchall():
                found.setdefault(epoch, {})[table.name] = count
    return found


def _figures(one: Epoch) -> dict[str, Any]:
    figures = {"epoch": one.epoch, "made_at": one.made_at, "rows": one.rows, "state": _state(one)}
    return {**figures, "made_at": one.made_at.isoformat() if one.made_at else None}


def _state(one: Epoch) -> str:
    if not one.has_keys:
        return "missing"
    return "in force" if one.in_force else "may go" if one.may_go else "needed"


command = click.Group(
    "keys", commands=[list_epochs, rotate], help="List the epochs of the keys and prepare the next one."
)
