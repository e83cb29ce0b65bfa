"""The index in Lance: one writer, delete and append only, readers at the version that the pointer file names.

Failure contract: after a crash the pointer still names the last whole state; the next ``apply`` must bring the changes
since that state's Delta versions again, and may repeat some. Lance keeps only vectors and references, never text.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from filelock import FileLock, Timeout
from lancedb.expr import col, lit

from pipelines.durable_files import flush_to_disk
from pipelines.index.standing import Standing, file_states, read_standing, write_standing

TABLE = "turns"
ANN_ROWS = 50_000
"""Below it the exact search is fast enough and needs no training; from there on IVF_HNSW_SQ (vectors.md, 2.4)."""

IDS_OF_A_DELETE = 1000
FRAGMENTS_BEFORE_FOLD = 24
UNINDEXED_SHARE_BEFORE_FOLD = 0.1
KEEP_OLD_VERSIONS = dt.timedelta(minutes=10)
"""How long a reader may work on a version that is no longer the newest."""

CACHE_BYTES = 256 * 2**20
"""For index pages and for metadata each; Lance's defaults are 6 GiB and 1 GiB."""

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("tenant", pa.string()),
    ("turn_id", pa.string()),
    ("text_hash", pa.string()),
    ("role", pa.string()),
    ("conversation_ref", pa.string()),
    ("lang", pa.string()),
    ("created_at", pa.timestamp("us", tz="UTC")),
    ("landed_at", pa.timestamp("us", tz="UTC")),
)
"""Columns beside ``vector``; ``landed_at`` tells Delta which files hold the text of a hit."""

Key = tuple[str, str]
"""(tenant, turn_id)"""


class IndexUnreadableError(RuntimeError):
    """The files of the index are missing or damaged; a sync builds it anew from Delta."""

    safe_to_show = True


class IndexBusyError(RuntimeError):
    """Another process writes the index."""

    safe_to_show = True


@dataclass(frozen=True)
class Change:
    """Keys that changed, and the rows (of the index schema) that they have now; a key without a row is gone."""

    keys: list[Key]
    rows: pa.Table


@dataclass(frozen=True)
class Hit:
    """A found turn; ``score`` is the cosine of its vector and the question, -1 to 1."""

    tenant: str
    turn_id: str
    text_hash: str
    role: str
    conversation_ref: str | None
    lang: str
    created_at: dt.datetime | None
    landed_at: dt.datetime
    score: float


def index_schema(dimension: int) -> pa.Schema:
    """Return the Arrow schema of index rows with vectors of ``dimension`` float32."""
    return pa.schema([*COLUMNS, ("vector", pa.list_(pa.float32(), dimension))])


