"""One system: load, build, answer, sync, answer again; prints one line of JSON."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

K, TENANT = 10, "default"


class Turnmill:
    """The product's index in Lance."""

    def __init__(self, folder: Path) -> None:
        from pipelines.index.lance import LanceIndex

        self.index = LanceIndex(folder / "index")
        self.folder = folder

    def rows(self, numbers: np.ndarray, vectors: np.ndarray) -> Any:
        import datetime as dt

        import pyarrow as pa

        from pipelines.index.rows import index_schema

        n, day = len(numbers), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        schema = index_schema(vectors.shape[1])
        columns = {
            "tenant": pa.array([TENANT] * n), "turn_id": pa.array([f"{number:064x}" for number in numbers]),
            "text_hash": pa.array([f"{number:064x}" for number in numbers]), "role": pa.array(["user"] * n),
            "conversation_ref": pa.nulls(n, pa.string()), "lang": pa.array(["en"] * n),
            "created_at": pa.array([day] * n), "landed_at": pa.array([day] * n),
            "terms": pa.array([f"{number % 5000:08x} {number % 77:08x}" for number in numbers]),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1]),
        }  # fmt: skip
        return pa.Table.from_arrays([columns[field.name].cast(field.type) for field in schema], schema=schema)

    def build(self, vectors: np.ndarray) -> None:
        parts = range(0, len(vectors), 20_000)
        batches = (
            batch
            for start in parts
            for batch in self.rows(
                np.arange(start, min(start + 20_000, len(vectors))), vectors[start : start + 20_000]
            ).to_batches()
        )
        self.index.rebuild(batches, model="m", model_fingerprint="f", versions={"turns": 0}, table_ids={})
        self.keep_recall()

    def keep_recall(self) -> None:
        from pipelines.index.recall_audit import keep_recall

        keep_recall(self.index)  # as the job does after its first sync, and every half hour

    def search(self, question: np.ndarray) -> list[int]:
        return [int(hit.turn_id, 16) for hit in self.index.search(question, K, TENANT).hits]

    def sync(self, numbers: np.ndarray, vectors: np.ndarray, gone: np.ndarray) -> None:
        from pipelines.index.rows import Change

        keys = [(TENANT, f"{number:064x}") for number in [*gone.tolist(), *numbers.tolist()]]
        self.index.apply([Change(keys, self.rows(numbers, vectors))], versions={"turns": 1}, table_ids={})

    def size(self) -> int:
        return int(self.index.stats()["bytes"])


class TurnmillBatch(Turnmill):
    """The same, all questions at once."""

    def search_all(self, questions: np.ndarray) -> list[list[int]]:
        from pipelines.index.batch_search import search_many

        found = search_many(self.index, questions, K, TENANT)
        return [[int(hit.turn_id, 16) for hit in one.hits] for one in found]


class PlainLance:
    """LanceDB as its guide shows it, with the index that it recommends for speed at high recall."""

    def __init__(self, folder: Path) -> None:
        import lancedb

        self.folder = folder / "plain"
        self.database = lancedb.connect(self.folder)

    def rows(self, numbers: np.ndarray, vectors: np.ndarray) -> Any:
        import pyarrow as pa

        array = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
        return pa.table({"id": pa.array(numbers), "vector": array})

    def build(self, vectors: np.ndarray) -> None:
        from lancedb.index import HnswSq

        self.table = self.database.create_table("t", self.rows(np.arange(len(vectors)), vectors))
        self.table.create_index("vector", config=HnswSq(distance_type="cosine"))

    def search(self, question: np.ndarray) -> list[int]:
        query = self.table.search(question).distance_type("cosine").ef(128).select(["id"])
        return [int(number) for number in query.limit(K).to_arrow()["id"].to_pylist()]

    def sync(self, numbers: np.ndarray, vectors: np.ndarray, gone: np.ndarray) -> None:
        for start in range(0, len(gone), 1000):
            self.table.delete(f"id IN ({', '.join(map(str, gone[start : start + 1000].tolist()))})")
        self.table.add(self.rows(numbers, vectors))
        self.table.optimize()

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


