"""The lake in two lines of Python: the same rows from every reader, at any time, without Java."""

from __future__ import annotations

import datetime as dt
import os
import pydoc
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.lake_reader import LakeNotFoundError, open_lake
from pipelines.adapters.table_versions import NOT_YET, parsed, version_as_of
from pipelines.index.errors import HistoryGoneError
from pipelines.reading.ready_views import READY_VIEWS
from schemas import DROPS, TABLES, TURNS

NESTED = {
    "redactions": [{"field": "/text", "start": 0, "end": 4, "type": "NAME"}],
    "redaction_counts": {"NAME": 1},
    "flags": ["branch_inactive"],
    "created_at": dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC),
}
FAR_OFFSET = 2**60 + 1


def append(lake, table, *rows):
    for nth, row in enumerate(rows, delta.version(lake, table.name) + 1):
        delta.append_rows([table.row(**row)], lake, table, txn=("test", nth))


@pytest.fixture
def turns(lake):
    append(lake, TURNS, {"turn_id": "t1", "offset": FAR_OFFSET, **NESTED}, {"turn_id": "t2", "parts": None})
    return lake


def rows_of(reader):
    """The rows of a table by each reader that needs no JVM, as Python values."""
    frame = reader.pandas()
    return {
        "polars": reader.polars().collect().to_arrow().to_pylist(),
        "arrow": reader.arrow().to_table().to_pylist(),
        "duckdb": reader.duckdb().to_arrow_table().to_pylist(),
        "pandas": pa.Table.from_pandas(frame, preserve_index=False).to_pylist(),
    }


def by_turn(rows):
    return sorted(({**row, "redaction_counts": dict(pairs(row["redaction_counts"]))} for row in rows), key=turn_id)


def pairs(value):
    return [tuple(one.values()) if isinstance(one, dict) else one for one in value or []]


def turn_id(row):
    return row["turn_id"]


def test_every_reader_gives_the_same_rows_with_nested_values_nulls_and_whole_numbers(turns):
    reader = open_lake(turns.path).turns
    first, *others = (by_turn(rows) for rows in rows_of(reader).values())
    assert [(row["turn_id"], row["offset"]) for row in first] == [("t1", FAR_OFFSET), ("t2", 0)]
    assert first[0]["redactions"] == NESTED["redactions"]
    assert first[0]["created_at"] == NESTED["created_at"]
    assert first[1]["parts"] is None
    assert all(rows == first for rows in others)


def test_columns_stand_as_declared_in_every_reader(turns):
    reader = open_lake(turns.path).turns
    assert reader.polars().collect_schema().names() == TURNS.column_names
    assert reader.arrow().schema.names == TURNS.column_names
    assert reader.duckdb().columns == TURNS.column_names
    assert list(reader.pandas().columns) == TURNS.column_names


@pytest.mark.parametrize("name", [table.name for table in TABLES])
def test_a_table_that_is_not_there_yet_has_its_columns_and_no_rows(turns, name):
    reader = open_lake(turns.path)[name]
    for rows in rows_of(reader).values():
        assert len(rows) == (2 if name == "turns" else 0)
    assert reader.polars().collect_schema().names() == reader.columns
    assert reader.version() == (2 if name == "turns" else NOT_YET)


def test_filters_and_columns_are_read_from_the_files_alone(turns):
    reader = open_lake(turns.path).turns
    plan = reader.polars().filter(pl.col("turn_id") == "t1").select("turn_id").explain()
    assert f"PROJECT 1/{len(TURNS.columns)} COLUMNS" in plan
    assert "SELECTION" in plan
    assert list(reader.pandas(["turn_id"], where=ds.field("turn_id") == "t1")["turn_id"]) == ["t1"]
    read = "".join(map(str, reader.duckdb().filter("turn_id = 't1'").select("turn_id").explain()))
    assert "text_hash" not in read


def test_a_version_is_read_by_number_and_by_time(turns):
    reader = open_lake(turns.path).turns
    history = {one["version"]: one["timestamp"] for one in DeltaTable(turns.table("turns")).history()}
    at = dt.datetime.fromtimestamp(history[1] / 1000, dt.UTC)
    for as_of in (1, "1", at, at.isoformat(), at.replace(tzinfo=None)):
        assert reader.version(as_of) == 1
        assert reader.polars(as_of=as_of).collect()["turn_id"].to_list() == ["t1"]
        assert reader.arrow(as_of=as_of).to_table()["turn_id"].to_pylist() == ["t1"]
        assert reader.duckdb(as_of=as_of).select("turn_id").fetchall() == [("t1",)]
        assert list(reader.pandas(as_of=as_of)["turn_id"]) == ["t1"]


def test_a_lake_opened_at_a_time_stays_there_in_all_tables_views_and_sql(turns):
    at = dt.datetime.fromtimestamp(DeltaTable(turns.table("turns")).history()[0]["timestamp"] / 1000, dt.UTC)
    append(turns, TURNS, {"turn_id": "t3"})
    append(turns, DROPS, {"subject_id": "t1"})
    then, now = open_lake(turns.path, as_of=at), open_lake(turns.path)
    assert then.turns_current.duckdb().shape[0] == then.turns.polars().collect().height == 2
    assert then.sql("select count(*) from drops").fetchall() == [(0,)]
    assert now.turns_current.duckdb().shape[0] == 3
    assert now.sql("select count(*) from drops").fetchall() == [(1,)]


def test_a_time_before_the_first_commit_has_no_rows(turns):
    assert open_lake(turns.path).turns.polars(as_of="2001-01-01").collect().height == 0
    assert open_lake(turns.path, as_of="2001-01-01").turns_current.polars().collect().height == 0


