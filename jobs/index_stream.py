"""Kept turns with their vectors -> vector index: one process, one writer, no JVM."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from duckdb import DuckDBPyConnection

from jobs.embedding_model import named_encoder
from jobs.index_choice import open_index
from jobs.lake_queries import INDEX
from jobs.options import Settings, UserError, existing_lake, turnmill_command
from jobs.streaming import Schedule, repeatedly, stream_schedule
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.embedding.encoder import SentenceTransformerEncoder
from pipelines.embedding.models import DEFAULT_MODEL
from pipelines.index.by_model import ENGINES, Choice, activate, active_choice, drop_others
from pipelines.index.lag import index_lag
from pipelines.index.recall_audit import Audit, keep_recall
from pipelines.index.vector_index import VectorIndex
from pipelines.index.view import differences, sync

QUERY = INDEX
MEMORY_LIMIT = "2GB"
"""Of the joins that read the view; more spills to disk."""

AUDIT_SECONDS = 1800.0
"""How often a running job compares a sample of searches with exact ones; it does so once when it drains."""


@dataclasses.dataclass(frozen=True)
class IndexFlags:
    """What the flags of the command ask for."""

    engine: str | None = None
    url: str | None = None
    activate: bool = False


def index_turns(
    settings: Settings,
    schedule: Schedule,
    encoder: SentenceTransformerEncoder | None = None,
    flags: IndexFlags | None = None,
) -> dict[str, Any]:
    """Sync the model's index with its tables once, or until a signal says stop; return the last sync's figures.

    The first index of a lake is the one that searches use; a later one of another model only when ``activate`` says so.
    """
    flags = flags or IndexFlags()
    encoder = encoder or named_encoder()
    lake = existing_lake(settings)
    active = active_choice(lake.index)
    engine = flags.engine or (active.engine if active else ENGINES[0])
    choice = Choice(engine, encoder.fingerprint, flags.url or (active.url if active else None))
    index = open_index(lake.index, choice)
    work = _Work(lake, index, encoder.name, encoder.fingerprint)

    def sync_and_activate() -> dict[str, Any]:
        nonlocal active
        figures = work.sync()
        if active is None or (flags.activate and active != choice):
            activate(lake.index, choice)
            active = choice
        return figures

    with index.writer():
        figures = repeatedly(schedule, QUERY, sync_and_activate)
    return figures | {"engine": choice.engine, "active": active == choice}


class _Work:
    """One sync after the other, and an audit now and then."""

    def __init__(self, lake: Lake, index: VectorIndex, model: str, fingerprint: str) -> None:
        self.lake, self.index, self.model, self.fingerprint = lake, index, model, fingerprint
        self.verified, self.audited_at = False, -AUDIT_SECONDS
        self.audit: Audit | None = None

    def sync(self) -> dict[str, Any]:
        started = time.monotonic()
        behind = index_lag(self.lake.table, self.index.standing())
        result = sync(
            self.index,
            self.lake.table,
            partial(_connect, self.lake),
            model=self.model,
            fingerprint=self.fingerprint,
            verify=not self.verified,
        )
        self.verified = True
        seconds = time.monotonic() - started
        if time.monotonic() - self.audited_at >= AUDIT_SECONDS:
            self.audit, self.audited_at = keep_recall(self.index), time.monotonic()
        stats = self.index.stats()
        audited = dataclasses.asdict(self.audit) if self.audit else None
        told = {"seconds": round(seconds, 3), "rows_unindexed": stats["rows_unindexed"], "bytes": stats["bytes"]}
        lags = {
            "lag_before": dataclasses.asdict(behind),
            "lag": dataclasses.asdict(index_lag(self.lake.table, self.index.standing())),
        }
        return dataclasses.asdict(result) | told | lags | {"effort": stats.get("effort"), "audit": audited}


def _connect(lake: Lake, versions: Mapping[str, int]) -> DuckDBPyConnection:
    return connect(lake, versions=versions, memory_limit=MEMORY_LIMIT)


@turnmill_command("index", help="Kept turns with their vectors -> vector index.")
@stream_schedule
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME",
              help="The model that embedded the texts: its name or a folder.")  # fmt: skip
@click.option("--engine", type=click.Choice(ENGINES), default=None,
              help="What holds the index.  [default: that of the lake's index, else lance]")  # fmt: skip
@click.option("--qdrant-url", envvar="TURNMILL_QDRANT_URL", default=None, metavar="URL",
              help="The server, with --engine qdrant; its key comes from TURNMILL_QDRANT_API_KEY.")  # fmt: skip
@click.option("--activate", "to_activate", is_flag=True, help="Let searches use this model's index from now on.")
@click.option("--drop-others", is_flag=True, help="Afterwards delete the indexes that searches do not use.")
@click.option(
    "--verify", is_flag=True, help="Afterwards compare the whole index with the tables; exit 1 on a difference."
)
def command(
    settings: Settings, schedule: Schedule, model: str, engine: str | None, qdrant_url: str | None, to_activate: bool,
    drop_others: bool, verify: bool,
) -> None:  # fmt: skip
    """Run the sync as flags say."""
    encoder = named_encoder(model)
    figures = index_turns(settings, schedule, encoder, IndexFlags(engine, qdrant_url, to_activate))
    lake = Lake(settings.lake)
    if drop_others:
        figures["dropped"] = _drop_others(lake)
    if settings.json:
        settings.emit(figures)
    else:
        done = "built anew" if figures["rebuilt"] else f"{figures['touched']:,} turns touched"
        behind, waited = sum(figures["lag_before"]["versions"].values()), figures["lag_before"]["seconds"]
        settings.console.print(
            f"index: {figures['rows']:,} rows, {done}; it was {behind} commits and {waited:,.1f} s behind", markup=False
        )
        if not figures["active"]:
            settings.console.print("searches use another model's index; switch to this one with --activate")
    if verify:
        choice = Choice(figures["engine"], encoder.fingerprint, qdrant_url)
        missing, extra = differences(open_index(lake.index, choice), partial(_connect, lake))
        if missing or extra:
            raise UserError(f"the index differs from the tables: {missing} turns are missing, {extra} are too many.")


def _drop_others(lake: Lake) -> int:
    active = active_choice(lake.index)
    return drop_others(lake.index, active) if active else 0


if __name__ == "__main__":
    command()
