"""``turnmill dataset list|show``: the versions that were cut, and what one of them rests on."""

from __future__ import annotations

from typing import Any

import click
import orjson
from rich.table import Table as RichTable

from jobs.dataset_choice import LATEST, chosen_version
from jobs.options import Settings, existing_lake, turnmill_command
from pipelines.adapters.duck import connect

ALL_VERSIONS = (
    "SELECT dataset_version, created_at, gate, n_train, n_validation, drop_counts, withdrawn_at FROM dataset_versions "
    "ORDER BY created_at DESC, dataset_version"
)


@turnmill_command("list", help="List dataset versions, the newest first.")
def list_versions(settings: Settings) -> None:
    """Show one row a version, held and withdrawn ones too."""
    cursor = connect(existing_lake(settings)).execute(ALL_VERSIONS)
    names = [column[0] for column in cursor.description]
    found = [_told(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
    if settings.json:
        settings.emit({"dataset_versions": found})
        return
    shown = RichTable("version", "cut (UTC)", "gate", "train", "validation", "dropped", "withdrawn")
    for row in found:
        withdrawn = f"{row['withdrawn_at']:%Y-%m-%d}" if row["withdrawn_at"] else ""
        counts = (f"{row[name]:,}" for name in ("n_train", "n_validation", "n_dropped"))
        shown.add_row(row["dataset_version"], f"{row['created_at']:%Y-%m-%d %H:%M}", row["gate"], *counts, withdrawn)
    settings.console.print(shown if found else "No dataset versions yet; `turnmill curate` cuts one.")


def _told(row: dict[str, Any]) -> dict[str, Any]:
    dropped = row.pop("drop_counts") or {}
    return row | {"n_dropped": sum(dict(dropped).values())}


@turnmill_command("show", help="Show the manifest of a version: a name, the beginning of one, or latest.")
@click.argument("version", default=LATEST)
def show_version(settings: Settings, version: str) -> None:
    """Print what the version rests on: source versions, policy, counts, gate, hashes."""
    manifest = dict(chosen_version(settings, version).manifest)
    if settings.json:
        settings.emit(manifest)
        return
    click.echo(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
