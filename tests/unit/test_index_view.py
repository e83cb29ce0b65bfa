"""The index equals the view of its three tables after every kind of change, and tenants stay apart."""

from __future__ import annotations

import datetime as dt
import hashlib

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from pipelines.adapters.duck import connect
from pipelines.index import view
from pipelines.index.errors import FingerprintMismatchError, IndexWriteError
from pipelines.index.lance import LanceIndex
from pipelines.index.terms import hashed_terms
from pipelines.index.view import differences, sync
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS

FINGERPRINT = "f1"
DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def text_hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def vector_of(text):
    vector = np.random.default_rng(int(text_hash(text)[:8], 16)).normal(size=8)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class Mill:
    """A lake written without Spark, and its index."""

    def __init__(self, lake):
        self.lake, self.index = lake, LanceIndex(lake.index)

    def write(self, table, *rows):
        folder = self.lake.table(table.name)
        folder.mkdir(parents=True, exist_ok=True)
        data = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
        write_deltalake(folder, data, mode="append", configuration=table.delta_properties())

    def turns(self, *ids, text, day=0, **rest):
        at = DAY + dt.timedelta(days=day)
        row = {"text": text, "text_hash": text_hash(text), "landed_at": at, **rest}
        self.write(TURNS, *({"turn_id": turn_id, **row} for turn_id in ids))

    def signals(self, *ids, keep=True, **rest):
        self.write(TURN_SIGNALS, *({"turn_id": turn_id, "keep": keep, **rest} for turn_id in ids))

    def vectors(self, *texts, fingerprint=FINGERPRINT, **rest):
        rows = [{"text_hash": text_hash(t), "vector": vector_of(t).tolist(), **rest} for t in texts]
        self.write(EMBEDDINGS, *({"model_fingerprint": fingerprint, **row} for row in rows))

    def delete(self, table, where):
        DeltaTable(self.lake.table(table.name)).delete(where)

    def connect(self, versions):
        return connect(self.lake, versions=versions)

    def sync(self, fingerprint=FINGERPRINT):
        with self.index.writer():
            result = sync(self.index, self.lake.table, self.connect, model="m", fingerprint=fingerprint)
        self.index.verify()
        assert differences(self.index, self.connect) == (0, 0)
        assert result.rows == len(self.index.indexed_keys())
        return result

    @property
    def found(self):
        return sorted(turn_id for _, turn_id in self.index.indexed_keys())


@pytest.fixture
def mill(lake):
    mill = Mill(lake)
    mill.turns("t1", text="hello")
    mill.signals("t1")
    mill.vectors("hello")
    mill.sync()
    assert mill.found == ["t1"]
    return mill


def test_a_lake_without_tables_gives_an_empty_index(lake):
    mill = Mill(lake)
    assert mill.sync().rows == 0
    assert mill.index.search(vector_of("hello"), 5, "default")[1] == []
    mill.turns("t1", text="hello")
    mill.signals("t1")
    assert mill.sync().rows == 0
    mill.vectors("hello")
    assert mill.sync().rebuilt is None
    assert mill.found == ["t1"]


def test_nothing_new_changes_nothing(mill):
    standing = mill.index.standing()
    assert mill.sync().touched == 0
    assert mill.index.standing() == standing


def test_a_vector_that_comes_late_brings_its_turn_in(mill):
    mill.turns("t2", "t3", text="late")
    mill.signals("t2", "t3")
    assert mill.sync().upserted == 0
    mill.vectors("late")
    result = mill.sync()
    assert (result.touched, result.upserted, result.rebuilt) == (2, 2, None)
    assert mill.found == ["t1", "t2", "t3"]


def test_a_known_text_in_a_new_turn_is_found(mill):
    mill.turns("t2", text="hello", day=1)
    mill.signals("t2")
    assert mill.sync().upserted == 1
    assert {hit.turn_id for hit in mill.index.search(vector_of("hello"), 5, "default")[1]} == {"t1", "t2"}


def test_removing_an_older_repeat_keeps_the_turn(mill):
    mill.turns("t1", text="hello", day=3)
    mill.sync()
    mill.delete(TURNS, "landed_at < '2026-01-02T00:00:00Z'")
    result = mill.sync()
    assert (result.touched, result.rows, result.rebuilt) == (1, 1, None)
    assert mill.index.search(vector_of("hello"), 1, "default")[1][0].landed_at == DAY + dt.timedelta(days=3)


def test_a_removed_turn_is_found_no_more(mill):
    mill.turns("t2", text="hello")
    mill.signals("t2")
    mill.sync()
    mill.delete(TURNS, "turn_id = 't1'")
    mill.sync()
    assert mill.found == ["t2"]


def test_a_removed_vector_takes_its_turns_along(mill):
    mill.delete(EMBEDDINGS, "true")
    mill.sync()
    assert mill.found == []


def test_a_turn_whose_keep_flips_to_false_leaves_and_comes_back(mill):
    folder = mill.lake.table(TURN_SIGNALS.name)
    DeltaTable(folder).update(updates={"keep": "false"}, predicate="turn_id = 't1'")
    mill.sync()
    assert mill.found == []
    mill.signals("t1", keep=True, rule_version=2)
    mill.sync()
    assert mill.found == ["t1"]


def test_a_repeat_without_consent_takes_the_turn_out(mill):
    mill.turns("t1", text="hello", day=1, consent="none")
    mill.sync()
    assert mill.found == []


