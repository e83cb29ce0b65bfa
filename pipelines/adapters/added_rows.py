"""Counts of a Delta table by the value of a column, kept up to date by reading only the files that commits added.

Counting all of a table at each scrape would cost more the longer a lake lives. A commit that takes rows away (erasure,
MERGE) makes the next count start anew; one that only compacts files changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from pipelines.index.feeds import commit_path

Key = tuple[object, ...]


class AddedRows:
    """Rows of the table in ``folder`` by the values of ``columns``."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self.folder, self.columns = folder, list(columns)
        self.version = -1
        self.counts: Counter[Key] = Counter()

    def counted(self) -> Counter[Key]:
        """Return the counts at the newest version; empty where there is no table yet."""
        if not (self.folder / "_delta_log").is_dir():
            return self.counts
        table = DeltaTable(str(self.folder), without_files=True)
        newest = table.version()
        if newest != self.version:
            added = self._added(self.version + 1, newest) if self.version >= 0 else None
            if added is None:
                self.counts.clear()
                added = [Path(path) for path in DeltaTable(str(self.folder)).file_uris()]
            for path in added:
                self._count(path)
            self.version = newest
        return self.counts

    def _added(self, first: int, last: int) -> list[Path] | None:
        """Return the files that commits added; None where they also took rows away, or are no longer all there."""
        added = []
        for version in range(first, last + 1):
            try:
                lines = commit_path(self.folder, version).read_bytes().splitlines()
            except FileNotFoundError:
                return None
            for action in map(orjson.loads, filter(None, lines)):
                if action.get("remove", {}).get("dataChange"):
                    return None
                if (add := action.get("add")) and add["dataChange"]:
                    added.append(self.folder / unquote(add["path"]))
        return added

    def _count(self, path: Path) -> None:
        rows = pq.ParquetFile(path).read(columns=self.columns)
        grouped = rows.group_by(self.columns).aggregate([([], "count_all")])
        keys = [grouped[name].to_pylist() for name in self.columns]
        for *key, count in zip(*keys, grouped["count_all"].to_pylist(), strict=True):
            self.counts[tuple(key)] += count


def newest_ages(folder: Path, column: str) -> list[float]:
    """Return how old, by the times in ``column``, the rows were that the newest commit added, seconds.

    Looks at the last ten commits; empty where none of them added rows.
    """
    if not (folder / "_delta_log").is_dir():
        return []
    newest = DeltaTable(str(folder), without_files=True).version()
    for version in range(newest, max(newest - 10, -1), -1):
        path = commit_path(folder, version)
        if not path.exists():
            break
        actions = [orjson.loads(line) for line in path.read_bytes().splitlines() if line]
        added = [action["add"] for action in actions if action.get("add", {}).get("dataChange")]
        if added:
            at = path.stat().st_mtime
            return [age for add in added for age in _ages(folder / unquote(add["path"]), column, at)]
    return []


def _ages(path: Path, column: str, at: float) -> list[float]:
    times = pq.ParquetFile(path).read(columns=[column])[column].drop_null()
    # Spark writes times as INT96, which Arrow reads as nanoseconds.
    micros = pc.cast(pc.cast(times, pa.timestamp("us", "UTC"), safe=False), "int64")
    return [at - one / 1e6 for one in micros.to_pylist()]