def test_a_state_that_is_gone_or_never_was_is_refused_with_what_is_there(turns):
    reader = open_lake(turns.path).turns
    with pytest.raises(HistoryGoneError, match="its newest is 2"):
        reader.polars(as_of=3)
    with pytest.raises(HistoryGoneError, match="its newest is none"):
        open_lake(turns.path).drops.arrow(as_of=0)
    write_deltalake(turns.table("turns"), reader.arrow().to_table(), mode="overwrite")
    DeltaTable(turns.table("turns")).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(HistoryGoneError, match="vacuum took 2 of the 2 files"):
        reader.duckdb(as_of=2)
    assert reader.polars(as_of=3).collect().height == 2


@given(st.one_of(st.text(max_size=12), st.integers(max_value=-1), st.booleans(), st.floats(), st.none()))
def test_what_is_neither_version_nor_time_is_refused_in_words(as_of):
    try:
        known = parsed(as_of)
    except ValueError as error:
        assert "wanted a version like 3" in str(error)
    else:
        assert isinstance(known, int) and known >= 0 or known.tzinfo is not None


def test_a_lake_is_opened_at_a_time_and_not_at_a_version(turns):
    with pytest.raises(ValueError, match="a version is one table's"):
        open_lake(turns.path, as_of="3")


def test_a_folder_without_tables_is_no_lake(tmp_path):
    with pytest.raises(LakeNotFoundError, match="give the folder that the jobs wrote"):
        open_lake(tmp_path / "nowhere")


def test_a_table_that_comes_later_is_seen_by_an_open_reader(turns):
    lake = open_lake(turns.path)
    assert lake.sql("from drops").fetchall() == []
    lake.connection.register("mine", pa.table({"rule": ["consent"]}))
    append(turns, DROPS, {"subject_id": "t1", "rule": "consent"})
    assert lake.sql("select subject_id from drops join mine using (rule)").fetchall() == [("t1",)]
    assert lake.dropped_why.pandas()["meaning"].notna().all()


def test_queries_take_values_as_parameters(turns):
    lake = open_lake(turns.path)
    assert lake.sql("select turn_id from turns where turn_id = $id", id="t2").fetchall() == [("t2",)]


@pytest.mark.parametrize("name", [view.name for view in READY_VIEWS])
def test_every_view_is_read_as_every_frame(turns, name):
    view = open_lake(turns.path)[name]
    heights = {view.polars().collect().height, view.arrow().num_rows, len(view.pandas()), view.duckdb().shape[0]}
    assert heights == {2 if name == "turns_current" else 1 if name == "pii_by_day" else 0}
    assert view.polars().collect_schema().names() == view.columns


def test_views_join_with_each_other_and_themselves_in_one_polars_query(lake):
    ids = [f"t{n}" for n in range(10_000)]
    delta.append_rows([TURNS.row(turn_id=one) for one in ids], lake, TURNS, txn=("test", 1))
    delta.append_rows([DROPS.row(subject_id=one) for one in ids], lake, DROPS, txn=("test", 1))
    reader = open_lake(lake.path)
    turns, drops = reader.turns_current.polars().select("turn_id"), reader.dropped_why.polars().select("subject_id")
    joined = turns.join(drops, left_on="turn_id", right_on="subject_id").join(turns, on="turn_id")
    assert joined.select(pl.len()).collect().item() == len(ids)


def test_help_tells_tables_views_columns_and_their_meaning(turns):
    lake = open_lake(turns.path)
    told = pydoc.plain(pydoc.render_doc(lake))
    assert all(f" {one.name} " in told for one in (*TABLES, *READY_VIEWS))
    assert "not there yet" in told
    told = pydoc.plain(pydoc.render_doc(lake.drops))
    assert all(column.doc in told and column.name in told for column in DROPS.columns)
    assert lake.turns.schema.field("text").metadata[b"comment"].decode() in pydoc.render_doc(lake.turns)


def test_tables_and_views_complete_as_attributes_and_unknown_names_are_told(turns):
    lake = open_lake(turns.path)
    assert {"turns", "turns_current", "dropped_why", "sql"} <= set(dir(lake))
    with pytest.raises(AttributeError, match="no table or view turnz; there are landing, turns"):
        _ = lake.turnz
    with pytest.raises(KeyError, match="turnz"):
        _ = lake["turnz"]


def test_comments_of_columns_and_tables_are_in_delta(lake):
    for table in TABLES:
        delta.create_table(lake, table)
        stored = DeltaTable(lake.table(table.name))
        assert {f.name: f.metadata["comment"] for f in stored.schema().fields} == {c.name: c.doc for c in table.columns}
        assert (stored.metadata().name, stored.metadata().description) == (table.name, table.doc)


def test_no_java_no_spark_and_no_pandas_is_needed(turns):
    program = (
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pyspark', 'delta', 'pandas', 'torch'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "from pipelines.adapters.lake_reader import open_lake\n"
        f"lake = open_lake({str(turns.path)!r})\n"
        "print(lake.turns.polars().collect().height, lake.turns.arrow().count_rows(), lake.sql('from turns').shape[0])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": "/nowhere"}
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert (told.returncode, told.stdout) == (0, "2 2 2\n"), told.stderr


def test_without_pandas_the_command_that_installs_it_is_told(turns, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        open_lake(turns.path).turns.pandas()


def test_a_version_of_a_table_does_not_move_while_it_is_written(lake):
    append(lake, DROPS, *({"subject_id": f"t{n}"} for n in range(3)))
    pinned = open_lake(lake.path).drops.polars(as_of=2)
    append(lake, DROPS, {"subject_id": "later"})
    assert pinned.collect().height == 2
    assert version_as_of(Lake(lake.path), "drops", "2") == 2
