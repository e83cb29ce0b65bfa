"""The index in Lance: one writer, delete and append only, readers at the version that the pointer file names.

Failure contract: after a crash the pointer still names the last whole state, and the next write goes on from there.
Lance keeps vectors, references and hashed words, never text. Its guard rails: ``generations`` (writer, fence, pointer,
readers), rows counted and hashed at each change, an index kind by size, folds when fragments or unindexed rows are
many, training anew when the rows have changed much since.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.index import FTS, BTree, IvfFlat, IvfPq
from lancedb.query import MatchQuery

from pipelines.index import planner
from pipelines.index.erasure_scan import needles_of, prove_gone
from pipelines.index.errors import (
    ForkedProcessError,
    IndexBusyError,
    IndexUnreadableError,
    IndexWriteError,
    write_error,
)  # fmt: skip
from pipelines.index.filters import EVERYTHING, Predicate
from pipelines.index.generations import LEASE_WAIT_SECONDS, Generations, ReaderLease
from pipelines.index.lance_search import PQ_ROWS, LanceSearch, efforts_of_all, filter_of, key_filters, partitions
from pipelines.index.resident import ResidentRows, ResidentSearch
from pipelines.index.rows import (
    HIT_COLUMNS,
    Change,
    Found,
    Hit,
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

TABLE = "turns"
ANN_ROWS = 50_000
"""Below it all rows are held in memory and compared (77 MB of 384 numbers each); from there on an index is trained."""

FRAGMENTS_BEFORE_FOLD = 24
UNINDEXED_SHARE_BEFORE_FOLD = 0.1
UNINDEXED_ROWS_BEFORE_FOLD = 20_000
"""Rows that each search compares one by one, since no index holds them yet."""

CHANGED_SHARE_BEFORE_TRAINING = 0.3
"""Share of rows that came or went since training from which on the partitions no longer fit (vectors.md, 2.4)."""

KEEP_OLD_VERSIONS = dt.timedelta(minutes=10)
"""How long a version is kept that no reader claims: a reader may be about to open it."""

CACHE_BYTES = 256 * 2**20
"""For index pages and for metadata each; Lance's defaults are 6 GiB and 1 GiB."""

_LOADED_IN = os.getpid()


