"""Upkeep of the Delta tables beside running streams: small files joined, files that nobody needs removed.

Joining files is a commit without data changes: streams and change feeds skip it, appends never meet it, and a MERGE
that meets it starts again (``delta.undisturbed``). Where another writer was faster, the upkeep gives way. Failure
contract: each step is one commit, or deletes files that no version within retention names, so it may be cut off
anywhere and repeated.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from pipelines.adapters.lake import Lake
from pipelines.index.feeds import commit_time

SMALL_BYTES = 32_000_000
MANY_SMALL = 16
"""Fewer small files than this are left: joining a handful again and again would rewrite more than it saves."""

TARGET_BYTES = 128_000_000
RETENTION_KEY = "delta.deletedFileRetentionDuration"


@dataclass(frozen=True)
class Reader:
    """A reader of a table, and the first version that it has not read."""

    name: str
    table: str
    version: int


@dataclass(frozen=True)
class Upkeep:
    """What was done to a table; ``held`` says why its old files stay."""

    table: str
    files_before: int
    files_after: int
    bytes_joined: int = 0
    files_removed: int = 0
    held: str | None = None
    gave_way: bool = False
    seconds: float = 0.0


def keep_up(
    lake: Lake, name: str, readers: Iterable[Reader], *, dry_run: bool = False, now: float | None = None
) -> Upkeep:
    """Join the small files of a table, then remove the files that no version within its retention names.

    A table whose slowest reader stands at a commit older than the retention keeps its files and its log: they would be
    taken from under it. With ``dry_run`` nothing changes, and the figures are what would be done.
    """
    begun, now = time.monotonic(), time.time() if now is None else now
    table = DeltaTable(str(lake.table(name)))
    before = table.get_add_actions(flatten=True).num_rows
    joined, gave_way = _join(table, dry_run=dry_run)
    held = held_by(lake, name, readers, retention_seconds(table), now)
    removed = 0
    if held is None:
        table.update_incremental()
        removed = _remove(table, lake.table(name), dry_run=dry_run)
        if not dry_run:
            table.cleanup_metadata()
    table.update_incremental()
    after = table.get_add_actions(flatten=True).num_rows
    return Upkeep(name, before, after, joined, removed, held, gave_way, round(time.monotonic() - begun, 3))


def _join(table: DeltaTable, *, dry_run: bool) -> tuple[int, bool]:
    sizes = [
        size for size in table.get_add_actions(flatten=True).column("size_bytes").to_pylist() if size < SMALL_BYTES
    ]
    if len(sizes) < MANY_SMALL:
        return 0, False
    if not dry_run:
        try:
            table.optimize.compact(target_size=TARGET_BYTES)
        except CommitFailedError:
            return 0, True
    return sum(sizes), False


def _remove(table: DeltaTable, folder: Path, *, dry_run: bool) -> int:
    """Remove what no version within retention needs; return how many files that are.

    Looks through the folder: a checkpoint forgets removed files once their retention is over, and neither change
    data nor what a failed task wrote is ever among them.
    """
    named = table.vacuum(dry_run=True, full=True)
    there = [path for path in named if (folder / path).exists()]
    if there and not dry_run:
        table.vacuum(dry_run=False, full=True)
    return len(there)


def retention_seconds(table: DeltaTable) -> float:
    """Return how long a removed file stays, from the table's property such as ``interval 2 days``."""
    told = table.metadata().configuration.get(RETENTION_KEY) or "interval 7 days"
    _, number, unit = told.split()
    seconds = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
    return int(number) * seconds[unit.removesuffix("s")]


def held_by(lake: Lake, name: str, readers: Iterable[Reader], retention: float, now: float) -> str | None:
    """Name the reader that still needs a commit older than ``retention`` seconds, and since when; None for none."""
    for reader in readers:
        if reader.table != name:
            continue
        at = commit_time(lake.table(name), reader.version)
        if at is not None and now - at > retention:
            return f"{reader.name} has still to read version {reader.version}, {(now - at) / 3600:,.0f} hours old"
    return None