def test_consent_for_analytics_is_indexed_and_none_is_not(mill):
    mill.turns("t2", text="hello", consent="analytics")
    mill.turns("t3", text="hello", consent="none")
    mill.signals("t2", "t3")
    mill.sync()
    assert mill.found == ["t1", "t2"]


def test_tenants_see_their_own_turns_only_though_ids_and_texts_are_equal(mill):
    hostile = "x' OR '1'='1"
    for tenant in ("other", hostile):
        mill.turns("t1", text="hello", tenant=tenant)
        mill.signals("t1", tenant=tenant)
        mill.vectors("hello", tenant=tenant)
    mill.sync()
    for tenant in ("default", "other", hostile):
        assert [hit.tenant for hit in mill.index.search(vector_of("hello"), 9, tenant)[1]] == [tenant]
    assert mill.index.search(vector_of("hello"), 9, "nobody")[1] == []
    mill.delete(TURNS, "tenant = 'other'")
    mill.sync()
    assert {tenant for tenant, _ in mill.index.indexed_keys()} == {"default", hostile}


def test_vectors_of_another_model_are_not_mixed_in(mill):
    mill.turns("t2", text="news")
    mill.signals("t2")
    mill.vectors("news", "hello", fingerprint="f2")
    mill.sync()
    assert mill.found == ["t1"]
    with pytest.raises(FingerprintMismatchError, match="made with m"):
        mill.sync(fingerprint="f2")
    assert mill.found == ["t1"]
    beside = Mill(mill.lake)
    beside.index = LanceIndex(mill.lake.index / "beside")
    assert beside.sync(fingerprint="f2").rows == 2
    assert (mill.found, beside.found) == (["t1"], ["t1", "t2"])


def test_many_touched_keys_come_in_slices_and_readers_see_all_of_them(mill, monkeypatch):
    monkeypatch.setattr(view, "KEYS_OF_A_SLICE", 7)
    ids = [f"n{i:02d}" for i in range(30)]
    mill.turns(*ids, text="many")
    mill.signals(*ids)
    mill.vectors("many")
    result = mill.sync()
    assert (result.touched, result.upserted) == (30, 30)
    assert mill.found == [*ids, "t1"]


def test_a_compacted_table_changes_nothing(mill):
    mill.turns("t2", text="hello", day=1)
    mill.signals("t2")
    mill.sync()
    DeltaTable(mill.lake.table(TURNS.name)).optimize.compact()
    assert mill.sync().upserted in {0, 2}
    assert mill.found == ["t1", "t2"]


def test_vacuumed_changes_build_the_index_anew(mill):
    mill.turns("t2", text="hello", day=1)
    mill.signals("t2")
    table = DeltaTable(mill.lake.table(TURNS.name))
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert "no longer there" in mill.sync().rebuilt
    assert mill.found == ["t1", "t2"]


def test_a_table_made_anew_builds_the_index_anew(mill):
    import shutil

    shutil.rmtree(mill.lake.table(TURNS.name))
    mill.turns("t9", text="hello")
    mill.turns("t8", text="hello")
    mill.signals("t9", "t8")
    assert mill.sync().rebuilt == "the table turns was made anew"
    assert mill.found == ["t8", "t9"]


def test_a_truncated_manifest_of_the_pointer_builds_the_index_anew_and_readers_keep_the_state_before(mill):
    mill.turns("t2", text="hello", day=1)
    mill.signals("t2")
    mill.sync()
    newest = min((mill.lake.index / "generations").rglob("*.manifest"))
    newest.write_bytes(b"")
    assert [hit.turn_id for hit in LanceIndex(mill.lake.index).search(vector_of("hello"), 5, "default").hits] == ["t1"]
    assert "does not open" in mill.sync().rebuilt
    assert mill.found == ["t1", "t2"]


def test_a_damaged_pointer_builds_the_index_anew(mill):
    for name in ("CURRENT", "PREVIOUS"):
        (mill.lake.index / name).write_bytes(b"")
    assert mill.sync().rebuilt == "there was no readable index"
    assert mill.found == ["t1"]


def test_a_crash_between_delete_and_append_leaves_readers_the_old_state_and_heals(mill, monkeypatch):
    mill.turns("t1", text="hello", day=1)
    mill.turns("t2", text="hello", day=1)
    mill.signals("t2")
    with monkeypatch.context() as broken:
        broken.setattr(LanceIndex, "_append", lambda *_: (_ for _ in ()).throw(OSError("power cut")))
        with pytest.raises(IndexWriteError, match="readers keep the last state"):
            mill.sync()
    assert mill.found == ["t1"]
    mill.sync()
    assert mill.found == ["t1", "t2"]


def test_a_text_that_only_its_words_recall_is_found_by_them(mill):
    mill.turns("t2", text="the zebra crossing")
    mill.signals("t2")
    mill.vectors("the zebra crossing")
    mill.sync()
    assert [hit.turn_id for hit in mill.index.search_terms(hashed_terms("Zebra!").split(), 5, "default").hits] == ["t2"]


def test_rows_that_went_missing_are_noticed_at_start_and_built_anew(mill):
    mill.turns("t2", text="hello")
    mill.signals("t2")
    mill.sync()
    pointer = mill.lake.index / "CURRENT"
    pointer.write_text(pointer.read_text().replace(mill.index.standing().key_hash, "f" * 16))
    assert "not those" in mill.sync().rebuilt
    assert mill.found == ["t1", "t2"]


def test_a_vector_that_comes_when_its_text_is_known_costs_no_rebuild(mill):
    mill.vectors("unused")
    assert mill.sync().rebuilt is None
