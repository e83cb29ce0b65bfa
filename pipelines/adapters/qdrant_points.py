"""A Qdrant server's collections (``pipelines.index.qdrant``), each write durable before it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from pipelines.index.filters import TEXT_COLUMNS, TIME_COLUMNS, All, Any_, Compare, OneOf, Predicate
from pipelines.index.qdrant import Row
from pipelines.index.rows import Vector

DENSE, SPARSE = "meaning", "words"
USUAL_EF = 128
"""Candidates that a search of the graph keeps; Qdrant's own default is what the graph was built with, 100."""

TIMEOUT_SECONDS = 60
_RANGES = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


@dataclass(frozen=True)
class FilterWords:
    """How an engine writes the parts of a filter: the server's client and the embedded engine have classes of each."""

    match: Callable[[str, list[str]], Any]
    time: Callable[[str, dict[str, str]], Any]
    empty: Callable[[str], Any]
    group: Callable[..., Any]


SERVER_WORDS = FilterWords(
    match=lambda column, values: models.FieldCondition(key=column, match=models.MatchAny(any=values)),
    time=lambda column, bounds: models.FieldCondition(key=column, range=models.DatetimeRange(**bounds)),  # type: ignore[arg-type]
    empty=lambda column: models.IsEmptyCondition(is_empty=models.PayloadField(key=column)),
    group=models.Filter,
)


def qdrant_filter(predicate: Predicate, words: FilterWords) -> Any:
    """Return the predicate as a filter of Qdrant; a missing value fits no test."""
    match predicate:
        case All(parts):
            return words.group(must=[qdrant_filter(part, words) for part in parts])
        case Any_(parts):
            return words.group(should=[qdrant_filter(part, words) for part in parts])
        case OneOf(column, values, negated):
            found = [_equal(column, value, words) for value in values]
            return words.group(must_not=[*found, words.empty(column)]) if negated else words.group(should=found)
        case Compare(column, "=", value):
            return words.group(must=[_equal(column, value, words)])
        case Compare(column, "!=", value):
            return words.group(must_not=[_equal(column, value, words), words.empty(column)])
        case Compare(column, op, value):
            return words.group(must=[words.time(column, {_RANGES[op]: _told(value)})])


def _equal(column: str, value: Any, words: FilterWords) -> Any:
    if isinstance(value, str):
        return words.match(column, [value])
    return words.time(column, {"gte": _told(value), "lte": _told(value)})


def _told(value: Any) -> str:
    return str(value.isoformat())


class ServerPoints:
    """Collections of a server at ``url``, or of any client of ``qdrant_client``."""

    folder: Path | None = None

    def __init__(
        self, url: str | None = None, *, api_key: str | None = None, client: QdrantClient | None = None
    ) -> None:
        self.client = client or QdrantClient(url=url, api_key=api_key, timeout=TIMEOUT_SECONDS)

    def create(self, name: str, dimension: int) -> None:
        """Create a collection; indexes on filtered columns come first, so that the graph is built with them."""
        self.client.create_collection(
            name,
            vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            # Removed points leave their segment early (qdrant/qdrant#4081: the default waits for a fifth of 1,000).
            optimizers_config=models.OptimizersConfigDiff(deleted_threshold=0.05, vacuum_min_vector_number=100),
        )
        for column in ("tenant", *TEXT_COLUMNS):
            about = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=column == "tenant")
            self.client.create_payload_index(name, column, about, wait=True)
        for column in TIME_COLUMNS:
            self.client.create_payload_index(name, column, models.PayloadSchemaType.DATETIME, wait=True)

    def drop(self, name: str) -> None:
        """Delete a collection with its files."""
        self.client.delete_collection(name)

    def names(self) -> list[str]:
        """Return the names of all collections."""
        return [collection.name for collection in self.client.get_collections().collections]

    def write(self, name: str, rows: Sequence[Row]) -> None:
        """Insert or replace points; on return they are in the server's write-ahead log and found."""
        self.client.upsert(name, [models.PointStruct(id=row.id, vector=_vectors(row), payload=row.payload)
                                  for row in rows], wait=True)  # fmt: skip

    def remove(self, name: str, ids: Sequence[str]) -> None:
        """Remove points, there or not."""
        self.client.delete(name, models.PointIdsList(points=list(ids)), wait=True)

    def there(self, name: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that are points."""
        return {str(point.id) for point in self.client.retrieve(name, list(ids), with_payload=False)}

    def count(self, name: str, where: Predicate) -> int:
        """Return exactly how many points fit."""
        return self.client.count(name, count_filter=qdrant_filter(where, SERVER_WORDS), exact=True).count

    def nearest(
        self, name: str, vector: Vector, k: int, where: Predicate, effort: int | None
    ) -> list[tuple[dict[str, Any], float]]:
        """Return payloads and cosines of the nearest points; exact with ``effort`` None."""
        params = models.SearchParams(exact=effort is None, hnsw_ef=None if effort is None else USUAL_EF * effort)
        found = self.client.query_points(
            name, query=vector.tolist(), using=DENSE, limit=k, search_params=params, with_payload=True,
            query_filter=qdrant_filter(where, SERVER_WORDS),
        )  # fmt: skip
        return [(_payload(point.payload), float(point.score)) for point in found.points]

    def sharing(self, name: str, terms: Sequence[int], k: int, where: Predicate) -> list[tuple[dict[str, Any], float]]:
        """Return payloads and BM25 of the points that share most of the hashed words."""
        asked = models.SparseVector(indices=list(terms), values=[1.0] * len(terms))
        found = self.client.query_points(
            name, query=asked, using=SPARSE, limit=k, with_payload=True,
            query_filter=qdrant_filter(where, SERVER_WORDS),
        )  # fmt: skip
        return [(_payload(point.payload), float(point.score)) for point in found.points]

    def pages(self, name: str, size: int) -> Iterator[list[Row]]:
        """Yield all points."""
        offset: Any = None
        while True:
            points, offset = self.client.scroll(
                name, limit=size, offset=offset, with_payload=True, with_vectors=[DENSE]
            )  # fmt: skip
            yield [Row(str(point.id), _dense(point.vector), {}, _payload(point.payload)) for point in points]
            if offset is None:
                return

    def optimize(self, name: str) -> None:
        """Leave it to the server, which optimises by itself."""


def _vectors(row: Row) -> dict[str, Any]:
    vectors: dict[str, Any] = {DENSE: row.vector}
    if row.terms:
        vectors[SPARSE] = models.SparseVector(indices=list(row.terms), values=list(row.terms.values()))
    return vectors


def _dense(vector: Any) -> list[float]:
    numbers: list[float] = vector[DENSE]
    return numbers


def _payload(payload: dict[str, Any] | None) -> dict[str, Any]:
    return payload or {}
