"""``turnmill config``, and what it tells of: a flag wins over its variable, a variable over the default."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from jobs.command_line import main
from jobs.config_show import MASK, commands, settings_of, shown
from jobs.filter_stream import command as filter_command
from jobs.options import Exit


def told(*words, **environment):
    return CliRunner().invoke(main, ["config", *words], env=environment)


def found(*words, **environment):
    result = told(*words, "--json", **environment)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_variable_is_told_with_where_it_comes_from():
    figures = found(TURNMILL_INGEST_TOPIC="one two", TURNMILL_LAKE="/data/lake")
    told_of = {(one["command"], one["flag"]): (one["value"], one["source"]) for one in figures["settings"]}
    assert told_of["ingest", "--topic"] == ("one two", "environment")
    assert told_of["", "--lake"] == ("/data/lake", "environment")
    assert told_of["", "--keys"] == ("-", "default")
    assert ("filter", "--languages") not in told_of


def test_a_command_is_told_whole():
    flags = {one["flag"] for one in found("filter")["settings"] if one["command"] == "filter"}
    assert flags == {"--languages", "--every", "--available-now"}
    assert {one["command"] for one in found("dead-letters", "join")["settings"]} == {"", "dead-letters join"}


def test_a_flag_wins_over_its_variable_and_a_variable_over_the_default(monkeypatch):
    monkeypatch.setenv("TURNMILL_FILTER_LANGUAGES", "de")
    assert filter_command.make_context("filter", []).params["languages"] == "de"
    assert filter_command.make_context("filter", ["--languages", "en"]).params["languages"] == "en"


def test_a_slip_of_the_pen_is_told():
    assert found(TURNMILL_INGSET_TOPIC="x")["unknown"] == ["TURNMILL_INGSET_TOPIC"]


def test_a_value_that_a_flag_does_not_take_is_wrong_use_and_names_its_variable():
    result = told(TURNMILL_FILTER_EVERY="often")
    assert result.exit_code == Exit.WRONG_USE
    assert "TURNMILL_FILTER_EVERY" in result.stderr


def test_an_unknown_command_is_wrong_use():
    assert told("flter").exit_code == Exit.WRONG_USE


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("qdrant_url", "https://me:pw@example.com/x", f"https://{MASK}@example.com/x"),
        ("TURNMILL_QDRANT_API_KEY", "abc", MASK),
        ("secret_file", "/run/secrets/x", "/run/secrets/x"),
        ("topics", ("a", "b"), "a b"),
        ("policy", None, "-"),
    ],
)
def test_secrets_are_masked(name, value, expected):
    assert shown(name, value) == expected


def test_no_two_flags_of_different_jobs_share_a_variable_by_accident():
    owners = {}
    for name, command in commands():
        for one in settings_of(name, command):
            if one.command and one.variable:
                owners.setdefault(one.variable, set()).add(name)
    shared = {variable: names for variable, names in owners.items() if len(names) > 1}
    assert {variable for variable in shared if len(variable.split("_")) < 3} == set()
    assert set(shared) <= {v for v in shared if v.split("_")[1] in ("LIST", "SHOW", "QDRANT", "SCHEMA")}
