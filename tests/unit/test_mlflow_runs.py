"""A finished run stands in MLflow once, with its figures; without MLflow the flag says what to install."""

import importlib.util

import pytest

from pipelines.adapters.mlflow_runs import EXPERIMENT, RUN_TAG, MlflowFailed, record_run


def test_a_run_that_is_recorded_again_is_one_run(tmp_path):
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    uri = (tmp_path / "mlruns").as_uri()
    for loss in (2.0, 1.5):
        record_run(uri, "run-1", {"max_steps": 20}, {"loss_after": loss}, {"turnmill.verdict": "hold"})
    client = MlflowClient(uri)
    [run] = client.search_runs([client.get_experiment_by_name(EXPERIMENT).experiment_id])
    assert run.data.tags[RUN_TAG] == "run-1"
    assert run.data.metrics["loss_after"] == 1.5
    assert (run.data.params["max_steps"], run.info.status) == ("20", "FINISHED")


def test_without_mlflow_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MlflowFailed, match="install mlflow"):
        record_run("file:nowhere", "run-1", {}, {}, {})
