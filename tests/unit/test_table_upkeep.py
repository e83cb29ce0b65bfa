"""Upkeep of tables: joins and removals change no row, and take nothing from a reader that is behind."""

from __future__ import annotations

import datetime as dt
import json
import os
import time

import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

from jobs.command_line import main
from jobs.maintain_batch import readers
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.progress import Progress
from pipelines.adapters.table_upkeep import MANY_SMALL, Reader, keep_up, retention_seconds
from schemas import DEAD_LETTERS, TURNS

DAYS = 86_400


def write(lake, n_files=MANY_SMALL, first=0):
    for nth in range(first, first + n_files):
        delta.append_rows([TURNS.row(turn_id=f"t{nth}")], lake, TURNS, txn=("test", nth))


def rows(lake):
    return connect(lake).sql("SELECT * FROM turns ORDER BY turn_id").fetchall()


def made_days_ago(lake, days):
    """Let everything of the table have been written some days ago: the log's times, and those inside it."""
    for path in lake.table("turns").rglob("*"):
        if path.is_file():
            if path.suffix == ".json":
                actions = [json.loads(line) for line in path.read_text().splitlines()]
                for action in actions:
                    for kind, key in (("commitInfo", "timestamp"), ("remove", "deletionTimestamp")):
                        if kind in action:
                            action[kind][key] -= days * DAYS * 1000
                path.write_text("\n".join(map(json.dumps, actions)))
            at = path.stat().st_mtime - days * DAYS
            os.utime(path, (at, at))


def parquet_files(lake):
    return sorted(lake.table("turns").glob("*.parquet"))


def test_small_files_are_joined_and_every_row_stays(lake):
    write(lake)
    before = rows(lake)
    done = keep_up(lake, "turns", [])
    assert (done.files_before, done.files_after, done.files_removed) == (MANY_SMALL, 1, 0)
    assert rows(lake) == before
    assert len(parquet_files(lake)) == MANY_SMALL + 1


def test_a_handful_of_files_is_left_as_it_is(lake):
    write(lake, MANY_SMALL - 1)
    version = delta.version(lake, "turns")
    assert keep_up(lake, "turns", []).files_after == MANY_SMALL - 1
    assert delta.version(lake, "turns") == version


def test_files_of_old_versions_go_once_their_retention_is_over(lake):
    write(lake)
    keep_up(lake, "turns", [])
    before = rows(lake)
    made_days_ago(lake, 3)
    assert keep_up(lake, "turns", []).files_removed == MANY_SMALL
    assert rows(lake) == before
    assert len(parquet_files(lake)) == 1


def test_old_files_go_also_after_a_checkpoint_has_forgotten_them(lake):
    write(lake)
    keep_up(lake, "turns", [])
    made_days_ago(lake, 3)
    DeltaTable(str(lake.table("turns"))).create_checkpoint()
    assert keep_up(lake, "turns", [], dry_run=True).files_removed == MANY_SMALL
    assert keep_up(lake, "turns", []).files_removed == MANY_SMALL
    assert len(parquet_files(lake)) == 1


def test_old_change_data_and_what_failed_tasks_left_go_and_what_is_being_written_stays(lake):
    write(lake, 2)
    DeltaTable(str(lake.table("turns"))).update({"key_epoch": "7"}, predicate="turn_id = 't1'")
    folder = lake.table("turns")
    assert list(folder.glob("_change_data/*"))
    (folder / "part-failed.parquet").write_bytes(b"x")
    made_days_ago(lake, 3)
    (folder / "part-begun.parquet").write_bytes(b"x")
    before = rows(lake)
    keep_up(lake, "turns", [])
    assert not list(folder.glob("_change_data/*"))
    assert [path.name for path in folder.glob("part-[bf]*")] == ["part-begun.parquet"]
    assert rows(lake) == before


def test_upkeep_with_nothing_to_do_commits_nothing_and_counts_nothing_twice(lake):
    write(lake)
    keep_up(lake, "turns", [])
    made_days_ago(lake, 3)
    keep_up(lake, "turns", [])
    version = delta.version(lake, "turns")
    assert keep_up(lake, "turns", []).files_removed == 0
    assert delta.version(lake, "turns") == version


