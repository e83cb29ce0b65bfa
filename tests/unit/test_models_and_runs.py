"""``turnmill runs`` and ``turnmill models`` read the tables without Spark and say what is not there."""

import json

import pytest
from click.testing import CliRunner

from jobs.model_versions import command as models
from jobs.training_runs import command as runs
from pipelines.adapters import delta
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
