"""The index in Qdrant: a collection a generation, points with ids made from their keys, the pointer beside the lake.

Failure contract: writes are repeatable, since a point's id follows from its key; a reader between two writes of one
change may see part of it, as a server has no snapshots over writes. The pointer moves after the last write is durable.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from pipelines.durable_files import replace_file
from pipelines.index import planner
from pipelines.index.erasure_scan import needles_of, prove_gone
from pipelines.index.errors import IndexUnreadableError
from pipelines.index.filters import EVERYTHING, All, Predicate, equals
from pipelines.index.generations import Generations
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
from pipelines.index.standing import Standing
from pipelines.index.terms import term_weights

POINTS_OF_A_WRITE, ROWS_OF_A_PAGE = 1000, 2000
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "index.turnmill.example")


@dataclass(frozen=True)
class Row:
    """A row of the index as a point: id, vector, hashed words with their weights, and the columns of a hit."""

    id: str
    vector: list[float]
    terms: dict[int, float]
    payload: dict[str, Any]


class Points(Protocol):
    """Collections of points: a Qdrant server, or its engine in this process."""

    @property
    def folder(self) -> Path | None:
        """Where the files lie, if this process can read them."""

    def create(self, name: str, dimension: int) -> None:
        """Create an empty collection for unit vectors compared by cosine, with indexes on what filters ask for."""

    def drop(self, name: str) -> None:
        """Delete a collection with its files."""

    def names(self) -> list[str]:
        """Return the names of all collections."""

    def write(self, name: str, rows: Sequence[Row]) -> None:
        """Insert or replace points; durable on return."""

    def remove(self, name: str, ids: Sequence[str]) -> None:
        """Remove points, there or not; durable on return."""

    def there(self, name: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that are points."""

    def count(self, name: str, where: Predicate) -> int:
        """Return exactly how many points fit."""

    def nearest(
        self, name: str, vector: Vector, k: int, where: Predicate, effort: int | None
    ) -> list[tuple[dict[str, Any], float]]:
        """Return payloads and cosines of the nearest points; exact with ``effort`` None."""

    def sharing(self, name: str, terms: Sequence[int], k: int, where: Predicate) -> list[tuple[dict[str, Any], float]]:
        """Return payloads and BM25 of the points that share most of the hashed words."""

    def pages(self, name: str, size: int) -> Iterator[list[Row]]:
        """Yield all points."""

    def optimize(self, name: str) -> None:
        """Bring recent points into the approximate index, where the caller can ask for it."""