class LanceIndex:
    """The index in a folder. ``ann_rows`` is the size from which searches are approximate."""

    def __init__(self, folder: Path, *, ann_rows: int = ANN_ROWS) -> None:
        self.folder, self.ann_rows = folder, ann_rows
        self._found: tuple[Standing, Any] | None = None

    def standing(self) -> Standing | None:
        """What readers find now; None before the first build."""
        return read_standing(self.folder)

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the only writer, or raise ``IndexBusyError`` at once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "writer.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise IndexBusyError(f"another process is writing the index in {self.folder}; let it end first") from None
        try:
            yield
        finally:
            lock.release()

    def check(self) -> None:
        """Raise ``IndexUnreadableError`` unless both the pointer's version and the newest one open."""
        standing = self._must_stand()
        if standing.lance_version:
            self._open(standing)
            self._open(replace(standing, lance_version=0))

    def rebuild(
        self,
        batches: Iterable[pa.RecordBatch],
        *,
        model: str,
        model_fingerprint: str,
        versions: Mapping[str, int],
        table_ids: Mapping[str, str],
    ) -> Standing:
        """Build a new generation from all rows of the view, switch readers to it, and delete the others."""
        generations = self.folder / "generations"
        taken = [int(path.name[1:]) for path in generations.glob("g*") if path.name[1:].isdigit()]
        name = f"g{max(taken, default=0) + 1:06d}"
        blank = Standing(name, 0, 0, 0, model, model_fingerprint, dict(versions), dict(table_ids))
        (generations / name).mkdir(parents=True)
        filled = self._append(blank, batches)
        self._publish(filled, before={})
        for path in generations.iterdir():
            if path.name != name:
                shutil.rmtree(path, ignore_errors=True)
        return self._fold(filled)

    def apply(
        self, changes: Iterable[Change], *, versions: Mapping[str, int], table_ids: Mapping[str, str]
    ) -> Standing:
        """Delete the keys of each change, append their rows, and move the pointer once, at the end.

        Readers see all of it or nothing. Raises ``IndexUnreadableError``.
        """
        standing = self._must_stand()
        before = file_states(self._generation(standing))
        for change in changes:
            if standing.lance_version:
                self._delete(standing, change.keys)
            standing = self._append(standing, change.rows.to_batches())
        self._publish(self._counted(replace(standing, versions=dict(versions), table_ids=dict(table_ids))), before)
        return self._fold(self._must_stand())

    def search(
        self, vector: npt.NDArray[np.float32], k: int, tenant: str, *, role: str | None = None
    ) -> tuple[Standing, list[Hit]]:
        """Return the ``k`` nearest turns of the tenant, best first, and what the index stood at."""
        standing = self._must_stand()
        if not standing.rows or k < 1:
            return standing, []
        if vector.shape != (standing.dimension,):
            raise ValueError(f"the index holds vectors of {standing.dimension} numbers, found shape {vector.shape}")
        if self._found is None or self._found[0] != standing:
            self._found = standing, self._open(standing)
        table = self._found[1]
        where = col("tenant") == lit(tenant)
        if role is not None:
            where = where & (col("role") == lit(role))
        query = table.search(vector.astype(np.float32)).distance_type("cosine").where(where, prefilter=True)
        if standing.rows >= self.ann_rows:
            query = query.nprobes(20).refine_factor(10)
        found = query.select([name for name, _ in COLUMNS] + ["_distance"]).limit(k).to_arrow().to_pylist()
        return standing, [Hit(score=1.0 - row.pop("_distance"), **row) for row in found]

    def indexed_keys(self) -> set[Key]:
        """All keys that readers can find; for checks against Delta."""
        standing = self._must_stand()
        if not standing.lance_version:
            return set()
        rows = self._open(standing).search().select(["tenant", "turn_id"]).limit(standing.rows + 1).to_arrow()
        return set(zip(rows["tenant"].to_pylist(), rows["turn_id"].to_pylist(), strict=True))

    def stats(self) -> dict[str, Any]:
        """Rows, fragments, rows outside the approximate index, bytes on disk, and the standing."""
        standing = self._must_stand()
        table = self._open(standing) if standing.lance_version else None
        sizes = (size for path, (_, size) in file_states(self._generation(standing)).items() if path.is_file())
        return {
            "rows": standing.rows,
            "fragments": table.stats()["fragment_stats"]["num_fragments"] if table else 0,
            "rows_unindexed": _rows_unindexed(table) if table else 0,
            "bytes": sum(sizes),
            "generation": standing.generation,
            "versions": standing.versions,
            "model": standing.model,
        }

    def _must_stand(self) -> Standing:
        standing = self.standing()
        if standing is None:
            raise IndexUnreadableError(f"no readable index in {self.folder}; build it: turnmill index --available-now")
        return standing

    def _generation(self, standing: Standing) -> Path:
        return self.folder / "generations" / standing.generation

    def _database(self, standing: Standing) -> Any:
        session = lancedb.Session(index_cache_size_bytes=CACHE_BYTES, metadata_cache_size_bytes=CACHE_BYTES)
        return lancedb.connect(self._generation(standing), session=session)

    def _open(self, standing: Standing) -> Any:
        """Open the table at the pointer's version, or for writing at its newest where ``lance_version`` is 0."""
        try:
            table = self._database(standing).open_table(TABLE)
            if standing.lance_version:
                table.checkout(standing.lance_version)
                if table.count_rows() != standing.rows:
                    raise ValueError("row count differs from the pointer's")
        except Exception as error:  # Lance raises RuntimeError, ValueError and OSError for damaged files
            raise IndexUnreadableError(
                f"the index in {self.folder} does not open ({type(error).__name__}); "
                "a sync builds it anew from Delta: turnmill index --available-now"
            ) from error
        return table

    def _newest(self, standing: Standing) -> Any:
        return self._open(replace(standing, lance_version=0))

    def _delete(self, standing: Standing, keys: Iterable[Key]) -> None:
        by_tenant: dict[str, list[str]] = {}
        for tenant, turn_id in keys:
            by_tenant.setdefault(tenant, []).append(turn_id)
        table = self._newest(standing)
        for tenant, turn_ids in by_tenant.items():
            for start in range(0, len(turn_ids), IDS_OF_A_DELETE):
                some = turn_ids[start : start + IDS_OF_A_DELETE]
                table.delete((col("tenant") == lit(tenant)) & col("turn_id").isin(some))

    def _append(self, standing: Standing, batches: Iterable[pa.RecordBatch]) -> Standing:
        """Append rows in one commit, creating the table with the first row; other vector lengths raise."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return standing
        dimension = standing.dimension or len(first.column("vector")[0])
        schema = index_schema(dimension)
        rows = (pa.RecordBatch.from_arrays(
            [batch.column(field.name).cast(field.type) for field in schema], schema=schema
        ) for batch in chain([first], filled))  # fmt: skip
        reader = pa.RecordBatchReader.from_batches(schema, rows)
        if standing.lance_version:
            table = self._newest(standing)
            table.add(reader)
        else:
            database = self._database(standing)
            database.drop_table(TABLE, ignore_missing=True)  # of a crash before the pointer first named a version
            table = database.create_table(TABLE, data=reader, schema=schema)
        return replace(standing, lance_version=table.version, rows=table.count_rows(), dimension=dimension)

    def _counted(self, standing: Standing) -> Standing:
        if not standing.lance_version:
            return standing
        table = self._newest(standing)
        return replace(standing, lance_version=table.version, rows=table.count_rows())

    def _publish(self, standing: Standing, before: Mapping[Path, tuple[int, int]]) -> None:
        after = file_states(self._generation(standing))
        # Lance itself forces nothing to disk (tenequm/pond#110).
        flush_to_disk(path for path, state in after.items() if before.get(path) != state)
        write_standing(self.folder, standing)

    def _fold(self, standing: Standing) -> Standing:
        """Train the approximate index once the table is large, and fold fragments and unindexed rows when many."""
        if not standing.lance_version:
            return standing
        table = self._newest(standing)
        before = file_states(self._generation(standing))
        trained = bool(table.list_indices())
        if standing.rows >= self.ann_rows and not trained:
            table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", vector_column_name="vector")
        elif (
            table.stats()["fragment_stats"]["num_fragments"] > FRAGMENTS_BEFORE_FOLD
            or _rows_unindexed(table) > UNINDEXED_SHARE_BEFORE_FOLD * standing.rows
        ):
            # The pointer was moved to a new version just before, so the clean-up cannot take a reader's version away.
            table.optimize(cleanup_older_than=KEEP_OLD_VERSIONS)
        else:
            return standing
        folded = self._counted(standing)
        self._publish(folded, before)
        return folded


def _rows_unindexed(table: Any) -> int:
    return sum(table.index_stats(index.name).num_unindexed_rows for index in table.list_indices())
