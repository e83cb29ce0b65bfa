"""Kept turns with their vectors -> vector index: one process, one writer, no JVM."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from duckdb import DuckDBPyConnection

from jobs.options import Settings, UserError, existing_lake, turnmill_command
from jobs.streaming import Schedule, repeatedly, stream_schedule
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import SentenceTransformerEncoder
from pipelines.embedding.models import DEFAULT_MODEL
from pipelines.index.lance import LanceIndex
from pipelines.index.view import differences, sync

MEMORY_LIMIT = "2GB"
"""Of the joins that read the view; more spills to disk."""


def index_turns(
    settings: Settings, schedule: Schedule, encoder: SentenceTransformerEncoder | None = None
) -> dict[str, Any]:
    """Sync the index with its tables once, or until a signal says stop; return the last sync's figures."""
    encoder = encoder or SentenceTransformerEncoder()
    lake = existing_lake(settings)
    index, fingerprint = LanceIndex(lake.index), encoder.fingerprint

    def work() -> dict[str, Any]:
        result = sync(index, lake.table, partial(_connect, lake), model=encoder.name, fingerprint=fingerprint)
        return dataclasses.asdict(result)

    with index.writer():
        return repeatedly(schedule, work)


def _connect(lake: Lake, versions: Mapping[str, int]) -> DuckDBPyConnection:
    return connect(lake, versions=versions, memory_limit=MEMORY_LIMIT)


@turnmill_command("index", help="Kept turns with their vectors -> vector index.")
@stream_schedule
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME",
              help="The model that embedded the texts: its name or a folder.")  # fmt: skip
@click.option(
    "--verify", is_flag=True, help="Afterwards compare the whole index with the tables; exit 1 on a difference."
)
def command(settings: Settings, schedule: Schedule, model: str, verify: bool) -> None:
    """Run the sync as flags say."""
    figures = index_turns(settings, schedule, SentenceTransformerEncoder(model))
    if settings.json:
        settings.emit(figures)
    else:
        done = "built anew" if figures["rebuilt"] else f"{figures['touched']:,} turns touched"
        settings.console.print(f"index: {figures['rows']:,} rows, {done}", markup=False)
    if verify:
        lake = Lake(settings.lake)
        missing, extra = differences(LanceIndex(lake.index), partial(_connect, lake))
        if missing or extra:
            raise UserError(f"the index differs from the tables: {missing} turns are missing, {extra} are too many.")


if __name__ == "__main__":
    command()