class QdrantIndex:
    """The index in collections of ``points``; ``folder`` holds the pointer file and the writer's lease."""

    def __init__(self, folder: Path, points: Points) -> None:
        self.folder, self.points = folder, points
        self.generations = Generations(folder)

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
        """Fill a new collection with all rows of the view, switch readers to it, and drop the others."""
        blank = Standing("", 0, 0, 0, model, model_fingerprint, dict(versions), dict(table_ids))
        with self.writer():
            return self._new_generation(blank, batches)

    def apply(
        self, changes: Iterable[Change], *, versions: Mapping[str, int], table_ids: Mapping[str, str]
    ) -> Standing:
        """Remove the keys of each change that have no row, write its rows, and move the pointer at the end."""
        with self.writer():
            standing = self.generations.must_stand()
            torn = self._marker.exists()  # a crash left points that the pointer does not count
            replace_file(self._marker, b"")
            for change in changes:
                if standing.store_version:
                    standing = self._remove(standing, change.keys)
                standing = self._append(standing, change.rows.to_batches())
            standing = self._counted(standing) if torn else standing
            return self._published(replace(standing, versions=dict(versions), table_ids=dict(table_ids)))

    def search(
        self, vector: Vector, k: int, tenant: str, where: Predicate = EVERYTHING, *, exact: bool = False
    ) -> Found:
        """Return the ``k`` nearest turns of the tenant that ``where`` lets through."""
        standing = self.generations.must_stand()
        if not standing.store_version:
            return Found(standing, [], planner.NOTHING)
        unit = checked_vector(vector, standing.dimension)
        engine = _Collection(self.points, self._name(standing), standing.rows)
        effort = None if exact else standing.effort
        return Found(standing, *planner.search(engine, unit, k, tenant, where, effort=effort))

    def search_terms(self, terms: Iterable[str], k: int, tenant: str, where: Predicate = EVERYTHING) -> Found:
        """Return up to ``k`` turns that share most with hashed words, by BM25."""
        standing = self.generations.must_stand()
        asked = sorted({int(name, 16) for name in terms})
        if not standing.store_version or not asked or k < 1:
            return Found(standing, [], planner.NOTHING)
        found = self.points.sharing(self._name(standing), asked, k, _fitting(tenant, where))
        return Found(standing, _hits(found), planner.EXACT)

    def scan(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the standing, in the schema of the index."""
        standing = self.generations.must_stand()
        if not standing.store_version:
            return
        schema = index_schema(standing.dimension)
        for page in self.points.pages(self._name(standing), ROWS_OF_A_PAGE):
            rows = [_columns(row.payload) | {"terms": row.payload["terms"], "vector": row.vector} for row in page]
            yield pa.RecordBatch.from_pylist(rows, schema)

    def indexed_keys(self) -> set[Key]:
        """Return all keys that readers can find."""
        return set(self._keys(self.generations.must_stand()))

    def verify(self) -> None:
        """Raise ``IndexUnreadableError`` unless the points are those that the pointer file tells of."""
        standing = self.generations.must_stand()
        if standing.store_version and self._name(standing) not in self.points.names():
            raise IndexUnreadableError(f"the collection {self._name(standing)} is gone; a sync builds it anew")
        keys = self._keys(standing)
        if len(keys) != standing.rows or f"{key_hash(keys):016x}" != standing.key_hash:
            raise IndexUnreadableError(
                f"the points of {self._name(standing)} are not those that the pointer tells of; a sync builds them anew"
            )

    def fold(self, *, retrain: bool = False) -> Standing:
        """Let the engine index recent points; with ``retrain`` fill a new collection from the old one."""
        with self.writer():
            standing = self.generations.must_stand()
            if not standing.store_version:
                return standing
            if retrain:
                return self._new_generation(_emptied(standing), self.scan())
            self.points.optimize(self._name(standing))
            return standing

    def widen(self) -> bool:
        """Let each search keep twice as many candidates from now on, or compare all points; False where it does."""
        with self.writer():
            standing = self.generations.must_stand()
            if not standing.store_version or standing.effort is None:
                return False
            wider = 2 * standing.effort
            self.generations.publish(
                replace(standing, effort=wider if wider < planner.MOST_EFFORT else None), before={}
            )
            return True

    def erase(self, keys: Iterable[Key]) -> Receipt:
        """Copy all other points into a new collection, drop the old one, and search the files that can be read.

        A removed point stays in its segment until the server vacuums it (qdrant/qdrant#4081); a dropped collection is
        gone at once. The files of a remote server are not read: then ``files`` is 0.
        """
        gone = set(keys)
        with self.writer():
            standing = self.generations.must_stand()
            erased = [batch.filter(_mask(batch, gone, without=False)) for batch in self.scan()]
            kept = (batch.filter(_mask(batch, gone, without=True)) for batch in self.scan())
            now = self._new_generation(_emptied(standing), kept)
            rows = pa.Table.from_batches(erased) if erased else index_schema(1).empty_table()
            scanned = (0, 0)
            if self.points.folder is not None:
                scanned = prove_gone(self.points.folder, needles_of(rows, self.scan()))
            return Receipt(rows.num_rows, now.generation, *scanned)

    def stats(self) -> dict[str, Any]:
        """Return rows, generation, versions and model; the server's own figures are in its metrics."""
        standing = self.generations.must_stand()
        return {
            "rows": standing.rows, "rows_unindexed": 0, "bytes": 0, "generation": standing.generation,
            "model": standing.model, "versions": standing.versions, "effort": standing.effort,
        }  # fmt: skip

    def _new_generation(self, blank: Standing, batches: Iterable[pa.RecordBatch]) -> Standing:
        standing = replace(blank, generation=self.generations.new_name())
        published = self._published(self._counted(self._append(standing, batches)))
        own = self._name(published)
        for name in self.points.names():
            if name.startswith(own.rpartition("-")[0] + "-") and name != own:
                self.points.drop(name)
        self.generations.prune([published.generation])
        return published

    def _name(self, standing: Standing) -> str:
        return f"turnmill-{standing.model_fingerprint[:16]}-{standing.generation}"

    def _append(self, standing: Standing, batches: Iterable[pa.RecordBatch]) -> Standing:
        for batch in batches:
            if not batch.num_rows:
                continue
            dimension = standing.dimension or len(batch.column("vector")[0])
            rows = [_point(row) for row in with_schema(batch, index_schema(dimension)).to_pylist()]
            if not standing.store_version:
                if self._name(standing) in self.points.names():  # of a crash before the pointer named it
                    self.points.drop(self._name(standing))
                self.points.create(self._name(standing), dimension)
                standing = replace(standing, store_version=1, dimension=dimension)
            for start in range(0, len(rows), POINTS_OF_A_WRITE):
                self.points.write(self._name(standing), rows[start : start + POINTS_OF_A_WRITE])
            hashed = int(standing.key_hash, 16) ^ key_hash(keys_of(batch))
            standing = replace(standing, rows=standing.rows + batch.num_rows, key_hash=f"{hashed:016x}")
        return standing

    def _remove(self, standing: Standing, keys: Sequence[Key]) -> Standing:
        hashed, rows = int(standing.key_hash, 16), standing.rows
        for start in range(0, len(keys), POINTS_OF_A_WRITE):
            ids = {point_id(key): key for key in keys[start : start + POINTS_OF_A_WRITE]}
            there = self.points.there(self._name(standing), list(ids))
            hashed, rows = hashed ^ key_hash(ids[point] for point in there), rows - len(there)
            if there:
                self.points.remove(self._name(standing), sorted(there))
        return replace(standing, rows=rows, key_hash=f"{hashed:016x}")

    @property
    def _marker(self) -> Path:
        return self.folder / "writing"

    def _counted(self, standing: Standing) -> Standing:
        keys = self._keys(standing)
        return replace(standing, rows=len(keys), key_hash=f"{key_hash(keys):016x}")

    def _published(self, standing: Standing) -> Standing:
        published = self.generations.publish(standing, before={})
        self._marker.unlink(missing_ok=True)
        return published

    def _keys(self, standing: Standing) -> list[Key]:
        if not standing.store_version:
            return []
        pages = self.points.pages(self._name(standing), ROWS_OF_A_PAGE)
        return [(row.payload["tenant"], row.payload["turn_id"]) for page in pages for row in page]


@dataclass(frozen=True)
class _Collection:
    points: Points
    name: str
    rows: int
    approximate: bool = True

    def count(self, tenant: str, where: Predicate) -> int:
        return self.points.count(self.name, _fitting(tenant, where))

    def nearest(self, vector: Vector, k: int, tenant: str, where: Predicate, effort: int | None) -> list[Hit]:
        return _hits(self.points.nearest(self.name, vector, k, _fitting(tenant, where), effort))


def point_id(key: Key) -> str:
    """Return the id of a key's point: the same for every write, so that a repeated one changes nothing."""
    tenant, turn_id = key
    return str(uuid.uuid5(NAMESPACE, f"{len(tenant)}:{tenant}{turn_id}"))


def _point(row: dict[str, Any]) -> Row:
    times = {name: _told(row[name]) for name in ("created_at", "landed_at")}
    payload = {name: row[name] for name in HIT_COLUMNS} | times | {"terms": row["terms"]}
    return Row(point_id((row["tenant"], row["turn_id"])), row["vector"], term_weights(row["terms"] or ""), payload)


def _told(time: dt.datetime | None) -> str | None:
    return None if time is None else time.astimezone(dt.UTC).isoformat()


def _columns(payload: dict[str, Any]) -> dict[str, Any]:
    columns = {name: payload[name] for name in HIT_COLUMNS}
    for name in ("created_at", "landed_at"):
        columns[name] = None if columns[name] is None else dt.datetime.fromisoformat(columns[name])
    return columns


def _hits(found: list[tuple[dict[str, Any], float]]) -> list[Hit]:
    return [Hit(**_columns(payload), score=score) for payload, score in found]


def _fitting(tenant: str, where: Predicate) -> Predicate:
    return All((equals(tenant=tenant), where))


def _emptied(standing: Standing) -> Standing:
    return replace(standing, store_version=0, rows=0, key_hash="0" * 16)


def _mask(batch: pa.RecordBatch, keys: set[Key], *, without: bool) -> pa.Array:
    return pa.array([(key in keys) != without for key in keys_of(batch)], pa.bool_())