def test_a_copy_of_a_lake_holds_for_a_reader_as_the_lake_did(lake):
    write(lake)
    keep_up(lake, "turns", [])
    made_days_ago(lake, 3)
    for path in lake.table("turns").rglob("*"):
        os.utime(path)
    assert keep_up(lake, "turns", [Reader("filter", "turns", 4)]).held


def test_versions_within_retention_stay_readable(lake):
    write(lake)
    version = delta.version(lake, "turns")
    keep_up(lake, "turns", [])
    assert DeltaTable(str(lake.table("turns")), version=version).to_pyarrow_table().num_rows == MANY_SMALL


def test_a_reader_that_is_behind_keeps_the_files_that_it_has_still_to_read(lake):
    write(lake)
    keep_up(lake, "turns", [])
    made_days_ago(lake, 3)
    behind, level = Reader("filter", "turns", 4), Reader("filter", "turns", delta.version(lake, "turns") + 1)
    other = Reader("embed", "turn_signals", 1)
    done = keep_up(lake, "turns", [other, behind])
    assert "filter has still to read version 4, 72 hours old" in done.held
    assert len(parquet_files(lake)) == MANY_SMALL + 1
    assert keep_up(lake, "turns", [other, level]).held is None


def test_a_dry_run_tells_and_changes_nothing(lake):
    write(lake)
    version = delta.version(lake, "turns")
    done = keep_up(lake, "turns", [], dry_run=True)
    assert done.bytes_joined > 0
    assert (delta.version(lake, "turns"), done.files_after) == (version, MANY_SMALL)


def test_upkeep_gives_way_to_another_writer(lake, monkeypatch):
    write(lake)
    compact = DeltaTable.optimize.fget

    def outrun(table):
        DeltaTable(str(lake.table("turns"))).delete("turn_id = 't1'")
        return compact(table)

    monkeypatch.setattr(DeltaTable, "optimize", property(outrun))
    done = keep_up(lake, "turns", [])
    assert done.gave_way
    assert len(rows(lake)) == MANY_SMALL - 1


def test_retention_is_the_tables_own(lake):
    write(lake, 1)
    assert retention_seconds(DeltaTable(str(lake.table("turns")))) == 2 * DAYS


def test_every_reader_is_known_by_where_it_stands(lake):
    write(lake, 2)
    Progress(lake, "assemble").advance({"turns": 1})
    checkpoint = lake.checkpoint("filter")
    for folder, text in (("offsets", 'v1\n{}\n{"reservoirVersion": 2, "index": -1}'), ("commits", "v1")):
        (checkpoint / folder).mkdir(parents=True)
        (checkpoint / folder / "0").write_text(text)
    assert set(readers(lake)) == {Reader("filter", "turns", 2), Reader("assemble", "turns", 2)}


def test_the_command_lets_old_payloads_go_and_tells_what_it_did(lake):
    write(lake)
    old = dt.datetime.now(dt.UTC) - dt.timedelta(days=40)
    letter = DEAD_LETTERS.row(landed_at=old, payload_encrypted=b"x", payload_key_id="payload-1")
    delta.append_rows([letter], lake, DEAD_LETTERS, txn=("test", 1))
    told = CliRunner().invoke(main, ["maintain", "--json", "--lake", str(lake.path), "--expire-letters", "30d"])
    assert told.exit_code == 0, told.stderr
    figures = json.loads(told.stdout)
    assert figures["expired"] == 1
    assert {one["table"]: one["files_after"] for one in figures["tables"]} == {"turns": 1, "dead_letters": 1}
    assert connect(lake).sql("SELECT payload_encrypted FROM dead_letters").fetchall() == [(None,)]


@pytest.mark.parametrize("times", [0, 2])
def test_a_change_that_met_the_upkeep_is_made_again(times):
    exceptions = pytest.importorskip("delta.exceptions")
    left = [times]

    def change():
        if left[0]:
            left[0] -= 1
            raise exceptions.ConcurrentDeleteReadException("files were joined")

    delta.undisturbed(change)
    assert left == [0]


def test_a_change_that_meets_others_again_and_again_fails():
    exceptions = pytest.importorskip("delta.exceptions")

    def change():
        raise exceptions.ConcurrentAppendException(str(time.time()))

    with pytest.raises(exceptions.ConcurrentAppendException):
        delta.undisturbed(change)
