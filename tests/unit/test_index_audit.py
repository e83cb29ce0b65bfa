"""The audit measures recall as it is, sees ghosts, and has the index trained anew where it falls short."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from pipelines.index import lance_search
from pipelines.index.batch_search import search_many
from pipelines.index.exact import ExactIndex
from pipelines.index.filters import equals, parse_filter
from pipelines.index.lance import LanceIndex
from pipelines.index.recall_audit import audit, keep_recall
from pipelines.index.rows import Change, index_schema

VERSIONS = {"versions": {"turns": 0}, "table_ids": {"turns": "id"}}
MODEL = {"model": "m", "model_fingerprint": "f1"}
DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
N, DIMENSION = 1500, 24


def rows(prefix, n, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lists = [
        {"tenant": "ab"[i % 2], "turn_id": f"{prefix}{i}", "text_hash": "h", "role": ("user", "assistant")[i % 3 == 0],
         "conversation_ref": None, "lang": ("en", "de")[i % 5 == 0], "created_at": None, "landed_at": DAY, "terms": "",
         "vector": vector.tolist()}
        for i, vector in enumerate(vectors)
    ]  # fmt: skip
    return pa.Table.from_pylist(lists, schema=index_schema(DIMENSION)), vectors


@pytest.fixture
def trained(tmp_path):
    index = LanceIndex(tmp_path / "index", ann_rows=1000)
    index.rebuild(rows("t", N, 0)[0].to_batches(), **MODEL, **VERSIONS)
    return index


def test_an_exact_index_has_full_recall(tmp_path):
    index = ExactIndex(tmp_path / "index")
    index.rebuild(rows("t", 300, 0)[0].to_batches(), **MODEL, **VERSIONS)
    found = audit(index, probes=20)
    assert dict(found.recall) == {"none": 1.0, "role": 1.0, "lang": 1.0}
    assert (found.probes, found.ghosts, found.passed) == (20, 0, True)


def test_an_index_without_rows_passes(tmp_path):
    index = ExactIndex(tmp_path / "index")
    index.rebuild(rows("t", 0, 0)[0].to_batches(), **MODEL, **VERSIONS)
    assert audit(index).passed


def test_recall_that_is_too_low_is_measured_and_mended(trained, monkeypatch, caplog):
    monkeypatch.setattr("pipelines.index.planner.EXACT_ROWS", 10)
    monkeypatch.setattr(lance_search, "NPROBES", 1)
    trained.apply([Change([("a", "t0")], rows("n", 30, 5)[0])], **VERSIONS)
    poor = audit(trained, probes=40)
    assert poor.lowest < 0.9
    assert not poor.passed
    folded = []
    fold = trained.fold

    def mended(*, retrain=False):
        folded.append(retrain)
        if not retrain:
            return trained.standing()
        monkeypatch.setattr(lance_search, "NPROBES", 100)
        return fold(retrain=True)

    monkeypatch.setattr(trained, "fold", mended)
    good = keep_recall(trained, probes=40)
    assert good.passed
    assert good.action == "trained anew"
    assert folded == [False, True]
    assert "trained anew" in caplog.text


@pytest.mark.parametrize(("target", "all_rows"), [(0.8, False), (0.999, True)])
def test_where_training_does_not_help_searches_widen_and_stay_wide(trained, monkeypatch, caplog, target, all_rows):
    monkeypatch.setattr("pipelines.index.planner.EXACT_ROWS", 10)
    monkeypatch.setattr(lance_search, "NPROBES", 3)
    assert audit(trained, probes=30, target=target).lowest < target
    good = keep_recall(trained, probes=30, target=target)
    assert (good.passed, good.action) == (True, "searches widened")
    assert "searches widened" in caplog.text
    assert "trained anew" not in caplog.text
    opened_again = LanceIndex(trained.folder, ann_rows=1000)
    effort = opened_again.standing().effort
    assert effort is None if all_rows else effort > 1
    assert audit(opened_again, probes=30, target=target).recall == good.recall
    assert trained.widen() is not all_rows


def test_folding_later_changes_keeps_the_width(trained, monkeypatch):
    monkeypatch.setattr(lance_search, "NPROBES", 4)
    assert trained.widen()
    trained.apply([Change([("a", "t0")], rows("n", 30, 5)[0])], **VERSIONS)
    assert trained.fold().effort == 2


def test_many_searches_by_one_reader_find_what_the_first_one_found(trained, monkeypatch):
    monkeypatch.setattr("pipelines.index.planner.EXACT_ROWS", 10)
    monkeypatch.setattr("pipelines.index.references.SEARCHES_BEFORE_LOADING", 2)
    questions = rows("q", 5, 9)[1]
    first = [LanceIndex(trained.folder, ann_rows=1000).search(one, 5, "a").hits for one in questions]
    for _ in range(2):
        assert [trained.search(one, 5, "a").hits for one in questions] == first
    gone = [(hit.tenant, hit.turn_id) for hit in first[0]]
    trained.apply([Change(gone, rows("n", 3, 8)[0])], **VERSIONS)
    assert not {hit.turn_id for hit in trained.search(questions[0], 9, "a").hits} & {turn_id for _, turn_id in gone}


def test_a_deleted_turn_that_surfaces_is_a_ghost(tmp_path):
    class Haunted(ExactIndex):
        def scan(self):
            for batch in super().scan():
                yield batch.slice(0, batch.num_rows - 200)

    index = Haunted(tmp_path / "index")
    index.rebuild(rows("t", 300, 0)[0].to_batches(), **MODEL, **VERSIONS)
    found = audit(index, probes=20)
    assert found.ghosts > 0
    assert not found.passed


def test_recall_holds_after_many_deletes_and_additions(trained):
    gone = [("ab"[i % 2], f"t{i}") for i in range(0, N, 2)]
    trained.apply([Change(gone, rows("n", 700, 5)[0])], **VERSIONS)
    found = keep_recall(trained, probes=40)
    assert found.passed
    assert found.ghosts == 0


@pytest.mark.parametrize("many", [3, 40])
def test_a_batch_of_questions_gets_the_answers_of_each_alone(trained, many):
    questions = rows("q", many, 9)[1]
    for where in (equals(), parse_filter("role='user' and lang='de'")):
        alone = [trained.search(question, 7, "a", where, exact=True).hits for question in questions]
        batch = [found.hits for found in search_many(trained, questions, 7, "a", where)]
        assert [[hit.turn_id for hit in hits] for hits in batch] == [[hit.turn_id for hit in hits] for hits in alone]
    assert [found.hits for found in search_many(trained, questions, 7, "nobody")] == [[]] * many
