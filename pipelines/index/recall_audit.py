"""Whether searches find what they should: a sample of indexed turns, asked as questions, against exact search.

Each probe is asked three times: for its tenant alone, for its role too, for its language too. A probe's exact answer
comes from one pass over all rows. A hit that no row of the pass has is a ghost: a deleted turn that still surfaces.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.index.filters import equals
from pipelines.index.rows import HIT_COLUMNS, Hit, Key, Vector, keys_of, matrix
from pipelines.index.vector_index import VectorIndex

TARGET, PROBES, K = 0.97, 64, 10
FILTERS = ("none", "role", "lang")
NEAR = 1e-4
"""Hits whose cosine is that close to the last exact one count as found: equal texts have equal vectors."""

_log = logging.getLogger("turnmill.index")


@dataclass(frozen=True)
class Audit:
    """Recall at 10 by filter, over ``probes`` probes; ``ghosts`` hits that no longer exist; what was done about it."""

    probes: int
    recall: Mapping[str, float]
    ghosts: int
    target: float = TARGET
    action: str = "none"

    @property
    def lowest(self) -> float:
        """The worst recall of all filters; 1 without probes."""
        return min(self.recall.values(), default=1.0)

    @property
    def passed(self) -> bool:
        """Whether every filter reaches the target and nothing deleted surfaced."""
        return self.lowest >= self.target and not self.ghosts


@dataclass
class _Exact:
    """The exact answers of the probes under one filter, brought up to date batch by batch."""

    column: str | None
    scores: Vector


def audit(index: VectorIndex, *, probes: int = PROBES, k: int = K, target: float = TARGET, seed: int = 0) -> Audit:
    """Compare the searches of a sample with the exact ones; reads all rows twice, one batch at a time."""
    standing = index.standing()
    if standing is None or not standing.rows:
        return Audit(0, {}, 0, target)
    asked = _sample(index, min(probes, standing.rows), standing.rows, seed)
    exact = [
        _Exact(None if name == "none" else name, np.full((asked.num_rows, k), -2.0, np.float32)) for name in FILTERS
    ]
    live: set[Key] = set()
    vectors = matrix(asked["vector"])
    found = [_asked(index, asked, vectors, k, answers.column) for answers in exact]
    wanted = {(hit.tenant, hit.turn_id) for hits in found for some in hits for hit in some}
    for batch in index.scan():
        live |= wanted.intersection(keys_of(batch))
        for answers in exact:
            _merge(answers, asked, vectors, batch)
    recall = {
        name: _recall(hits, answers.scores) for name, hits, answers in zip(FILTERS, found, exact, strict=True)
    }  # fmt: skip
    return Audit(asked.num_rows, recall, len(wanted - live), target)


def keep_recall(index: VectorIndex, **how: Any) -> Audit:
    """Audit, and below the target fold, then train anew, then widen every search until it is reached.

    An index that was just trained on exactly its rows is widened at once. The width stays with the index; the last
    step compares all rows. The log tells what was found and done.
    """
    found = audit(index, **how)
    for action, mend in _remedies(index):
        if found.passed:
            return found
        _log.warning("recall %.3f of %.3f wanted, %d ghosts: %s", found.lowest, found.target, found.ghosts, action)
        if not mend():
            break
        found = replace(audit(index, **how), action=action)
    if not found.passed:
        _log.warning("recall is still %.3f, %d ghosts", found.lowest, found.ghosts)
    return found


def _remedies(index: VectorIndex) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and deed of each remedy, the lightest first; a deed that gives False has nothing left to do."""
    stats, standing = index.stats(), index.standing()
    if standing is None or standing.rows != standing.rows_trained or stats["rows_unindexed"]:
        yield "folded", index.fold
        yield "trained anew", functools.partial(index.fold, retrain=True)
    while True:
        yield "searches widened", index.widen


def _sample(index: VectorIndex, n: int, rows: int, seed: int) -> pa.Table:
    chosen = np.sort(np.random.default_rng(seed).choice(rows, n, replace=False))
    start, parts = 0, []
    for batch in index.scan():
        here = chosen[(chosen >= start) & (chosen < start + batch.num_rows)] - start
        if len(here):
            parts.append(batch.take(pa.array(here)))
        start += batch.num_rows
    return pa.Table.from_batches(parts).combine_chunks()


def _asked(index: VectorIndex, asked: pa.Table, vectors: Vector, k: int, column: str | None) -> list[list[Hit]]:
    about = asked.select(HIT_COLUMNS).to_pylist()
    return [
        index.search(vector, k, row["tenant"], equals(**({column: row[column]} if column else {}))).hits
        for row, vector in zip(about, vectors, strict=True)
    ]


def _merge(answers: _Exact, asked: pa.Table, vectors: Vector, batch: pa.RecordBatch) -> None:
    scores = vectors @ matrix(batch["vector"]).T
    fits = _equal(asked, batch, "tenant")
    if answers.column:
        fits &= _equal(asked, batch, answers.column)
    scores[~fits] = -2.0
    k = answers.scores.shape[1]
    both = np.concatenate([answers.scores, scores], axis=1)
    answers.scores = -np.sort(np.partition(-both, k - 1, axis=1)[:, :k], axis=1)


def _equal(asked: pa.Table, batch: pa.RecordBatch, column: str) -> npt.NDArray[np.bool_]:
    sides = [np.array(side[column].to_pylist(), dtype=object) for side in (asked, batch)]
    equal: npt.NDArray[np.bool_] = sides[0][:, None] == sides[1][None, :]
    return equal


def _recall(found: list[list[Hit]], exact: Vector) -> float:
    wanted = (exact > -2.0).sum()
    right = sum(
        min(sum(hit.score >= scores[scores > -2.0][-1] - NEAR for hit in hits), int((scores > -2.0).sum()))
        for hits, scores in zip(found, exact, strict=True)
    )
    return float(right / wanted) if wanted else 1.0
