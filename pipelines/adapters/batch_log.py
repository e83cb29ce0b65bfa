"""``batch_log``: what each committed micro-batch of a query did, derived from its checkpoint and its tables.

Nothing is written inside a batch. Rows come after the commit, from the checkpoint's ``offsets`` and ``commits``,
so a crash loses none: the next start adds what is missing, once (a transaction id per query).
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from pipelines.adapters import delta
from pipelines.adapters.lake import CHECKPOINT_GENERATION, Lake
from schemas import BATCH_LOG, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class BatchLog:
    """Keeps the log of one query that writes ``table``.

    ``outcomes`` names the column to count its rows by, ``key_epoch`` the epoch of the keys that it writes under.
    """

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        query: str,
        table: Table,
        outcomes: str | None = None,
        key_epoch: int | None = None,
    ) -> None:
        self.spark, self.lake, self.query, self.table = spark, lake, query, table
        self.outcomes, self.key_epoch = outcomes, key_epoch
        self.name = f"{query}/v{CHECKPOINT_GENERATION}"
        self.application = f"batch_log:{self.name}"
        self.seconds: dict[int, float] = {}
        self.written = delta.last_transaction(lake, BATCH_LOG.name, self.application)

    def observe(self, query: StreamingQuery) -> None:
        """Remember how long the latest batches took."""
        for progress in query.recentProgress:
            self.seconds[progress["batchId"]] = progress["durationMs"].get("triggerExecution", 0) / 1000

    def write(self) -> int:
        """Add a row for each committed batch that has none; return how many were added."""
        committed = committed_batches(self.lake.checkpoint(self.query), after=self.written)
        if not committed:
            return 0
        counts = self._rows_by_outcome(min(committed))
        versions = commit_versions(self.lake, self.table)
        rows = [
            BATCH_LOG.row(
                query=self.name,
                batch_id=batch,
                committed_at=at,
                offsets_in=offsets,
                rows_by_outcome=counts.get(batch, {}),
                table_versions={self.table.name: versions[batch]} if batch in versions else {},
                seconds=self.seconds.get(batch),
                key_epoch=self.key_epoch,
                trace_id=trace_id(self.name, batch),
            )
            for batch, (at, offsets) in sorted(committed.items())
        ]
        delta.append_rows(rows, self.lake, BATCH_LOG, txn=(self.application, max(committed)))
        self.written = max(committed)
        return len(rows)

    def _rows_by_outcome(self, first: int) -> dict[int, dict[str, int]]:
        if self.outcomes is None:
            return {}
        from pyspark.sql import functions as F

        landed = delta.read(self.spark, self.lake, self.table).where(F.col("batch_id") >= first)
        result: dict[int, dict[str, int]] = {}
        for row in landed.groupBy("batch_id", self.outcomes).count().collect():
            result.setdefault(int(row["batch_id"]), {})[row[self.outcomes]] = int(row["count"])
        return result


def committed_batches(checkpoint: Path, *, after: int) -> dict[int, tuple[dt.datetime, dict[str, int]]]:
    """Return commit time and end offsets of each committed batch with a number above ``after``."""
    result = {}
    for path in (checkpoint / "commits").glob("[0-9]*"):
        if path.name.isdigit() and int(path.name) > after:
            at = dt.datetime.fromtimestamp(path.stat().st_mtime, tz=dt.UTC)
            result[int(path.name)] = (at, end_offsets(checkpoint / "offsets" / path.name))
    return result


def end_offsets(path: Path) -> dict[str, int]:
    """Read a file of the checkpoint's offset log: by ``topic-partition``, or Delta version by source."""
    if not path.exists():
        return {}
    result: dict[str, int] = {}
    for i, source in enumerate(source_offsets(path)):
        if "reservoirVersion" in source:
            result[f"delta-{i}"] = int(source["reservoirVersion"])
            continue
        for topic, partitions in source.items():
            result.update({f"{topic}-{partition}": int(offset) for partition, offset in partitions.items()})
    return result


def source_offsets(path: Path) -> list[Mapping[str, Any]]:
    """Return what a file of the checkpoint's offset log says of each source of the query, empty where it has none."""
    return [orjson.loads(line) if line.startswith("{") else {} for line in path.read_text().splitlines()[2:]]


def commit_versions(lake: Lake, table: Table) -> dict[int, int]:
    """Return the Delta version that each streaming batch wrote, from the table's recent history."""
    from deltalake import DeltaTable as DeltaReader

    if not lake.exists(table.name):
        return {}
    history: Sequence[Mapping[str, Any]] = DeltaReader(str(lake.table(table.name)), without_files=True).history(1000)
    found = {}
    for commit in history:
        epoch = (commit.get("operationParameters") or {}).get("epochId")
        if epoch is not None and commit.get("operation") == "STREAMING UPDATE":
            found[int(epoch)] = int(commit["version"])
    return found


def trace_id(query: str, batch: int) -> str:
    """Return the trace id of a micro-batch: the same in a replay, 32 hexadecimal digits."""
    return hashlib.sha256(f"{query}#{batch}".encode()).hexdigest()[:32]
