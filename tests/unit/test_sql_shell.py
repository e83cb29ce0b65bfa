"""Queries one after the other: a prompt that completes names, keeps going after faults and writes nothing."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from jobs.sql_shell import MORE, PROMPT, Shell, completer, run_shell
from pipelines.adapters import delta
from pipelines.adapters.duck import connect_locked
from pipelines.reading.ready_views import CATALOGUE
from schemas import DROPS


@pytest.fixture
def connection(lake):
    rows = [DROPS.row(subject_id=f"t{n}", rule="consent") for n in range(3)]
    delta.append_rows(rows, lake, DROPS, txn=("test", 1))
    return connect_locked(lake)


@pytest.fixture
def typed(connection, monkeypatch, tmp_path):
    """Types lines at a prompt; returns the prompts that were shown."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def type_lines(*lines):
        waiting, prompts = iter(lines), []

        def ask(prompt):
            prompts.append(prompt)
            line = next(waiting, EOFError())
            if isinstance(line, BaseException):
                raise line
            return line

        run_shell(connection, ask)
        return prompts

    return type_lines


def test_a_query_runs_when_its_semicolon_is_there(typed, capsys):
    prompts = typed("select count(*) as n", "from drops", ";", ".quit", "never read")
    assert prompts == [PROMPT, MORE, MORE, PROMPT]
    assert "3" in capsys.readouterr().out


def test_a_semicolon_inside_a_text_ends_no_query(typed, capsys):
    prompts = typed("select 'a;", "b' as text;")
    assert prompts == [PROMPT, MORE, PROMPT]
    assert "a;" in capsys.readouterr().out


def test_faults_are_told_in_a_line_and_the_prompt_goes_on(typed, capsys):
    prompts = typed("select nothing from drops;", "copy drops to 'x.csv';", ".nonsense", "select 'on' as still;")
    told = capsys.readouterr()
    assert prompts == [PROMPT] * 5
    assert len([line for line in told.err.splitlines() if line.startswith("Error: ")]) == 3
    assert "on" in told.out


def test_an_interrupt_drops_what_is_half_written(typed, capsys):
    prompts = typed("select 1", KeyboardInterrupt(), "select 'fresh' as start;")
    assert prompts == [PROMPT, MORE, PROMPT, PROMPT]
    assert "fresh" in capsys.readouterr().out


def test_tables_schema_and_help_tell_everything(typed, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    typed(".tables", ".schema drops", ".schema dropped_why", ".help", ".schema nothing")
    told = capsys.readouterr()
    assert all(name in told.out for name in CATALOGUE)
    assert all(column.doc in told.out for column in DROPS.columns)
    assert "meaning" in told.out
    assert "no table or view nothing" in told.err


def test_out_writes_the_next_query_alone(typed, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    typed(f".out {out}", "select subject_id from drops order by all;", "select 'shown' as after;")
    assert out.read_text().split() == ["subject_id", "t0", "t1", "t2"]
    assert "shown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "word", "among"),
    [
        ("", ".sch", ".schema"),
        (".schema ", "turns_c", "turns_current"),
        ("select * from ", "dro", "dropped_why"),
        ("select * from turns_current JOIN ", "pii", "pii_by_day"),
        ("select ", "matched", "matched_id"),
        ("select drops.subject_id, ", "drops.ru", "drops.rule"),
        ("", "sel", "select"),
        ("select ", "THUMBS_u", "thumbs_up"),
    ],
)
def test_names_complete_where_they_may_stand(connection, before, word, among):
    assert among in completer(connection).candidates(before, word)


def test_no_column_is_offered_where_a_table_must_stand(connection):
    assert set(completer(connection).candidates("select * from ", "")) == set(CATALOGUE)


def test_a_shell_takes_lines_without_a_terminal(connection, capsys):
    shell = Shell(connection)
    assert shell.take("select 'line' as one;")
    assert not shell.take(".quit")
    assert "line" in capsys.readouterr().out


def test_at_a_terminal_tab_completes_and_history_stays_with_its_user(connection, lake, tmp_path):
    controller, terminal = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "dumb"}
    words = [sys.executable, "-m", "jobs.sql_query", "--lake", str(lake.path)]
    with subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal, env=environment) as shell:
        os.close(terminal)
        read_until(controller, PROMPT)
        os.write(controller, b"select rule from dropped_w\t limit 1;\n")
        assert "consent" in read_until(controller, PROMPT)
        os.write(controller, b".quit\n")
        assert shell.wait(60) == 0
    os.close(controller)
    history = tmp_path / "turnmill" / "sql_history"
    assert "from dropped_why" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def read_until(controller, words, seconds=120):
    told, end = "", time.monotonic() + seconds
    while words not in told:
        assert time.monotonic() < end, told
        if select.select([controller], [], [], 1)[0]:
            told += os.read(controller, 4096).decode(errors="replace")
    return told
