"""``turnmill runs`` and ``turnmill models`` read the tables without Spark and say what is not there."""

import json
import os

import pytest
from click.testing import CliRunner

from jobs.model_versions import command as models
from jobs.training_runs import command as runs
from pipelines.adapters import delta
from pipelines.training.run_lock import take
from pipelines.training.run_spec import RunSpec
from schemas import MODEL_VERSIONS, TRAINING_RUNS


@pytest.fixture
def filled(lake):
    metrics = [("loss_before", 2.5), ("loss_after", 1.25)]
    rows = [TRAINING_RUNS.row(run_id="run-1", metrics=metrics), TRAINING_RUNS.row(run_id="run-2", state="failed")]
    delta.append_rows(rows, lake, TRAINING_RUNS, txn=("test", 1))
    model = MODEL_VERSIONS.row(
        model_version="model-1", alias="champion", verdict="promote", verdict_reason="Better.",
        evaluation=[("loss", 1.25), ("loss_base", 2.5)],
    )  # fmt: skip
    delta.append_rows([model], lake, MODEL_VERSIONS, txn=("test", 1))
    return lake


def asked(group, lake, *words):
    done = CliRunner().invoke(group, [*words, "--lake", str(lake.path), "--json"])
    return done, json.loads(done.stdout) if done.exit_code == 0 else None


def test_runs_are_listed_and_shown_with_their_figures(filled):
    _, told = asked(runs, filled, "list")
    assert {run["run_id"]: run["state"] for run in told["runs"]} == {"run-1": "succeeded", "run-2": "failed"}
    (filled.run("run-1")).mkdir(parents=True)
    (filled.run("run-1") / "progress.jsonl").write_text('{"step": 3, "steps": 9, "eta_seconds": 4.0}\n')
    _, told = asked(runs, filled, "show", "run-1")
    assert (told["metrics"], told["progress"]["step"]) == ({"loss_before": 2.5, "loss_after": 1.25}, 3)


def test_a_run_shows_how_its_processes_fare(filled):
    folder = filled.run("run-1")
    folder.mkdir(parents=True)
    rank = {"rank": 1, "host": "node.example", "share": 3, "rows_per_second": 2.5, "relative": 0.5, "individual": None,
            "compute_seconds": 0.2, "wait_seconds": 0.1, "gradient_bytes": 4096}  # fmt: skip
    line = {"step": 20, "tokens_per_second": 900.0, "stragglers": [1], "ranks": [rank]}
    (folder / "ranks.jsonl").write_text(json.dumps(line | {"step": 10}) + "\n" + json.dumps(line) + "\n")
    _, told = asked(runs, filled, "show", "run-1")
    assert told["processes"] == line
    shown = CliRunner().invoke(runs, ["show", "run-1", "--lake", str(filled.path)], env={"COLUMNS": "200"}).stderr
    assert "steps to 20: 900 tokens/s" in shown
    assert "node.example" in shown
    assert "4,096" in shown


def test_only_a_run_of_several_machines_can_be_joined(filled):
    done, _ = asked(runs, filled, "join", "run-1")
    assert done.exit_code == 1
    assert "wanted spec.json in the run's folder" in done.stderr
    folder = filled.run("run-1")
    folder.mkdir(parents=True)
    RunSpec("run-1", "ds-1", "/a", "/b", "base@1").write(folder)
    done, _ = asked(runs, filled, "join", "run-1")
    assert done.exit_code == 1
    assert "wanted a run of several machines" in done.stderr


def test_a_second_part_of_a_run_on_one_machine_is_refused(filled, monkeypatch):
    folder = filled.run("run-1")
    folder.mkdir(parents=True)
    RunSpec("run-1", "ds-1", "/a", "/b", "base@1", nodes=2, rendezvous="127.0.0.1:9").write(folder)
    monkeypatch.setattr("socket.gethostname", lambda: "node.example")
    lock = take(folder / "join-node.example.lock")
    done, _ = asked(runs, filled, "join", "run-1")
    os.close(lock)
    assert done.exit_code == 1
    assert "wanted one part of the run on node.example" in done.stderr


@pytest.mark.parametrize("name", ["run-9", "../../etc", "run-1' OR '1'='1"])
def test_a_run_that_is_not_there_is_told_without_its_name(filled, name):
    done, _ = asked(runs, filled, "show", name)
    assert done.exit_code == 1
    assert "turnmill runs list" in done.stderr
    assert name not in done.stderr


def test_models_are_listed_and_shown_with_their_verdict(filled):
    _, told = asked(models, filled, "list")
    assert [(m["model_version"], m["alias"]) for m in told["models"]] == [("model-1", "champion")]
    _, told = asked(models, filled, "list", "--tenant", "acme")
    assert told["models"] == []
    _, told = asked(models, filled, "show", "model-1")
    assert (told["verdict_reason"], told["evaluation"]["loss"]) == ("Better.", 1.25)


def test_tables_are_for_people(filled):
    done = CliRunner().invoke(models, ["list", "--lake", str(filled.path)])
    assert done.exit_code == 0
    assert "champion" in done.stderr
