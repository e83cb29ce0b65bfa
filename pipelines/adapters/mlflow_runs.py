"""Runs in MLflow too, where it is installed: one MLflow run a training run, the same figures under the same names.

Failure contract: MLflow is a mirror. What it cannot take is told by ``MlflowFailed`` and loses nothing: the tables of
the lake hold all of it. A run that is recorded again is found by its tag and written over.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from typing import Any

EXPERIMENT = "turnmill"
RUN_TAG = "turnmill.run_id"


class MlflowFailed(RuntimeError):
    """MLflow is not installed or did not take the run; the message says what to do."""

    safe_to_show = True


def record_run(tracking_uri: str, run_id: str, params: Mapping[str, Any], metrics: Mapping[str, float],
               tags: Mapping[str, str]) -> str:  # fmt: skip
    """Record a finished run at ``tracking_uri`` (a folder's ``file:`` URI or a server) and return MLflow's id of it."""
    if importlib.util.find_spec("mlflow") is None:
        raise MlflowFailed("wanted the package mlflow for --mlflow, found none; install mlflow or mlflow-skinny")
    if tracking_uri.startswith("file:"):
        # MLflow refuses folders since it keeps them in maintenance, unless they are asked for (MLflow 3.17).
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow.tracking import MlflowClient  # type: ignore[import-not-found]  # optional

    try:
        client = MlflowClient(tracking_uri)
        experiment = client.get_experiment_by_name(EXPERIMENT)
        experiment_id = experiment.experiment_id if experiment else client.create_experiment(EXPERIMENT)
        known = client.search_runs([experiment_id], f"tags.`{RUN_TAG}` = '{run_id}'", max_results=1)
        run = known[0] if known else client.create_run(experiment_id, run_name=run_id, tags={RUN_TAG: run_id, **tags})
        if not known:
            for name, value in params.items():
                client.log_param(run.info.run_id, name, value)
        for name, figure in metrics.items():
            client.log_metric(run.info.run_id, name, figure)
        client.set_terminated(run.info.run_id, "FINISHED")
    except Exception as error:
        raise MlflowFailed(f"wanted MLflow to take the run, found {type(error).__name__}") from error
    return str(run.info.run_id)
