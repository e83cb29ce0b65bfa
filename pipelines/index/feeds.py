"""Which keys changed: the change feeds of the index's source tables, read without Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from deltalake import DeltaTable

from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

SOURCES = (TURNS.name, TURN_SIGNALS.name, EMBEDDINGS.name)

FEED_COLUMNS: Mapping[str, list[str]] = {
    TURNS.name: ["tenant", "turn_id"],
    TURN_SIGNALS.name: ["tenant", "turn_id"],
    EMBEDDINGS.name: ["tenant", "text_hash", "model_fingerprint"],
}

TablePath = Callable[[str], Path]


class ChangesGoneError(RuntimeError):
    """The versions between are no longer all there (vacuum, log clean-up, or a table made anew)."""

    safe_to_show = True


@dataclass(frozen=True)
class Pins:
    """The version of each source table that a sync reads, -1 where the table does not exist, and the tables' ids."""

    versions: dict[str, int]
    table_ids: dict[str, str]

    @property
    def existing(self) -> dict[str, int]:
        """Versions of the tables that exist."""
        return {name: version for name, version in self.versions.items() if version >= 0}


def pin_sources(table_path: TablePath) -> Pins:
    """Look up the newest version of each source table."""
    versions, table_ids = {}, {}
    for name in SOURCES:
        versions[name], table_ids[name] = -1, ""
        if (table_path(name) / "_delta_log").is_dir():
            table = DeltaTable(table_path(name), without_files=True)
            versions[name], table_ids[name] = table.version(), str(table.metadata().id)
    return Pins(versions, table_ids)


def changed_keys(table_path: TablePath, name: str, *, after: int, until: int) -> pa.Table:
    """Return the distinct ``FEED_COLUMNS`` of all rows inserted, deleted or updated after one version, until another.

    Both the old and the new state of an updated row count. Raises ``ChangesGoneError``.
    """
    columns = FEED_COLUMNS[name]
    schema = pa.schema([(column, pa.string()) for column in columns])
    if until <= after:
        return schema.empty_table()
    try:
        feed = DeltaTable(table_path(name)).load_cdf(after + 1, until, columns=columns)
        changes = [pa.record_batch(batch).select(columns) for batch in feed]
    except Exception as error:  # delta-rs raises one type for missing files, missing versions and all else
        raise ChangesGoneError(
            f"{name}: the changes of versions {after + 1} to {until} are no longer there ({type(error).__name__})"
        ) from error
    found = [pa.Table.from_batches([batch]).cast(schema) for batch in changes]
    rows = pa.concat_tables(found) if found else schema.empty_table()
    return rows.group_by(columns).aggregate([])


def commit_path(table: Path, version: int) -> Path:
    """Return where the log of the table in a folder holds a version."""
    return table / "_delta_log" / f"{version:020d}.json"


def commit_time(table: Path, version: int) -> float | None:
    """Return when a version was committed, seconds since 1970; None where its entry is not there (yet, or any more).

    The log's own time counts before the file's, which is new in a copy of the lake.
    """
    path = commit_path(table, version)
    try:
        told = committed_at(path.read_bytes())
        return path.stat().st_mtime if told is None else told / 1000
    except FileNotFoundError:
        return None


def committed_at(commit: bytes) -> int | None:
    """Return when a commit of a Delta log says it was made, milliseconds since 1970; None where it does not."""
    for line in commit.splitlines():
        if b'"commitInfo"' in line:
            about: dict[str, Any] = orjson.loads(line).get("commitInfo") or {}
            return about.get("inCommitTimestamp") or about.get("timestamp")
    return None