class Faiss:
    """FAISS; a graph cannot remove, so deletes are filtered out of a wider answer (facebookresearch/faiss#3339)."""

    def __init__(self, kind: str) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss, self.kind, self.gone = faiss, kind, np.empty(0, np.int64)

    def build(self, vectors: np.ndarray) -> None:
        faiss, dimension = self.faiss, vectors.shape[1]
        if self.kind == "flat":
            self.index = faiss.IndexFlatIP(dimension)
        else:
            self.index = faiss.IndexHNSWFlat(dimension, 32, faiss.METRIC_INNER_PRODUCT)
            self.index.hnsw.efConstruction, self.index.hnsw.efSearch = 100, 128
        self.index.add(vectors)

    def search(self, question: np.ndarray) -> list[int]:
        _, found = self.index.search(question[None], K * 2 if len(self.gone) else K)
        return [int(row) for row in found[0] if row not in self.removed][:K] if len(self.gone) else found[0].tolist()

    def sync(self, numbers: np.ndarray, vectors: np.ndarray, gone: np.ndarray) -> None:
        self.index.add(vectors)
        self.gone, self.removed = gone, set(gone.tolist())

    def size(self) -> int:
        return 0


class Usearch:
    """USearch with cosine distances in float32."""

    def build(self, vectors: np.ndarray) -> None:
        from usearch.index import Index

        self.index = Index(ndim=vectors.shape[1], metric="cos", dtype="f32", connectivity=16, expansion_search=128)
        self.index.add(np.arange(len(vectors)), vectors, threads=1)

    def search(self, question: np.ndarray) -> list[int]:
        return [int(key) for key in self.index.search(question, K, threads=1).keys]

    def sync(self, numbers: np.ndarray, vectors: np.ndarray, gone: np.ndarray) -> None:
        self.index.remove(gone)
        self.index.add(numbers, vectors, threads=1)

    def size(self) -> int:
        return 0


def system(name: str, folder: Path) -> Any:
    """Return the system of that name."""
    made = {
        "turnmill": lambda: Turnmill(folder), "turnmill_batch": lambda: TurnmillBatch(folder),
        "lancedb": lambda: PlainLance(folder), "faiss_flat": lambda: Faiss("flat"),
        "faiss_hnsw": lambda: Faiss("hnsw"), "usearch": Usearch,
    }  # fmt: skip
    return made[name]()


def answered(one: Any, questions: np.ndarray) -> tuple[list[list[int]], dict[str, float]]:
    """Ask all questions, after ten that do not count; return the rows found and times."""
    if hasattr(one, "search_all"):
        started = time.perf_counter()
        found = one.search_all(questions)
        seconds = time.perf_counter() - started
        return found, {"questions_a_second": round(len(questions) / seconds, 1)}
    for question in questions[:10]:
        one.search(question)
    found, times = [], []
    cpu = time.process_time()
    for question in questions:
        started = time.perf_counter()
        found.append(one.search(question))
        times.append(time.perf_counter() - started)
    milliseconds, cpu = np.array(times) * 1000, time.process_time() - cpu
    return found, {
        "cpu_ms": round(cpu / len(questions) * 1000, 3),
        "p50_ms": round(float(np.median(milliseconds)), 3),
        "p99_ms": round(float(np.quantile(milliseconds, 0.99)), 3),
        "questions_a_second": round(len(times) / sum(times), 1),
    }


def main() -> None:
    """Measure one system."""
    name, data = sys.argv[1], Path(sys.argv[2])
    vectors, asked = np.load(data / "vectors.npy", mmap_mode="r"), np.load(data / "asked.npz")
    rows, questions, gone = int(asked["rows"]), asked["questions"], asked["gone"]
    with tempfile.TemporaryDirectory() as scratch:
        one = system(name, Path(scratch))
        figures: dict[str, Any] = {}
        started = time.perf_counter()
        one.build(np.ascontiguousarray(vectors[:rows]))
        figures["build_seconds"] = round(time.perf_counter() - started, 2)
        figures["found_before"], times = answered(one, questions)
        figures |= times
        numbers = np.arange(rows, len(vectors))
        started = time.perf_counter()
        one.sync(numbers, np.ascontiguousarray(vectors[rows:]), gone)
        figures["sync_seconds"] = round(time.perf_counter() - started, 2)
        figures["found_after"], again = answered(one, questions)
        figures |= {f"{key}_after": value for key, value in again.items()}
        figures["bytes"] = one.size()
        figures["memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
