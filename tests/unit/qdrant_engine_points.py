"""Qdrant's engine in this process (``qdrant-edge-py``): the collections of one folder, for tests without a server."""

from __future__ import annotations

import shutil
from pathlib import Path

import qdrant_edge as edge

from pipelines.adapters.qdrant_points import DENSE, SPARSE, USUAL_EF, FilterWords, qdrant_filter
from pipelines.index.qdrant import Row

WORDS = FilterWords(
    match=lambda column, values: edge.FieldCondition(key=column, match=edge.MatchAny(values)),
    time=lambda column, bounds: edge.FieldCondition(key=column, range=edge.RangeDateTime(**bounds)),
    empty=lambda column: edge.IsEmptyCondition(column),
    group=edge.Filter,
)


class EnginePoints:
    """A shard a collection; the engine allows one open handle a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shards: dict[str, edge.EdgeShard] = {}

    def shard(self, name):
        if name not in self.shards:
            self.shards[name] = edge.EdgeShard.load(str(self.folder / name))
        return self.shards[name]

    def create(self, name, dimension):
        (self.folder / name).mkdir(parents=True)
        config = edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
            sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        )
        self.shards[name] = edge.EdgeShard.create(str(self.folder / name), config)

    def drop(self, name):
        shard = self.shards.pop(name, None)
        if shard is not None:
            shard.close()
        shutil.rmtree(self.folder / name)

    def close(self):
        while self.shards:
            self.shards.popitem()[1].close()

    def names(self):
        return sorted(path.name for path in self.folder.glob("turnmill-*"))

    def write(self, name, rows):
        points = []
        for row in rows:
            vectors = {DENSE: row.vector}
            if row.terms:
                vectors[SPARSE] = edge.SparseVector(list(row.terms), list(row.terms.values()))
            points.append(edge.Point(row.id, vectors, row.payload))
        self.shard(name).update(edge.UpdateOperation.upsert_points(points))
        self.shard(name).flush()

    def remove(self, name, ids):
        self.shard(name).update(edge.UpdateOperation.delete_points(list(ids)))
        self.shard(name).flush()

    def there(self, name, ids):
        return {str(point.id) for point in self.shard(name).retrieve(list(ids), with_payload=False, with_vector=False)}

    def count(self, name, where):
        return self.shard(name).count(edge.CountRequest(exact=True, filter=qdrant_filter(where, WORDS)))

    def nearest(self, name, vector, k, where, effort):
        params = edge.SearchParams(exact=effort is None, hnsw_ef=None if effort is None else USUAL_EF * effort)
        return self.asked(name, edge.Query.Nearest(vector.tolist(), using=DENSE), k, where, params)

    def sharing(self, name, terms, k, where):
        asked = edge.SparseVector(list(terms), [1.0] * len(terms))
        return self.asked(name, edge.Query.Nearest(asked, using=SPARSE), k, where, None)

    def asked(self, name, query, k, where, params):
        request = edge.QueryRequest(
            limit=k, query=query, filter=qdrant_filter(where, WORDS), params=params, with_payload=True
        )
        return [(point.payload, point.score) for point in self.shard(name).query(request)]

    def pages(self, name, size):
        offset = None
        while True:
            points, offset = self.shard(name).scroll(
                edge.ScrollRequest(offset=offset, limit=size, with_payload=True, with_vector=True)
            )
            yield [Row(str(point.id), list(point.vector[DENSE]), {}, point.payload) for point in points]
            if offset is None:
                return

    def optimize(self, name):
        self.shard(name).optimize()
