"""The exact index: all rows in memory, one Arrow file a generation. For audits and for small tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipelines.index import planner
from pipelines.index.erasure_scan import needles_of, prove_gone
from pipelines.index.errors import IndexUnreadableError, write_error
from pipelines.index.filters import EVERYTHING, Predicate
from pipelines.index.generations import LEASE_WAIT_SECONDS, Generations
from pipelines.index.resident import ResidentRows, ResidentSearch
from pipelines.index.rows import (
    Change,
    Found,
    Key,
    Receipt,
    Vector,
    checked_vector,
    index_schema,
    key_hash,
    keys_of,
    with_schema,
)  # fmt: skip
from pipelines.index.standing import Standing, file_states

ROWS = "rows.arrow"


class ExactIndex:
    """The index in a folder; each change writes the file anew, so its cost follows the table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generations = Generations(folder)
        self._resident: tuple[Standing, ResidentRows] | None = None

    def standing(self) -> Standing | None:
        """What readers find now; None before the first build."""
        return self.generations.standing()

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the only writer, or raise ``IndexBusyError`` at once."""
        with self.generations.writer():
            yield

    def rebuild(
        self,
        batches: Iterable[pa.RecordBatch],
        *,
        model: str,
        model_fingerprint: str,
        versions: Mapping[str, int],
        table_ids: Mapping[str, str],
    ) -> Standing:
        """Write all rows of the view into a new file and switch readers to it."""
        blank = Standing("", 0, 0, 0, model, model_fingerprint, dict(versions), dict(table_ids))
        return self._replace(blank, batches)

    def apply(
        self, changes: Iterable[Change], *, versions: Mapping[str, int], table_ids: Mapping[str, str]
    ) -> Standing:
        """Delete the keys of each change, append its rows, and move the pointer once, at the end."""
        with self.writer():
            standing = self.generations.must_stand()
            table = self._table(standing)
            for change in changes:
                table = _changed(table, change, standing.dimension)
            state = replace(standing, versions=dict(versions), table_ids=dict(table_ids))
            return self._replace(state, [] if table is None else table.combine_chunks().to_batches())

    def search(
        self, vector: Vector, k: int, tenant: str, where: Predicate = EVERYTHING, *, exact: bool = False
    ) -> Found:
        """Return the ``k`` nearest turns of the tenant that ``where`` lets through."""
        standing, resident = self._open()
        if resident is None:
            return Found(standing, [], planner.NOTHING)
        unit = checked_vector(vector, standing.dimension)
        hits, plan = planner.search(ResidentSearch(resident), unit, k, tenant, where, effort=None)
        return Found(standing, hits, plan)

    def search_terms(self, terms: Iterable[str], k: int, tenant: str, where: Predicate = EVERYTHING) -> Found:
        """Return up to ``k`` turns that share most with hashed words, by BM25."""
        standing, resident = self._open()
        if resident is None:
            return Found(standing, [], planner.NOTHING)
        return Found(standing, resident.with_terms(terms, k, resident.chosen(tenant, where)), planner.EXACT)

    def scan(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the standing."""
        table = self._table(self.generations.must_stand())
        yield from table.to_batches() if table is not None else []

    def indexed_keys(self) -> set[Key]:
        """Return all keys that readers can find."""
        return {key for batch in self.scan() for key in keys_of(batch)}

    def verify(self) -> None:
        """Raise ``IndexUnreadableError`` unless the rows are those that the pointer file tells of."""
        standing = self.generations.must_stand()
        keys = [key for batch in self.scan() for key in keys_of(batch)]
        if len(keys) != standing.rows or f"{key_hash(keys):016x}" != standing.key_hash:
            raise IndexUnreadableError(f"the rows in {self.folder} are not those that its pointer tells of")

    def fold(self, *, retrain: bool = False) -> Standing:
        """Nothing to fold: there is no approximate index."""
        return self.generations.must_stand()

    def widen(self) -> bool:
        """Nothing to widen: every search compares all rows."""
        return False

    def erase(self, keys: Iterable[Key]) -> Receipt:
        """Write the file without the rows, delete the old one, and search what is left for them."""
        gone = sorted(set(keys))
        with self.writer():
            standing = self.generations.must_stand()
            table = self._table(standing)
            if table is None:
                return Receipt(0, standing.generation, *prove_gone(self.folder, []))
            erased = _rows_of(table, gone)
            change = Change(gone, table.slice(0, 0))
            now = self.apply([change], versions=standing.versions, table_ids=standing.table_ids)
            self.generations.prune([now.generation], wait_seconds=LEASE_WAIT_SECONDS)
        needles = needles_of(erased, self.scan())
        return Receipt(erased.num_rows, now.generation, *prove_gone(self.folder, needles))

    def stats(self) -> dict[str, Any]:
        """Return rows, bytes on disk, generation, versions and model."""
        standing = self.generations.must_stand()
        files = file_states(self.generations.path(standing)).items()
        return {
            "rows": standing.rows, "rows_unindexed": 0, "generation": standing.generation, "model": standing.model,
            "bytes": sum(size for path, (_, size) in files if path.is_file()), "versions": standing.versions,
        }  # fmt: skip

    def _replace(self, state: Standing, batches: Iterable[pa.RecordBatch]) -> Standing:
        with self.writer():
            before, name = state.generation, self.generations.new_name()
            path = self.folder / "generations" / name / ROWS
            try:
                rows, dimension, keys = _write_rows(path, batches, state.dimension)
                state = replace(state, generation=name, store_version=1 if rows else 0, rows=rows, dimension=dimension)
                now = self.generations.publish(replace(state, key_hash=f"{keys:016x}"), before={})
            except OSError as error:
                raise write_error(self.folder, error) from error
            self.generations.prune({name, before})
        return now

    def _table(self, standing: Standing) -> pa.Table | None:
        if not standing.store_version:
            return None
        path = self.generations.path(standing) / ROWS
        try:
            with pa.memory_map(str(path)) as source:
                return pa.ipc.open_file(source).read_all()
        except (OSError, pa.ArrowInvalid) as error:
            raise IndexUnreadableError(
                f"the index in {self.folder} does not open ({type(error).__name__}); "
                "a sync builds it anew from Delta: turnmill index --available-now"
            ) from error

    def _open(self) -> tuple[Standing, ResidentRows | None]:
        standing = self.generations.must_stand()
        if self._resident is None or self._resident[0] != standing:
            try:
                table = self._table(standing)
            except IndexUnreadableError:
                before = self.generations.previous()
                if before is None or before == standing:
                    raise
                standing, table = before, self._table(before)
            if table is None:
                return standing, None
            self._resident = standing, ResidentRows(table)
        return self._resident


