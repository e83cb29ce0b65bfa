"""Every engine of the index keeps the same promises: Lance in memory and trained, exact, Qdrant's engine and client."""

from __future__ import annotations

import datetime as dt
import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.index.erasure_scan import traces
from pipelines.index.errors import DimensionMismatchError, IndexBusyError, IndexUnreadableError
from pipelines.index.exact import ExactIndex
from pipelines.index.filters import EVERYTHING, arrow_expression, parse_filter
from pipelines.index.lance import LanceIndex
from pipelines.index.qdrant import QdrantIndex
from pipelines.index.rows import Change, index_schema, keys_of
from pipelines.index.terms import hashed_terms

VERSIONS = {"versions": {"turns": 0}, "table_ids": {"turns": "id"}}
MODEL = {"model": "m", "model_fingerprint": "f1"}
DAY = dt.datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=dt.UTC)
DIMENSION = 16
HOSTILE = ["a' OR '1'='1", "C:\\x", "%", '"', "''", "a\nb", "\\'", "é", "😀", "--", ")", "OR", "' OR 1=1 --"]
ENGINES = ["exact", "lance", "lance trained", "qdrant engine", "qdrant client"]


def engine_points(folder):
    pytest.importorskip("qdrant_edge")
    pytest.importorskip("qdrant_client")
    spec = importlib.util.spec_from_file_location(
        "qdrant_engine_points", Path(__file__).with_name("qdrant_engine_points.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EnginePoints(folder)


def client_points():
    client = pytest.importorskip("qdrant_client")
    from pipelines.adapters.qdrant_points import ServerPoints

    return ServerPoints(client=client.QdrantClient(":memory:"))


def make_engine(name, folder):
    if name == "exact":
        return ExactIndex(folder)
    if name == "lance":
        return LanceIndex(folder)
    if name == "lance trained":
        return LanceIndex(folder, ann_rows=300)
    if name == "qdrant engine":
        return QdrantIndex(folder, engine_points(folder / "points"))
    return QdrantIndex(folder, client_points())


@pytest.fixture(params=ENGINES)
def index(request, tmp_path):
    return make_engine(request.param, tmp_path / "index")


def unit_vectors(n, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(keys, seed=0, words="word"):
    vectors = unit_vectors(len(keys), seed)
    lists = [
        {
            "tenant": tenant, "turn_id": turn_id, "text_hash": f"h{i % 7}", "role": ("user", "assistant")[i % 2],
            "conversation_ref": None if i % 3 else f"c{i % 5}", "lang": ("en", "de", "it's")[i % 3],
            "created_at": None if i % 11 == 0 else DAY + dt.timedelta(days=i % 40), "landed_at": DAY,
            "terms": hashed_terms(f"{words} number{i} kind{i % 4}"), "vector": vector.tolist(),
        }
        for i, ((tenant, turn_id), vector) in enumerate(zip(keys, vectors, strict=True))
    ]  # fmt: skip
    return pa.Table.from_pylist(lists, schema=index_schema(DIMENSION)), vectors


def build(index, table):
    return index.rebuild(table.to_batches(), **MODEL, **VERSIONS)


KEYS = [("a", f"t{i}") for i in range(400)] + [("b", f"t{i}") for i in range(200)]


@pytest.fixture
def built(index):
    table, vectors = rows(KEYS)
    build(index, table)
    return index, table, vectors


@pytest.fixture(scope="module", params=ENGINES)
def only_read(request, tmp_path_factory):
    index = make_engine(request.param, tmp_path_factory.mktemp("index"))
    table, vectors = rows(KEYS)
    build(index, table)
    return index, table, vectors


def exact_ids(table, vectors, probe, k, tenant, where):
    numbered = table.append_column("row", pa.array(np.arange(table.num_rows)))
    fitting = numbered.filter(arrow_expression(parse_filter("turn_id != ''"))).filter(arrow_expression(where))
    places = [r["row"] for r in fitting.select(["tenant", "row"]).to_pylist() if r["tenant"] == tenant]
    best = sorted(places, key=lambda row: -float(vectors[row] @ probe))[:k]
    return [table["turn_id"][row].as_py() for row in best]


def test_an_index_before_any_build_says_what_to_run(index):
    assert index.standing() is None
    with pytest.raises(IndexUnreadableError, match="turnmill index"):
        index.search(unit_vectors(1)[0], 3, "a")


def test_an_empty_build_answers_nothing_and_takes_rows_later(index):
    build(index, rows([])[0])
    assert index.search(unit_vectors(1)[0], 3, "a").hits == []
    assert index.search_terms(["00000000"], 3, "a").hits == []
    assert index.indexed_keys() == set()
    table, vectors = rows([("a", "t1")])
    index.apply([Change([("a", "t1")], table)], **VERSIONS)
    assert [hit.turn_id for hit in index.search(vectors[0], 3, "a").hits] == ["t1"]
    index.verify()


@pytest.mark.parametrize("exact", [False, True])
def test_hits_are_the_nearest_of_the_tenant_best_first(only_read, exact):
    index, table, vectors = only_read
    for probe in unit_vectors(8, seed=5):
        hits = index.search(probe, 10, "a", exact=exact).hits
        wanted = exact_ids(table, vectors, probe, 10, "a", EVERYTHING)
        assert [hit.turn_id for hit in hits] == wanted
        assert {hit.tenant for hit in hits} == {"a"}
        scores = [float(vectors[KEYS.index(("a", hit.turn_id))] @ probe) for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-4)


def test_hits_carry_the_references_of_their_rows(only_read):
    index, table, vectors = only_read
    (hit,) = index.search(vectors[3], 1, "a").hits
    row = table.slice(3, 1).to_pylist()[0]
    assert {name: getattr(hit, name) for name in row if name not in ("vector", "terms")} == {
        name: value for name, value in row.items() if name not in ("vector", "terms")
    }


@pytest.mark.parametrize(
    "text",
    [
        "role='user'", "role='user' and lang='de'", "lang='it''s'", "lang in ('en','it''s') and role != 'user'",
        "created > '2026-01-10' and created <= '2026-01-20T12:30:15.123456Z'", "not (lang='de' or role='user')",
        "conversation='c0'", "conversation != 'c0'", "not conversation in ('c0', 'c1')", "landed < '2026-01-01'",
        "lang='xx'", "created = '2026-01-11T12:30:15.123456Z'", "not created > '2026-01-10'",
        "created in ('2026-01-11T12:30:15.123456Z', '2026-01-12T12:30:15.123456Z')",
    ],
)  # fmt: skip
def test_a_filter_gives_exactly_the_nearest_rows_that_fit(only_read, text):
    index, table, vectors = only_read
    where = parse_filter(text)
    for tenant in ("a", "b"):
        probe = unit_vectors(1, seed=9)[0]
        found = index.search(probe, 12, tenant, where)
        assert [hit.turn_id for hit in found.hits] == exact_ids(table, vectors, probe, 12, tenant, where), found.plan


def test_there_are_k_hits_wherever_k_rows_fit(only_read):
    index, table, vectors = only_read
    for k in (1, 50, 133, 400, 1000):
        assert len(index.search(vectors[0], k, "a").hits) == min(k, 400)
        fitting = len(exact_ids(table, vectors, vectors[0], 1000, "a", parse_filter("lang='de'")))
        assert len(index.search(vectors[0], k, "a", parse_filter("lang='de'")).hits) == min(k, fitting)
    assert index.search(vectors[0], 5, "nobody").hits == []
    assert index.search(vectors[0], 0, "a").hits == []


def test_shared_words_rank_by_rarity(only_read):
    index, _, _ = only_read
    hits = index.search_terms(hashed_terms("number17 kind1 word").split(), 5, "a").hits
    assert hits[0].turn_id == "t17"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(int(hit.turn_id[1:]) % 4 == 1 for hit in hits)
    assert index.search_terms(hashed_terms("nowhere").split(), 5, "a").hits == []
    users = index.search_terms(hashed_terms("kind1").split(), 500, "a", parse_filter("role='user'")).hits
    assert {hit.role for hit in users} <= {"user"}


def test_changes_replace_remove_and_add_exactly_their_keys(built):
    index, _, vectors = built
    fresh, fresh_vectors = rows([("a", "t0"), ("a", "new")], seed=3)
    standing = index.apply([Change([("a", "t0"), ("a", "t1"), ("a", "new")], fresh)], **VERSIONS)
    assert index.indexed_keys() == set(KEYS) - {("a", "t1")} | {("a", "new")}
    assert standing.rows == 600
    assert index.search(fresh_vectors[1], 1, "a").hits[0].turn_id == "new"
    assert index.search(fresh_vectors[0], 1, "a").hits[0].turn_id == "t0"
    assert index.search(vectors[1], 1, "a").hits[0].turn_id != "t1"
    assert index.search(vectors[401], 1, "b").hits[0].turn_id == "t1"
    index.verify()


def test_a_repeated_change_changes_nothing(built):
    index, _, _ = built
    fresh, _ = rows([("a", "t0"), ("a", "new")], seed=3)
    change = Change([("a", "t0"), ("a", "t1"), ("a", "new")], fresh)
    first = index.apply([change], **VERSIONS)
    again = index.apply([change], **VERSIONS)
    assert (again.rows, again.key_hash) == (first.rows, first.key_hash)
    index.verify()


def test_an_old_reader_object_sees_each_change(built):
    index, _, vectors = built
    reader = type(index)(index.folder) if isinstance(index, ExactIndex) else index
    assert reader.search(vectors[7], 1, "a").hits[0].turn_id == "t7"
    index.apply([Change([("a", "t7")], rows([])[0])], versions={"turns": 5}, table_ids={"turns": "id"})
    found = reader.search(vectors[7], 1, "a")
    assert found.hits[0].turn_id != "t7"
    assert found.standing.versions == {"turns": 5}


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys=st.lists(
        st.tuples(st.sampled_from(["a", *HOSTILE]), st.text(max_size=4) | st.sampled_from(HOSTILE)),
        unique=True, min_size=2, max_size=12,
    ),
    data=st.data(),
)  # fmt: skip
def test_any_keys_are_replaced_and_removed_exactly(engine, tmp_path_factory, keys, data):
    index = make_engine(engine, tmp_path_factory.mktemp("index"))
    build(index, rows(keys)[0])
    gone = data.draw(st.lists(st.sampled_from(keys), unique=True))
    again = data.draw(st.lists(st.sampled_from(keys), unique=True))
    index.apply([Change(list({*gone, *again}), rows(again)[0])], **VERSIONS)
    assert index.indexed_keys() == (set(keys) - set(gone)) | set(again)
    index.verify()


def test_folding_and_training_change_no_answer(built):
    index, _, vectors = built
    for i in range(3):
        index.apply([Change([("a", f"t{i}")], rows([("a", f"n{i}")], seed=i + 20)[0])], **VERSIONS)
    before = [hit.turn_id for hit in index.search(vectors[50], 10, "a").hits]
    keys = index.indexed_keys()
    for retrain in (False, True):
        index.fold(retrain=retrain)
        assert [hit.turn_id for hit in index.search(vectors[50], 10, "a").hits] == before
        assert index.indexed_keys() == keys
        index.verify()


def test_a_scan_gives_every_row_with_its_vector(only_read):
    index, table, _ = only_read
    found = {key: row for batch in index.scan() for key, row in zip(keys_of(batch), batch.to_pylist(), strict=True)}
    assert found.keys() == set(KEYS)
    for key, row in zip(KEYS[:20], table.to_pylist(), strict=False):
        assert found[key]["vector"] == pytest.approx(row["vector"], abs=1e-6)
        assert found[key]["terms"] == row["terms"]


def test_erased_rows_leave_no_byte_in_any_file(built):
    index, table, vectors = built
    gone = [("a", f"t{i}") for i in range(0, 40, 4)] + [("b", "t5")]
    if isinstance(index, QdrantIndex) and index.points.folder is None:
        pytest.skip("the client's local mode has no files")
    places = [KEYS.index(key) for key in gone]
    vector_needles = starts(vectors[places])
    held = set(itertools.chain.from_iterable(traces(path, vector_needles) for path in files(index)))
    assert held == set(range(len(gone))), "the scan sees what is there"
    receipt = index.erase([*gone, ("a", "never there")])
    assert receipt.rows == len(gone)
    assert receipt.files > 0
    assert [path for path in files(index) if traces(path, vector_needles)] == []
    assert index.indexed_keys() == set(KEYS) - set(gone)
    assert index.standing().generation == receipt.generation
    index.verify()
    assert index.search(vectors[4], 1, "a").hits[0].turn_id != "t4"


def starts(vectors):
    return [vector[:8].tobytes() for vector in vectors]


def test_erasing_one_of_two_equal_texts_keeps_the_other(built):
    index, table, vectors = built
    twin = pa.Table.from_pylist([table.slice(4, 1).to_pylist()[0] | {"turn_id": "twin"}], schema=table.schema)
    index.apply([Change([("a", "twin")], twin)], **VERSIONS)
    assert index.erase([("a", "t4")]).rows == 1
    assert index.search(vectors[4], 1, "a").hits[0].turn_id == "twin"


def files(index):
    return sorted(path for path in index.folder.rglob("*") if path.is_file())


def test_a_row_changed_before_its_erasure_leaves_no_older_vector(built):
    index, _, vectors = built
    index.apply([Change([("a", "t3")], rows([("a", "t3")], seed=8)[0])], **VERSIONS)
    index.erase([("a", "t3")])
    assert [path for path in files(index) if traces(path, starts(vectors[3:4]))] == []


def test_vectors_of_another_length_are_refused_and_nothing_changes(built):
    index, _, vectors = built
    table = pa.Table.from_pylist([rows([("a", "x")])[0].to_pylist()[0] | {"vector": [1.0] * 8}], schema=index_schema(8))
    with pytest.raises(DimensionMismatchError, match="16 numbers"):
        index.apply([Change([("a", "x")], table)], **VERSIONS)
    with pytest.raises(DimensionMismatchError, match="16 numbers"):
        index.search(np.ones(8, np.float32), 1, "a")
    with pytest.raises(ValueError, match="zero or not finite"):
        index.search(np.zeros(DIMENSION, np.float32), 1, "a")
    assert index.indexed_keys() == set(KEYS)
    assert index.search(vectors[2], 1, "a").hits[0].turn_id == "t2"


def test_a_second_writer_is_told_to_wait(built):
    index, _, _ = built
    other = type(index)(index.folder) if isinstance(index, (ExactIndex, LanceIndex)) else None
    if other is None:
        pytest.skip("the engine holds its folder open")
    with index.writer():
        for write in (
            lambda: other.fold(retrain=True) if isinstance(other, LanceIndex) else other.erase([]),
            lambda: other.apply([], **VERSIONS),
            lambda: build(other, rows([])[0]),
        ):
            with pytest.raises(IndexBusyError, match="let it end first"):
                write()
    other.apply([], **VERSIONS)


def test_a_writer_that_was_taken_over_cannot_publish(built):
    index, _, _ = built
    before = index.standing()
    with index.writer():
        (index.folder / "writer.fence").write_text(str(before.fence + 10))
        with pytest.raises(IndexBusyError, match="took over"):
            index.apply([Change([("a", "t0")], rows([])[0])], **VERSIONS)
    assert index.standing() == before


def test_a_damaged_pointer_falls_back_to_the_one_before(built):
    index, _, vectors = built
    index.apply([Change([("a", "t0")], rows([])[0])], **VERSIONS)
    first = index.standing()
    index.apply([Change([("a", "t1")], rows([])[0])], **VERSIONS)
    (index.folder / "CURRENT").write_bytes(b"{")
    assert index.standing().rows == first.rows
    assert len(index.search(vectors[0], 5, "a").hits) == 5


def test_rows_that_are_not_the_pointers_are_noticed(built):
    index, _, _ = built
    pointer = index.folder / "CURRENT"
    content = pointer.read_text()
    pointer.write_text(content.replace(index.standing().key_hash, "0" * 16))
    with pytest.raises(IndexUnreadableError):
        index.verify()
