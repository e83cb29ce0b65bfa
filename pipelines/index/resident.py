"""Rows of the index in memory: exact search by blocked products, for small tables, audits and as-of answers."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.index.filters import Predicate, arrow_expression, equals
from pipelines.index.rows import HIT_COLUMNS, Hit, Vector, matrix
from pipelines.index.terms import BM25_B, BM25_K1

BLOCK_ROWS = 65_536
"""Rows of one product: a block of scores of 256 questions takes 64 MB."""

Rows = npt.NDArray[np.int64]


def top_k(questions: Vector, blocks: Iterable[Vector], k: int) -> tuple[Vector, Rows]:
    """Return scores and row numbers [m, min(k, n)] of the best rows for each of m questions, best first.

    ``blocks`` are the rows in order, float32 [b, d]; scores are dot products. Equal scores: the lower row first. Runs
    on CUDA where torch finds it, in float32.
    """
    multiply = _multiply()
    scores = np.empty((len(questions), 0), np.float32)
    rows = np.empty((len(questions), 0), np.int64)
    start = 0
    for block in blocks:
        fresh = multiply(questions, block)
        if fresh.shape[1] > k:
            best = np.argpartition(-fresh, k - 1, axis=1)[:, :k]
            best.sort(axis=1)
        else:
            best = np.broadcast_to(np.arange(fresh.shape[1]), fresh.shape)
        scores = np.concatenate([scores, np.take_along_axis(fresh, best, 1)], axis=1)
        rows = np.concatenate([rows, best + start], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        scores, rows = np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
        start += len(block)
    return scores, rows


def _multiply() -> functools.partial[Vector]:
    import sys

    torch = sys.modules.get("torch")  # imported for the model already, or not worth its seconds
    if torch is not None and torch.cuda.is_available():
        return functools.partial(_multiply_on_gpu, torch)
    return functools.partial(_multiply_on_cpu)


def _multiply_on_cpu(questions: Vector, block: Vector) -> Vector:
    product: Vector = questions @ block.T
    return product


def _multiply_on_gpu(torch: object, questions: Vector, block: Vector) -> Vector:
    on_gpu = [torch.from_numpy(np.ascontiguousarray(side)).cuda() for side in (questions, block)]  # type: ignore[attr-defined]
    product: Vector = (on_gpu[0] @ on_gpu[1].T).cpu().numpy()
    return product


def blocks_of(vectors: Vector) -> Iterator[Vector]:
    """Yield ``vectors`` in blocks of ``BLOCK_ROWS``."""
    for start in range(0, len(vectors), BLOCK_ROWS):
        yield vectors[start : start + BLOCK_ROWS]


class ResidentRows:
    """Index rows in memory, vectors of unit length."""

    def __init__(self, table: pa.Table) -> None:
        self.columns = table.select(HIT_COLUMNS).append_column("row", pa.array(np.arange(table.num_rows)))
        self.terms = table["terms"]
        self.vectors = matrix(table["vector"])

    def chosen(self, tenant: str, where: Predicate) -> Rows:
        """Return the numbers of the tenant's rows that the predicate lets through, ascending."""
        expression = arrow_expression(equals(tenant=tenant)) & arrow_expression(where)
        rows: Rows = self.columns.filter(expression)["row"].to_numpy()
        return rows

    def nearest(self, vector: Vector, k: int, rows: Rows) -> list[Hit]:
        """Return the ``k`` rows of ``rows`` nearest to a vector of unit length."""
        vectors = self.vectors if len(rows) == len(self.vectors) else self.vectors[rows]
        scores, best = top_k(vector[None], blocks_of(vectors), k)
        return self.hits(rows[best[0]], scores[0])

    def with_terms(self, terms: Iterable[str], k: int, rows: Rows) -> list[Hit]:
        """Return the ``k`` rows of ``rows`` that share most with the hashed words ``terms``, by BM25."""
        scores = np.zeros(len(self.vectors), np.float32)
        for name in set(terms):
            places, counts = self._postings.get(name, (np.empty(0, np.int64), np.empty(0)))
            rarity = np.log1p((len(self.vectors) - len(places) + 0.5) / (len(places) + 0.5))
            length = BM25_K1 * (1 - BM25_B + BM25_B * self._lengths[places] / max(self._lengths.mean(), 1e-9))
            scores[places] += rarity * counts * (BM25_K1 + 1) / (counts + length)
        order = rows[np.argsort(-scores[rows], kind="stable")[:k]]
        order = order[scores[order] > 0]
        return self.hits(order, scores[order])

    def hits(self, rows: Rows, scores: Vector) -> list[Hit]:
        """Return hits of the rows, in the order given."""
        found = self.columns.select(HIT_COLUMNS).take(pa.array(rows)).to_pylist()
        return [Hit(**row, score=float(score)) for row, score in zip(found, scores, strict=True)]

    @functools.cached_property
    def _lengths(self) -> npt.NDArray[np.float64]:
        return np.array([text.count(" ") + 1 if text else 0 for text in self.terms.to_pylist()], np.float64)

    @functools.cached_property
    def _postings(self) -> dict[str, tuple[Rows, npt.NDArray[np.float64]]]:
        places: dict[str, list[tuple[int, int]]] = {}
        for row, text in enumerate(self.terms.to_pylist()):
            for name, count in Counter((text or "").split()).items():
                places.setdefault(name, []).append((row, count))
        return {
            name: (np.array([row for row, _ in found]), np.array([count for _, count in found], np.float64))
            for name, found in places.items()
        }


class ResidentSearch:
    """Rows in memory as the planner sees them."""

    approximate = False

    def __init__(self, resident: ResidentRows) -> None:
        self.resident = resident
        self.rows = len(resident.vectors)
        self._chosen: dict[tuple[str, Predicate], Any] = {}

    def count(self, tenant: str, where: Predicate) -> int:
        """Return how many rows of the tenant fit."""
        self._chosen[tenant, where] = self.resident.chosen(tenant, where)
        return len(self._chosen[tenant, where])

    def nearest(self, vector: Vector, k: int, tenant: str, where: Predicate, effort: int | None) -> list[Hit]:
        """Return the nearest rows that fit."""
        rows = self._chosen.get((tenant, where))
        return self.resident.nearest(vector, k, self.resident.chosen(tenant, where) if rows is None else rows)