def _write_rows(path: Path, batches: Iterable[pa.RecordBatch], dimension: int) -> tuple[int, int, int]:
    """Write the batches into an Arrow file; return the number of rows, their dimension and the hash of their keys."""
    rows = keys = 0
    writer = None
    for batch in batches:
        if not batch.num_rows:
            continue
        if writer is None:
            dimension = dimension or len(batch.column("vector")[0])
            writer = pa.ipc.new_file(str(path), index_schema(dimension))
        batch = with_schema(batch, index_schema(dimension))
        writer.write_batch(batch)
        rows, keys = rows + batch.num_rows, keys ^ key_hash(keys_of(batch))
    if writer is not None:
        writer.close()
    return rows, dimension, keys


def _rows_of(table: pa.Table, keys: Iterable[Key], *, without: bool = False) -> pa.Table:
    wanted = set(keys)
    return table.filter(pa.array([(key in wanted) != without for key in keys_of(table)], pa.bool_()))


def _changed(table: pa.Table | None, change: Change, dimension: int) -> pa.Table | None:
    parts = [] if table is None else [_rows_of(table, change.keys, without=True)]
    if change.rows.num_rows:
        schema = index_schema(dimension or len(change.rows["vector"][0]))
        fresh = [with_schema(batch, schema) for batch in change.rows.combine_chunks().to_batches()]
        parts.append(pa.Table.from_batches(fresh, schema))
    return pa.concat_tables(parts) if parts else None
