import json

import pytest
from click.testing import CliRunner

from jobs import doctor_check
from pipelines.adapters import machine_checks
from pipelines.adapters.java import JavaError
from pipelines.adapters.machine_checks import Check, Places, State


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("TURNMILL_CACHE", str(tmp_path / "cache"))
    return Places(tmp_path / "lake", tmp_path / "lake.keys", tmp_path / "lake.kafka")


def only(checks):
    (check,) = checks
    return check


def test_a_key_that_others_may_read_fails_with_what_to_do(places):
    places.keys.mkdir(mode=0o700)
    (places.keys / "identity").write_bytes(b"")
    (places.keys / "identity").chmod(0o644)
    check = only(machine_checks._keys(places))
    assert check.state is State.FAIL
    assert "chmod 600" in check.advice
    (places.keys / "identity").chmod(0o600)
    assert only(machine_checks._keys(places)).state is State.OK


def test_keys_inside_the_lake_fail(places):
    inside = Places(places.lake, places.lake / "keys", places.kafka)
    inside.keys.mkdir(parents=True, mode=0o700)
    assert only(machine_checks._keys(inside)).state is State.FAIL


def test_jars_that_are_not_there_yet_are_a_warning_and_nothing_is_downloaded(places, tmp_path):
    checks = list(machine_checks._jars(places))
    assert {check.state for check in checks} == {State.WARN}
    assert not (tmp_path / "cache").exists()


def test_a_cluster_that_does_not_answer_fails(places, monkeypatch):
    from pipelines.adapters import kafka_topics

    answers = kafka_topics.topic_partitions
    monkeypatch.setattr(kafka_topics, "topic_partitions", lambda bootstrap, timeout: answers(bootstrap, 0.5))
    check = only(machine_checks._kafka(Places(places.lake, places.keys, places.kafka, "127.0.0.1:1")))
    assert check.state is State.FAIL


def test_no_java_is_a_line_of_the_report_and_not_its_end(places, monkeypatch):
    def none():
        raise JavaError("No Java found.")

    monkeypatch.setattr(machine_checks, "find_java", none)
    first = next(machine_checks.check_machine(places))
    assert (first.name, first.state) == ("java", State.FAIL)
    assert "openjdk-17" in first.advice


def test_a_check_that_breaks_is_told_by_its_kind_alone(places, monkeypatch):
    def broken():
        raise ValueError("a private path")

    monkeypatch.setattr(machine_checks, "find_java", broken)
    first = next(machine_checks.check_machine(places))
    assert first.state is State.FAIL
    assert "ValueError" in first.found
    assert "private" not in first.found


@pytest.mark.parametrize(("state", "code"), [(State.OK, 0), (State.WARN, 0), (State.FAIL, 1)])
def test_only_a_failed_check_makes_the_command_fail(monkeypatch, state, code):
    monkeypatch.setattr(doctor_check, "check_machine", lambda places: [Check("gpu", state, "turnmill[embed]", "do it")])
    result = CliRunner().invoke(doctor_check.command, ["--json"])
    assert result.exit_code == code
    assert json.loads(result.stdout) == {
        "ok": code == 0,
        "checks": [{"name": "gpu", "state": str(state), "found": "turnmill[embed]", "advice": "do it"}],
    }
    assert CliRunner().invoke(doctor_check.command, []).exit_code == code