class LanceIndex:
    """The index in a folder. ``ann_rows`` is the size from which searches are approximate."""

    def __init__(self, folder: Path, *, ann_rows: int = ANN_ROWS) -> None:
        self.folder, self.ann_rows = folder, ann_rows
        self.generations = Generations(folder)
        self._reader: _Reader | None = None
        self._shadows: dict[str, TemporaryDirectory[str]] = {}

    def standing(self) -> Standing | None:
        """What readers find now; None before the first build."""
        return self.generations.standing()

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the only writer, or raise ``IndexBusyError`` at once."""
        with self.generations.writer():
            yield

    def verify(self) -> None:
        """Raise ``IndexUnreadableError`` unless the rows are those that the pointer file tells of."""
        standing = self.generations.must_stand()
        rows = keys = 0
        if standing.store_version:
            for batch in self._open(standing).search().select(["tenant", "turn_id"]).to_batches():
                rows, keys = rows + batch.num_rows, keys ^ key_hash(keys_of(batch))
        if rows != standing.rows or f"{keys:016x}" != standing.key_hash:
            raise IndexUnreadableError(
                f"the rows in {self.folder} are not those that its pointer tells of; a sync builds them anew"
            )

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
        blank = Standing("", 0, 0, 0, model, model_fingerprint, dict(versions), dict(table_ids))
        with self._writing():
            return self._new_generation(blank, batches)

    def apply(
        self, changes: Iterable[Change], *, versions: Mapping[str, int], table_ids: Mapping[str, str]
    ) -> Standing:
        """Delete the keys of each change, append their rows, and move the pointer once, at the end.

        Raises ``IndexUnreadableError`` where the rows come out differently from what the changes say.
        """
        with self._writing():
            standing = self.generations.must_stand()
            before = file_states(self.generations.path(standing))
            if standing.store_version:
                standing = self._stepped_back(standing)
            for change in changes:
                if standing.store_version:
                    standing = self._delete(standing, change.keys)
                standing = self._append(standing, change.rows.to_batches())
            standing = replace(standing, versions=dict(versions), table_ids=dict(table_ids))
            return self._fold(self.generations.publish(standing, before))

    def search(
        self, vector: Vector, k: int, tenant: str, where: Predicate = EVERYTHING, *, exact: bool = False
    ) -> Found:
        """Return the ``k`` nearest turns of the tenant that ``where`` lets through, best first."""
        reader = self._read()
        if reader.table is None:
            return Found(reader.standing, [], planner.NOTHING)
        unit = checked_vector(vector, reader.standing.dimension)
        effort = None if exact else reader.standing.effort
        return Found(reader.standing, *planner.search(reader.engine, unit, k, tenant, where, effort=effort))

    def search_terms(self, terms: Iterable[str], k: int, tenant: str, where: Predicate = EVERYTHING) -> Found:
        """Return up to ``k`` turns that share most with hashed words, by BM25."""
        reader = self._read()
        if isinstance(reader.engine, ResidentSearch):
            resident = reader.engine.resident
            hits = resident.with_terms(terms, k, resident.chosen(tenant, where))
            return Found(reader.standing, hits, planner.EXACT)
        asked = " ".join(sorted(set(terms)))
        if reader.table is None or not asked:
            return Found(reader.standing, [], planner.NOTHING)
        query = reader.table.search(MatchQuery(asked, "terms"), query_type="fts")
        query = query.where(filter_of(tenant, where), prefilter=True)
        found = query.select([*HIT_COLUMNS, "_score"]).limit(k).to_arrow().to_pylist()
        return Found(reader.standing, [Hit(score=row.pop("_score"), **row) for row in found], planner.EXACT)

    def scan(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the standing, in the schema of the index."""
        standing = self.generations.must_stand()
        if standing.store_version:
            names = index_schema(standing.dimension).names
            yield from self._open(standing).search().select(names).to_batches()

    def indexed_keys(self) -> set[Key]:
        """Return all keys that readers can find; for checks against Delta."""
        standing = self.generations.must_stand()
        if not standing.store_version:
            return set()
        rows = self._open(standing).search().select(["tenant", "turn_id"]).to_arrow()
        return set(keys_of(rows))

    def fold(self, *, retrain: bool = False) -> Standing:
        """Bring recent changes into the approximate index; with ``retrain`` train it anew."""
        with self._writing():
            standing = self.generations.must_stand()
            return self._fold(standing, retrain=retrain, now=True)

    def widen(self) -> bool:
        """Let each search visit twice as many partitions from now on, or all rows; False where it does already."""
        with self._writing():
            standing = self.generations.must_stand()
            if not standing.rows_trained or standing.effort is None:
                return False
            before = file_states(self.generations.path(standing))
            wider = planner.wider(standing.effort, efforts_of_all(standing.rows_trained))
            self.generations.publish(replace(standing, effort=wider), before)
            return True

    def erase(self, keys: Iterable[Key]) -> Receipt:
        """Copy all other rows into a new generation, delete the old one, and search every file for the rows.

        Waits up to ``LEASE_WAIT_SECONDS`` for readers of the old files. Its time follows the table: a deleted row stays
        in Lance's data and index files until they are written anew (lance-format/lance#1610).
        """
        gone = set(keys)
        with self._writing():
            standing = self.generations.must_stand()
            erased = self._rows_of(standing, gone)
            blank = replace(standing, store_version=0, rows=0, key_hash="0" * 16, rows_trained=0)
            now = self._new_generation(blank, self._rows_without(gone), wait_seconds=LEASE_WAIT_SECONDS)
            needles = needles_of(erased, self.scan())
            left = self._rows_of(now, gone).num_rows
            if left:
                raise IndexUnreadableError(f"{left} erased rows are in the index again; build it anew")
            return Receipt(erased.num_rows, now.generation, *prove_gone(self.folder, needles))

    def stats(self) -> dict[str, Any]:
        """Rows, fragments, rows outside the approximate index, bytes on disk, and the standing."""
        standing = self.generations.must_stand()
        table = self._open(standing) if standing.store_version else None
        states = file_states(self.generations.path(standing)).items()
        return {
            "rows": standing.rows,
            "fragments": table.stats()["fragment_stats"]["num_fragments"] if table else 0,
            "rows_unindexed": _rows_unindexed(table) if table else 0,
            "bytes": sum(size for path, (_, size) in states if path.is_file()),
            "generation": standing.generation,
            "versions": standing.versions,
            "model": standing.model,
            "effort": standing.effort,
        }

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self.writer():
            try:
                yield
            except (IndexUnreadableError, IndexBusyError, IndexWriteError, ForkedProcessError, ValueError):
                raise
            except Exception as error:  # Lance raises RuntimeError and OSError for all kinds of failed writes
                if isinstance(error, OSError) or "os error" in str(error) or "LanceError(IO)" in str(error):
                    raise write_error(self.folder, error) from error
                raise

    def _new_generation(
        self, blank: Standing, batches: Iterable[pa.RecordBatch], *, wait_seconds: float | None = None
    ) -> Standing:
        standing = replace(blank, generation=self.generations.new_name())
        filled = self._append(standing, batches)
        published = self.generations.publish(filled, before={})
        self.generations.prune([published.generation], wait_seconds=wait_seconds)
        return self._fold(published)

    def _database(self, standing: Standing, folder: Path | None = None) -> Any:
        if os.getpid() != _LOADED_IN:
            raise ForkedProcessError("Lance was loaded before this process was forked; start it by spawn instead")
        session = lancedb.Session(index_cache_size_bytes=CACHE_BYTES, metadata_cache_size_bytes=CACHE_BYTES)
        return lancedb.connect(folder or self.generations.path(standing), session=session)

    def _open(self, standing: Standing, *, newest: bool = False) -> Any:
        """Open the table at the pointer's version, or for writing at its newest."""
        try:
            if newest:
                return self._database(standing).open_table(TABLE)
            return self._at_version(standing, None)
        except ForkedProcessError:
            raise
        except Exception as error:  # Lance raises RuntimeError, ValueError and OSError for damaged files
            if not newest and (table := self._beside_torn_files(standing)) is not None:
                return table
            raise IndexUnreadableError(
                f"the index in {self.folder} does not open ({type(error).__name__}); "
                "a sync builds it anew from Delta: turnmill index --available-now"
            ) from error

    def _at_version(self, standing: Standing, folder: Path | None) -> Any:
        table = self._database(standing, folder).open_table(TABLE, version=standing.store_version)
        if table.count_rows() != standing.rows:
            raise ValueError("row count differs from the pointer's")
        return table

    def _beside_torn_files(self, standing: Standing) -> Any:
        """Open the version where only newer ones are torn; None where it does not open either."""
        name = f"{standing.generation}-{standing.store_version}"
        if name not in self._shadows:
            self._shadows[name] = self._shadow(standing)
        try:
            return self._at_version(standing, Path(self._shadows[name].name))
        except Exception:  # as above
            return None

    def _shadow(self, standing: Standing) -> TemporaryDirectory[str]:
        """Make a folder of links in which the standing's version is the newest: Lance opens none beside a torn one."""
        shadow = TemporaryDirectory(prefix="turnmill-index-")
        source, target = self.generations.path(standing) / f"{TABLE}.lance", Path(shadow.name) / f"{TABLE}.lance"
        (target / "_versions").mkdir(parents=True)
        for path in source.glob("*"):
            if path.name != "_versions":
                (target / path.name).symlink_to(path.resolve())
        for path in (source / "_versions").glob("*.manifest"):
            if _version_of(path) <= standing.store_version:
                (target / "_versions" / path.name).symlink_to(path.resolve())
        return shadow

    def _stepped_back(self, standing: Standing) -> Standing:
        """Return to the pointer's version where a crash left newer ones, torn ones too."""
        manifests = self.generations.path(standing) / f"{TABLE}.lance" / "_versions"
        newer = [path for path in manifests.glob("*.manifest") if _version_of(path) > standing.store_version]
        if not newer:
            return standing
        for path in newer:
            if not path.stat().st_size:
                path.unlink()
        try:
            table = self._open(standing, newest=True)
        except IndexUnreadableError:
            for path in newer:
                path.unlink(missing_ok=True)
            table = self._open(standing, newest=True)
        if table.version == standing.store_version:
            return standing
        table.checkout(standing.store_version)
        table.restore()
        return replace(standing, store_version=table.version)

    def _rows_of(self, standing: Standing, keys: Iterable[Key]) -> pa.Table:
        names = ["tenant", "turn_id", "vector"]
        found = []
        if standing.store_version:
            table = self._open(standing)
            found = [
                table.search().where(which).select(names).to_arrow() for which in key_filters(keys)
            ]  # fmt: skip
        return pa.concat_tables(found) if found else index_schema(1).empty_table().select(names)

    def _rows_without(self, gone: set[Key]) -> Iterator[pa.RecordBatch]:
        for batch in self.scan():
            yield batch.filter(pa.array([key not in gone for key in keys_of(batch)], pa.bool_()))

    def _delete(self, standing: Standing, keys: Iterable[Key]) -> Standing:
        table = self._open(standing, newest=True)
        hashed, rows = int(standing.key_hash, 16), standing.rows
        for which in key_filters(keys):
            there = keys_of(table.search().where(which).select(["tenant", "turn_id"]).to_arrow())
            if there:
                table.delete(which)
                hashed, rows = hashed ^ key_hash(there), rows - len(there)
        return self._counted(replace(standing, key_hash=f"{hashed:016x}", rows=rows), table)

    def _append(self, standing: Standing, batches: Iterable[pa.RecordBatch]) -> Standing:
        """Append rows in one commit, creating the table with the first row; other vector lengths raise."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return standing
        dimension = standing.dimension or len(first.column("vector")[0])
        schema = index_schema(dimension)
        checked = with_schema(first, schema)
        tally = _Tally(standing.rows, int(standing.key_hash, 16))
        rows = (tally.add(batch) for batch in chain([checked], (with_schema(batch, schema) for batch in filled)))
        reader = pa.RecordBatchReader.from_batches(schema, rows)
        if standing.store_version:
            table = self._open(standing, newest=True)
            table.add(reader)
        else:
            database = self._database(standing)
            database.drop_table(TABLE, ignore_missing=True)  # of a crash before the pointer first named a version
            table = database.create_table(TABLE, data=reader, schema=schema)
        grown = replace(standing, dimension=dimension, rows=tally.rows, key_hash=f"{tally.keys:016x}")
        return self._counted(grown, table)

    def _counted(self, standing: Standing, table: Any) -> Standing:
        rows = table.count_rows()
        if rows != standing.rows:
            raise IndexUnreadableError(
                f"the index in {self.folder} holds {rows} rows where changes say {standing.rows}; it is built anew"
            )
        return replace(standing, store_version=table.version)

    def _fold(self, standing: Standing, *, retrain: bool = False, now: bool = False) -> Standing:
        """Train the approximate index once the table is large, or again when much changed; fold what came since."""
        if not standing.store_version:
            return standing
        table = self._open(standing, newest=True)
        before = file_states(self.generations.path(standing))
        large = standing.rows >= self.ann_rows
        if large and (retrain or _needs_training(standing, table)):
            _train(table, standing.rows)
        elif now or _needs_fold(standing, table):
            # Lance joins small partitions when it folds rows in: searches then cost three times as much (measured at
            # 60,000 rows), so partitions are trained anew over the compacted rows.
            if _vector_index(table) is not None:
                table.drop_index(_vector_index(table).name)
            # The pointer was moved to a new version just before, so the clean-up cannot take a reader's version away.
            table.optimize(cleanup_older_than=self._oldest_claim(standing, table))
            if large:
                _train(table, standing.rows)
        else:
            return standing
        folded = replace(standing, rows_trained=standing.rows if large else 0)
        return self.generations.publish(self._counted(folded, table), before)

    def _oldest_claim(self, standing: Standing, table: Any) -> dt.timedelta:
        """Return the age up to which versions are kept, so that no live reader loses its own (lance#6607)."""
        claimed = {version for generation, version in self.generations.claimed() if generation == standing.generation}
        made = [version["timestamp"] for version in table.list_versions() if version["version"] in claimed]
        ages = [dt.datetime.now(at.tzinfo) - at + dt.timedelta(seconds=1) for at in made]
        return max([KEEP_OLD_VERSIONS, *ages])

    def _read(self) -> _Reader:
        standing = self.generations.must_stand()
        if self._reader is None or self._reader.standing != standing:
            self._reader = self._opened(standing)
        return self._reader

    def _opened(self, standing: Standing) -> _Reader:
        """Open the newest state that opens: the pointer's, or the one before where its files are damaged."""
        try:
            return self._reader_of(standing)
        except IndexUnreadableError:
            moved, before = self.generations.must_stand(), self.generations.previous()
            if moved != standing:
                return self._reader_of(moved)
            if before is None or before.model_fingerprint != standing.model_fingerprint:
                raise
            if self._reader is not None and self._reader.standing == before:
                return self._reader
            return self._reader_of(before)

    def _reader_of(self, standing: Standing) -> _Reader:
        lease = ReaderLease(self.folder, standing)
        if not standing.store_version:
            return _Reader(standing, lease, None, None)
        table = self._open(standing)
        if standing.rows_trained:
            return _Reader(standing, lease, table, LanceSearch(table, standing))
        rows = table.search().select(index_schema(standing.dimension).names).to_arrow()
        return _Reader(standing, lease, table, ResidentSearch(ResidentRows(rows)))


@dataclass
class _Tally:
    """Counts and hashes rows while they stream by."""

    rows: int
    keys: int

    def add(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self.rows += batch.num_rows
        self.keys ^= key_hash(keys_of(batch))
        return batch


@dataclass
class _Reader:
    standing: Standing
    lease: ReaderLease
    table: Any
    engine: Any


def _version_of(manifest: Path) -> int:
    """Lance names manifests by their version, or by its complement so that the newest comes first."""
    number = int(manifest.stem) if manifest.stem.isdigit() else 0
    return number if number < 2**63 else 2**64 - 1 - number


def _train(table: Any, rows: int) -> None:
    how = {"distance_type": "cosine", "num_partitions": partitions(rows), "max_iterations": 20, "sample_rate": 64}
    table.create_index("vector", config=IvfFlat(**how) if rows < PQ_ROWS else IvfPq(**how), replace=True)
    table.create_index("turn_id", config=BTree(), replace=True)
    words = FTS(base_tokenizer="whitespace", lower_case=False, stem=False, remove_stop_words=False, ascii_folding=False)
    table.create_index("terms", config=words, replace=True)


def _vector_index(table: Any) -> Any:
    return next((index for index in table.list_indices() if index.columns == ["vector"]), None)


def _rows_unindexed(table: Any) -> int:
    index = _vector_index(table)
    return table.index_stats(index.name).num_unindexed_rows if index else 0


def _needs_training(standing: Standing, table: Any) -> bool:
    if _vector_index(table) is None:
        return True
    return abs(standing.rows - standing.rows_trained) > CHANGED_SHARE_BEFORE_TRAINING * standing.rows_trained


def _needs_fold(standing: Standing, table: Any) -> bool:
    unindexed = _rows_unindexed(table)
    return (
        table.stats()["fragment_stats"]["num_fragments"] > FRAGMENTS_BEFORE_FOLD
        or unindexed > UNINDEXED_ROWS_BEFORE_FOLD
        or unindexed > UNINDEXED_SHARE_BEFORE_FOLD * standing.rows
    )
