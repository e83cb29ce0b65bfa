"""The lake in SQL: all tables by name, each turn once, outputs that cut nothing, errors in one line."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from jobs.sql_query import command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from schemas import FEEDBACK, TABLES, TURNS

DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
LONG = 'a "quoted", long text\nof two lines ' * 100


def write(lake, table, *rows):
    folder = lake.table(table.name)
    folder.mkdir(parents=True, exist_ok=True)
    data = pa.Table.from_pylist([table.row(**row) for row in rows], schema=table.arrow_schema)
    write_deltalake(folder, data, mode="append", configuration=table.delta_properties())


@pytest.fixture
def turns(lake):
    write(lake, TURNS, {"turn_id": "t1", "text": LONG, "offset": 1}, {"turn_id": "t2", "text": "[red]ok", "offset": 2})
    return lake


def ask(lake, *arguments):
    return CliRunner().invoke(command, [*arguments, "--lake", str(lake.path)])


def test_every_table_is_a_view_with_its_columns_whether_it_exists_or_not(turns):
    with connect(turns) as connection:
        for table in TABLES:
            rows = connection.sql(f"SELECT * FROM {table.name}")
            assert rows.columns == table.column_names
            assert len(rows.fetchall()) == (2 if table is TURNS else 0)


def test_views_follow_the_tables_and_pinned_ones_do_not(turns):
    with connect(turns) as now, connect(turns, versions={"turns": 0}) as pinned:
        write(turns, TURNS, {"turn_id": "t3"})
        assert now.sql("SELECT count(*) FROM turns").fetchone() == (3,)
        assert pinned.sql("SELECT count(*) FROM turns").fetchone() == (2,)


def test_turns_current_has_each_turn_once_the_first_landed_under_the_strictest_consent(lake):
    later = DAY + dt.timedelta(days=1)
    write(
        lake,
        TURNS,
        {"turn_id": "t1", "offset": 9, "landed_at": later, "consent": "analytics", "source": "late"},
        {"turn_id": "t1", "offset": 5, "entry": 1, "landed_at": DAY, "source": "second entry"},
        {"turn_id": "t1", "offset": 5, "entry": 0, "landed_at": DAY, "source": "first"},
        {"turn_id": "t2", "consent": "none"},
        {"turn_id": "t2", "consent": "training", "landed_at": later},
        {"turn_id": "t1", "tenant": "other", "source": "other"},
    )
    with connect(lake) as connection:
        rows = connection.sql("SELECT tenant, turn_id, source, consent FROM turns_current ORDER BY ALL").fetchall()
        assert connection.sql("SELECT * FROM turns_current").columns == TURNS.column_names
    assert rows == [
        ("default", "t1", "first", "analytics"),
        ("default", "t2", "openai_chat", "none"),
        ("other", "t1", "other", "training"),
    ]


def test_contradicting_feedback_is_kept_and_the_newest_of_each_person_is_told(lake):
    later = DAY + dt.timedelta(days=1)
    thumb = {"target_turn_id": "t1", "user_ref": "u1"}
    up = {"feedback_id": "up", "value": 1.0, "created_at": DAY, **thumb}
    down = {"feedback_id": "down", "value": -1.0, "created_at": later, **thumb}
    write(lake, FEEDBACK, {**down, "offset": 1}, {**up, "offset": 2}, {**up, "offset": 3, "landed_at": later})
    write(lake, FEEDBACK, {"feedback_id": "other", "target_turn_id": "t1", "user_ref": "u2", "created_at": DAY})
    with connect(lake) as connection:
        rows = connection.sql("SELECT feedback_id, is_newest FROM feedback_current ORDER BY ALL").fetchall()
    assert rows == [("down", True), ("other", True), ("up", False)]


def test_a_lake_in_a_folder_with_quotes_and_spaces_is_read(tmp_path):
    lake = Lake(tmp_path / "my lake's")
    write(lake, TURNS, {"turn_id": "t1"})
    with connect(lake) as connection:
        assert connection.sql("SELECT turn_id FROM turns_current").fetchall() == [("t1",)]


def test_json_csv_and_parquet_hold_whole_texts_and_nested_values(turns, tmp_path):
    query = "SELECT turn_id, text, kafka_at, redactions, redaction_counts FROM turns ORDER BY turn_id"
    lines = [json.loads(line) for line in ask(turns, query, "--json").stdout.splitlines()]
    assert [line["text"] for line in lines] == [LONG, "[red]ok"]
    assert lines[0]["redactions"] == []
    rows = list(csv.DictReader(io.StringIO(ask(turns, query, "--format", "csv").stdout)))
    assert [row["text"] for row in rows] == [LONG, "[red]ok"]
    assert rows[0]["redactions"] == "[]"
    assert rows[0]["kafka_at"].startswith("2026-01-01T00:00:00")
    out = tmp_path / "rows.parquet"
    assert ask(turns, query, "--format", "parquet", "--out", str(out)).exit_code == 0
    assert pq.read_table(out)["text"].to_pylist() == [LONG, "[red]ok"]
    assert list(tmp_path.glob("*.part")) == []


def test_the_terminal_shows_a_table_and_no_markup_is_obeyed(turns):
    shown = ask(turns, "SELECT turn_id, text FROM turns")
    assert shown.exit_code == 0
    assert "[red]ok" in shown.stdout


@pytest.mark.parametrize(
    "query", ["SELECT 1 AS one", "FROM turns", "DESCRIBE turns", "SHOW TABLES", "EXPLAIN FROM turns"]
)
def test_queries_that_read_are_answered(turns, query):
    assert ask(turns, query).exit_code == 0


@pytest.mark.parametrize(
    "query",
    ["CREATE TABLE x (i int)", "DROP VIEW turns", "COPY turns TO 'x.csv'", "SELECT 1; SELECT 2", "", "INSTALL httpfs"],
)
def test_statements_that_do_more_than_read_are_refused(turns, query):
    told = ask(turns, query)
    assert told.exit_code == 2
    assert "one query that reads" in told.stderr


def test_an_unknown_table_is_told_with_the_names_of_all_tables(turns):
    told = ask(turns, "SELECT * FROM turnz")
    assert told.exit_code == 2
    assert "turnz" in told.stderr
    assert "dead_letters" in told.stderr
    assert "turns_current" in told.stderr


def test_errors_take_one_line_and_quote_no_value(turns):
    told = ask(turns, "SELECT nothing FROM turns")
    assert told.exit_code == 2
    assert len(told.stderr.strip().splitlines()) == 1
    told = ask(turns, "SELECT text::int FROM turns", "--json")
    assert told.exit_code != 0
    assert "quoted" not in told.stderr


def test_a_missing_lake_says_what_to_do(lake):
    told = ask(lake, "SELECT 1")
    assert told.exit_code == 1
    assert "run an ingest first" in told.stderr


@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
        "EXPLAIN (ANALYZE, FORMAT json) COPY (SELECT 1) TO '{out}'",
        "/* SELECT */ EXPLAIN -- SELECT\n ANALYZE COPY (SELECT 1) TO '{out}'",
        "COPY (SELECT 1) TO '{out}'",
        "ATTACH '{out}'",
        "EXPORT DATABASE '{out}'",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PREPARE p AS SELECT 1",
    ],
)
def test_nothing_is_written_attached_or_loaded_also_behind_explain(turns, query):
    out = turns.path / "tables" / "out"
    told = ask(turns, query.format(out=out))
    assert told.exit_code == 2
    assert "one query that reads" in told.stderr
    assert not out.exists()


def test_files_outside_the_lake_are_read_only_from_folders_that_are_named(turns, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "labels.csv").write_text("turn_id,label\nt2,good\n")
    query = f"SELECT label FROM turns JOIN '{mine}/labels.csv' USING (turn_id)"
    told = ask(turns, query)
    assert told.exit_code == 2
    assert "--read DIR" in told.stderr
    assert ask(turns, query, "--read", str(mine), "--json").stdout == '{"label":"good"}\n'
    assert ask(turns, "FROM read_text('https://example.com/x')", "--read", str(mine)).exit_code == 2


@pytest.mark.parametrize(("name", "form"), [("a.csv", "csv"), ("a.parquet", "parquet"), ("a.jsonl", "json")])
def test_a_file_has_the_form_of_its_ending(turns, tmp_path, name, form):
    out = tmp_path / name
    told = ask(turns, "SELECT turn_id FROM turns ORDER BY ALL", "--out", str(out))
    assert (told.exit_code, told.stdout) == (0, "")
    assert out.read_bytes() == ask(turns, "SELECT turn_id FROM turns ORDER BY ALL", "--format", form).stdout_bytes


def test_a_file_of_an_unknown_ending_is_refused_before_the_query_runs(turns, tmp_path):
    told = ask(turns, "SELECT 1", "--out", str(tmp_path / "a.xlsx"))
    assert told.exit_code == 2
    assert ".parquet" in told.stderr


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text_in_csv_and_untouched_elsewhere(turns, cell):
    query = f"SELECT '{cell}' AS text, -1 AS n"
    assert next(csv.DictReader(io.StringIO(ask(turns, query, "--format", "csv").stdout, newline=""))) == {
        "text": f"'{cell}",
        "n": "-1",
    }
    raw = io.StringIO(ask(turns, query, "--format", "csv", "--raw-cells").stdout, newline="")
    assert next(csv.DictReader(raw))["text"] == cell
    assert json.loads(ask(turns, query, "--json").stdout)["text"] == cell


def test_a_query_that_fails_halfway_leaves_no_file(turns, tmp_path):
    out = tmp_path / "rows.jsonl"
    told = ask(turns, "SELECT CASE WHEN turn_id = 't2' THEN error('stop') END AS x FROM turns", "--out", str(out))
    assert told.exit_code != 0
    assert list(tmp_path.glob("rows*")) == []


def test_without_a_query_it_is_read_from_standard_input(turns):
    told = CliRunner().invoke(command, ["--json", "--lake", str(turns.path)], input="SELECT 1 AS one;\n")
    assert told.stdout == '{"one":1}\n'
