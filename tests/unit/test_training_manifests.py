"""Manifests hold exactly the run: pinned, checked, the same bytes again; launchers make one run of all repeats."""

import dataclasses
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from pipelines.adapters.cluster_launchers import Kubectl, Webhook
from pipelines.adapters.outbound_http import IDEMPOTENCY, SIGNATURE, checked_target, is_signed
from pipelines.training.launchers import TrainingFailed
from pipelines.training.manifests import (
    RUN_LABEL,
    Cluster,
    ManifestError,
    faults,
    headless_service,
    kubeflow_train_job,
    kubernetes_job,
    rendered,
)
from pipelines.training.run_spec import RESULT_FILE, RunSpec

IMAGE = f"example.com/turnmill/train@sha256:{'a' * 64}"
CLUSTER = Cluster(IMAGE, "lake", Path("/lake"), namespace="ml", nodes=2, gpus=1)
SPEC = RunSpec("run-20260101T093000-9f3c21aa", "ds-1", "/lake/datasets/ds-1", "/lake/bases/b", "b@1", dataset_hash="ab",
               nproc=4, max_restarts=2)  # fmt: skip
FOLDER = Path("/lake/runs/run-20260101T093000-9f3c21aa")


def test_a_job_names_the_run_and_pins_what_it_is_trained_on():
    [job] = yaml.safe_load_all(rendered([kubernetes_job(SPEC, FOLDER, CLUSTER)]))
    assert job["metadata"]["name"] == "run-20260101t093000-9f3c21aa"
    assert job["metadata"]["annotations"]["turnmill.dev/spec-digest"] == SPEC.digest
    assert job["spec"]["backoffLimit"] == 2
    assert (job["spec"]["parallelism"], job["spec"]["completions"], job["spec"]["completionMode"]) == (2, 2, "Indexed")
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-1] == f"{FOLDER}/spec.json"
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    endpoint = container["command"][container["command"].index("--rdzv-endpoint") + 1]
    service = headless_service(SPEC, CLUSTER)
    pod, subdomain = endpoint.split(":")[0].split(".")
    assert pod == f"{job['metadata']['name']}-0"
    assert subdomain == service["metadata"]["name"] == job["spec"]["template"]["spec"]["subdomain"]
    assert service["spec"]["selector"].items() <= job["spec"]["template"]["metadata"]["labels"].items()


def test_a_train_job_asks_its_runtime_for_the_same_processes():
    [job] = yaml.safe_load_all(rendered([kubeflow_train_job(SPEC, FOLDER, CLUSTER)]))
    trainer = job["spec"]["trainer"]
    assert (trainer["numNodes"], trainer["numProcPerNode"]) == (2, 4)
    assert trainer["args"][-1] == f"{FOLDER}/spec.json"
    assert job["metadata"]["labels"][RUN_LABEL] == job["metadata"]["name"]


def test_equal_runs_give_equal_bytes():
    assert rendered([kubernetes_job(SPEC, FOLDER, CLUSTER)]) == rendered([kubernetes_job(SPEC, FOLDER, CLUSTER)])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image": "example.com/turnmill/train:latest"}, "pinned by digest"),
        ({"namespace": "Not_A_Label"}, "metadata.namespace"),
        ({"memory": "much"}, "resources as quantities"),
    ],
)
@pytest.mark.parametrize("make", [kubernetes_job, kubeflow_train_job])
def test_a_manifest_that_a_cluster_would_refuse_is_told_before(changes, words, make):
    with pytest.raises(ManifestError, match=words):
        rendered([make(SPEC, FOLDER, dataclasses.replace(CLUSTER, **changes))])


def test_a_mount_without_its_volume_is_told():
    job = kubernetes_job(SPEC, FOLDER, CLUSTER)
    job["spec"]["template"]["spec"]["volumes"] = []
    assert faults(job) == ["wanted volumes for lake"]


KUBECTL = """#!/bin/sh
case "$3" in
create)
  body=$(cat)
  kind=$(echo "$body" | sed -n 's/^kind: //p')
  if [ -f "$STATE/$kind" ]; then echo 'Error (AlreadyExists)' >&2; exit 1; fi
  if [ -f "$STATE/down" ]; then echo 'connection refused' >&2; exit 1; fi
  echo "$body" > "$STATE/$kind" ;;
get) if [ -f "$STATE/Job" ]; then cat "$STATE/status"; else echo "Error (NotFound)" >&2; exit 1; fi ;;
esac
"""


@pytest.fixture
def kubectl(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "status").write_text('{"status": {}}')
    program = tmp_path / "kubectl"
    program.write_text(KUBECTL)
    program.chmod(0o755)
    return Kubectl(CLUSTER, "job", {**os.environ, "STATE": str(state)}, str(program)), state


def test_a_job_that_is_launched_again_is_the_same_job(kubectl, tmp_path):
    launcher, state = kubectl
    folder = tmp_path / "runs" / SPEC.run_id
    launcher.launch(SPEC, folder)
    first = (state / "Job").read_text()
    launcher.launch(SPEC, folder)
    assert (state / "Job").read_text() == first
    assert (folder / "manifest.yaml").is_file()
    assert launcher.status(folder).state == "running"
    (state / "status").write_text('{"status": {"conditions": [{"type": "Failed", "status": "True"}]}}')
    assert launcher.status(folder).state == "stopped"
    (folder / RESULT_FILE).write_text("{}")
    assert launcher.status(folder).state == "succeeded"


def test_a_cluster_that_is_down_is_told(kubectl, tmp_path):
    launcher, state = kubectl
    (state / "down").touch()
    with pytest.raises(TrainingFailed, match="ended with code 1"):
        launcher.launch(SPEC, tmp_path / "run")


def test_a_machine_without_kubectl_is_told(tmp_path):
    with pytest.raises(TrainingFailed, match="wanted kubectl to answer"):
        Kubectl(CLUSTER, "job", {}, str(tmp_path / "none")).launch(SPEC, tmp_path / "run")


def test_a_webhook_gets_the_run_signed_under_its_name(tmp_path):
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    secret = b"an-invented-secret"
    launcher = Webhook(checked_target(f"http://127.0.0.1:{http.server_port}/", allow_private=True), secret)
    folder = tmp_path / SPEC.run_id
    assert launcher.status(folder).state == "absent"
    launcher.launch(SPEC, folder)
    launcher.launch(SPEC, folder)
    http.shutdown()
    http.server_close()
    assert {headers[IDEMPOTENCY] for headers, _ in seen} == {SPEC.run_id}
    headers, body = seen[0]
    at = int(headers[SIGNATURE].split(",")[0].removeprefix("t="))
    assert is_signed(secret, headers[SIGNATURE], body, now=at)
    assert json.loads(body)["spec"]["dataset_hash"] == "ab"
    assert launcher.status(folder).state == "running"
    with pytest.raises(TrainingFailed, match="did not take the run"):
        launcher.launch(SPEC, folder)
