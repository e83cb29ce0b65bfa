"""The Lance adapter: exact deletes whatever the ids hold, one writer, the same answers exact and approximate."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from pipelines.index import lance
from pipelines.index.filters import equals
from pipelines.index.lance import LanceIndex
from pipelines.index.rows import Change, index_schema

VERSIONS = {"versions": {"turns": 0}, "table_ids": {"turns": "id"}}
MODEL = {"model": "m", "model_fingerprint": "f1"}
DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def rows(keys, seed=0, dimension=8):
    vectors = np.random.default_rng(seed).normal(size=(len(keys), dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lists = [
        {
            "tenant": tenant, "turn_id": turn_id, "text_hash": turn_id, "role": "user" if i % 2 else "assistant",
            "conversation_ref": None, "lang": "en", "created_at": None, "landed_at": DAY, "terms": "",
            "vector": vector.tolist(),
        }
        for i, ((tenant, turn_id), vector) in enumerate(zip(keys, vectors, strict=True))
    ]  # fmt: skip
    return pa.Table.from_pylist(lists, schema=index_schema(dimension)), vectors


@pytest.fixture
def index(tmp_path):
    return LanceIndex(tmp_path / "index")


def test_a_search_gives_cosines_best_first_within_role_and_tenant(index):
    table, vectors = rows([("a", f"t{i}") for i in range(50)] + [("b", f"t{i}") for i in range(50)])
    index.rebuild(table.to_batches(), **MODEL, **VERSIONS)
    hits = index.search(vectors[3], 5, "a").hits
    wanted = np.argsort(-(vectors[:50] @ vectors[3]))[:5]
    assert [hit.turn_id for hit in hits] == [f"t{i}" for i in wanted]
    assert [hit.score for hit in hits] == pytest.approx([float(vectors[i] @ vectors[3]) for i in wanted], abs=1e-5)
    users = index.search(vectors[3], 50, "a", equals(role="user")).hits
    assert len(users) == 25
    assert {hit.role for hit in users} == {"user"}


def test_a_large_index_answers_as_the_exact_search_does(tmp_path):
    index = LanceIndex(tmp_path / "index", ann_rows=1000)
    table, vectors = rows([("a", f"t{i}") for i in range(2000)], dimension=16)
    index.rebuild(table.to_batches(), **MODEL, **VERSIONS)
    more, more_vectors = rows([("a", f"n{i}") for i in range(20)], seed=1, dimension=16)
    index.apply([Change([("a", "t0")], more)], **VERSIONS)
    assert index.stats()["rows"] == 2019
    assert index.search(more_vectors[0], 1, "a")[1][0].turn_id == "n0"
    assert index.search(vectors[0], 1, "a")[1][0].turn_id != "t0"
    hits = 0
    for probe in vectors[1:41]:
        wanted = {f"t{i}" for i in np.argsort(-(vectors[1:] @ probe))[:10] + 1}
        wanted_all = wanted | {hit.turn_id for hit in index.search(probe, 10, "a")[1] if hit.turn_id[0] == "n"}
        hits += len(wanted_all & {hit.turn_id for hit in index.search(probe, 10, "a")[1]})
    assert hits / 400 >= 0.97


def test_many_small_commits_are_folded_and_still_found(index):
    index.rebuild(rows([("a", "first")])[0].to_batches(), **MODEL, **VERSIONS)
    for i in range(lance.FRAGMENTS_BEFORE_FOLD + 2):
        index.apply([Change([], rows([("a", f"t{i}")])[0])], **VERSIONS)
    assert index.stats()["fragments"] <= lance.FRAGMENTS_BEFORE_FOLD
    assert len(index.indexed_keys()) == lance.FRAGMENTS_BEFORE_FOLD + 3
    index.verify()
