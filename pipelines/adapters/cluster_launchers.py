"""Runs outside this machine: kubectl for Jobs and TrainJobs, Spark's TorchDistributor, a webhook of your own.

Failure contract: ``launch`` may be repeated; the run's name is the object's name and the idempotency key, so that the
other side makes one run of all repeats. What could not be launched raises ``TrainingFailed``. Success is told by the
``result.json`` in the run's folder alone, which the run shares with this machine.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from pipelines.adapters.outbound_http import RequestFailed, Target, post_json
from pipelines.training import worker_path
from pipelines.training.launch import worker_environment
from pipelines.training.launchers import RunStatus, TrainingFailed, read_log, recorded_status
from pipelines.training.manifests import (
    Cluster,
    headless_service,
    kubeflow_train_job,
    kubernetes_job,
    object_name,
    rendered,
)
from pipelines.training.run_spec import LOG_FILE, RESULT_FILE, RunSpec

MANIFEST_FILE = "manifest.yaml"
KUBECTL_SECONDS = 60.0
ALREADY = "AlreadyExists"


@dataclass(frozen=True)
class Kubectl:
    """Creates the run as an object of a cluster, by the ``kubectl`` of this machine and its current context."""

    cluster: Cluster
    kind: Literal["job", "trainjob"]
    environment: Mapping[str, str]
    executable: str = "kubectl"

    @property
    def name(self) -> str:
        """Name of the launcher, as ``training_runs`` holds it."""
        return "kubernetes-job" if self.kind == "job" else "kubeflow-trainjob"

    def launch(self, spec: RunSpec, folder: Path) -> None:
        """Write the manifest into the run's folder and create what it holds; what is there already stays."""
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / RESULT_FILE).is_file():
            return
        spec.write(folder)
        text = rendered(self._objects(spec, folder))
        (folder / MANIFEST_FILE).write_text(text, "utf-8")
        for document in text.split("---\n"):
            done = self._run("create", "-f", "-", given=document)
            if done.returncode != 0 and ALREADY not in done.stderr:
                raise TrainingFailed(f"kubectl create ended with code {done.returncode}; try {folder / MANIFEST_FILE}")

    def status(self, folder: Path) -> RunStatus:
        """Tell where the run stands: its folder for progress and result, the cluster for whether it lives."""
        return recorded_status(folder, is_alive=self._lives(folder))

    def cancel(self, folder: Path) -> bool:
        """Delete the run's object with its pods."""
        return self._run("delete", self.kind, object_name(folder.name), "--wait=false").returncode == 0

    def logs(self, folder: Path) -> str:
        """Return the pods' output."""
        return self._run("logs", f"--selector=turnmill.dev/run={object_name(folder.name)}", "--tail=-1").stdout

    def _objects(self, spec: RunSpec, folder: Path) -> list[dict[str, Any]]:
        if self.kind == "trainjob":
            return [kubeflow_train_job(spec, folder, self.cluster)]
        return [headless_service(spec, self.cluster), kubernetes_job(spec, folder, self.cluster)]

    def _lives(self, folder: Path) -> bool:
        """An object that has not failed or completed lives, also while it waits in a queue."""
        done = self._run("get", self.kind, object_name(folder.name), "-o", "json")
        if done.returncode != 0:
            # A cluster that does not answer has not said that the run is gone.
            return "NotFound" not in done.stderr
        conditions = orjson.loads(done.stdout).get("status", {}).get("conditions", [])
        return not any(one["type"] in ("Complete", "Failed") and one["status"] == "True" for one in conditions)

    def _run(self, *words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [self.executable, "--namespace", self.cluster.namespace, *words]
        try:
            return subprocess.run(
                command, input=given, capture_output=True, text=True, timeout=KUBECTL_SECONDS,
                env=dict(self.environment), check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TrainingFailed(f"wanted kubectl to answer, found {type(error).__name__}") from error


@dataclass(frozen=True)
class Webhook:
    """Hands the specification to a service of yours, which starts the run and writes into its folder.

    The key is the run's name: the service must make one run of all requests with it.
    """

    target: Target
    secret: bytes
    name: str = "webhook"

    def launch(self, spec: RunSpec, folder: Path) -> None:
        """Send the signed specification; a run that has its result is not asked for again."""
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / RESULT_FILE).is_file():
            return
        spec.write(folder)
        body = orjson.dumps({"type": "training.launch", "id": spec.run_id, "folder": str(folder), "spec": asdict(spec)})
        try:
            post_json(self.target, body, secret=self.secret, idempotency_key=spec.run_id)
        except RequestFailed as failure:
            raise TrainingFailed(f"The webhook did not take the run: {failure}") from failure
        (folder / ACCEPTED_FILE).touch()

    def status(self, folder: Path) -> RunStatus:
        """Tell where the run stands by its folder; one that was taken and has no result runs."""
        is_alive = (folder / ACCEPTED_FILE).is_file() and not (folder / FAILED_FILE).is_file()
        return recorded_status(folder, is_alive=is_alive)

    def cancel(self, folder: Path) -> bool:
        """Ask the service to end the run; False when it did not take the request."""
        body = orjson.dumps({"type": "training.cancel", "id": folder.name})
        try:
            post_json(self.target, body, secret=self.secret, idempotency_key=f"{folder.name}-cancel")
        except RequestFailed:
            return False
        return True

    def logs(self, folder: Path) -> str:
        """Return what the service wrote to the run's log."""
        return read_log(folder)


ACCEPTED_FILE = "accepted"
FAILED_FILE = "failed"
"""A service writes this empty file when the run ended without a result."""


@dataclass(frozen=True)
class SparkDistributor:
    """Runs the processes inside Spark's executors (``pyspark.ml.torch.distributor``), on the driver with ``local``.

    ``launch`` returns when the run has ended: Spark's tasks live as long as the job that asked for them. Tasks (without
    ``local``) need a free slot for each process at once, and the run's folder, base and dataset under the same paths.
    """

    local: bool = True
    use_gpu: bool = False
    name: str = "spark-torch-distributor"

    def launch(self, spec: RunSpec, folder: Path) -> None:
        """Run the processes to their end; a run that has its result is not run again.

        Spark does not tell that processes ended badly: the run then has no result, which ``follow`` tells.
        """
        from pyspark.ml.torch.distributor import TorchDistributor

        folder.mkdir(parents=True, exist_ok=True)
        if (folder / RESULT_FILE).is_file():
            return
        path = spec.write(folder)
        # Spark hands on what the processes write to this one's standard output, where results of commands stand.
        log = (folder / LOG_FILE).open("a", encoding="utf-8")
        try:
            with log, redirect_stdout(log), _variables(worker_environment(os.environ, spec.nproc)):
                distributor = TorchDistributor(num_processes=spec.nproc, local_mode=self.local, use_gpu=self.use_gpu)
                distributor.run(worker_path(), str(path))
        except Exception as error:
            raise TrainingFailed(f"Spark's distributor ended with {type(error).__name__}") from error

    def status(self, folder: Path) -> RunStatus:
        """Tell where the run stands; between launches nothing of it lives."""
        return recorded_status(folder, is_alive=False)

    def cancel(self, folder: Path) -> bool:
        """The run ends with the Spark job of the process that launched it."""
        return False

    def logs(self, folder: Path) -> str:
        """Return what Spark handed on of the processes' output; the rest is in the logs of its executors."""
        return read_log(folder)


@contextmanager
def _variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Let processes that are started inside the block begin with ``wanted``; the variables before come back."""
    before = dict(os.environ)
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            os.environ.pop(name, None)
        os.environ.update(before)
