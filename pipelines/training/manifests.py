"""A run as Kubernetes objects: a Job, a Kubeflow TrainJob; rendered from the specification, checked before use.

The run's folder and its dataset lie on a volume that all pods mount under the same paths as the machine that asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from pipelines.training.launch import FRESH_MEETING, OFFLINE
from pipelines.training.run_spec import SPEC_FILE, RunSpec

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""RFC 1123 label, which names of Jobs and volumes must be."""
IMAGE = re.compile(r"[a-z0-9][a-z0-9._:/-]*@sha256:[0-9a-f]{64}")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|Ki|Mi|Gi|Ti|M|G|T)?")
RUN_LABEL = "turnmill.dev/run"
PORT = 29_400


class ManifestError(ValueError):
    """A manifest that a cluster would refuse or that would not be this run; the message lists what is wrong."""

    safe_to_show = True


@dataclass(frozen=True)
class Cluster:
    """Where a run runs: image (pinned by digest), claim of the shared volume and its mount path, resources a pod.

    ``nodes`` pods of ``nproc`` processes each; ``gpus`` a pod, 0 for none. ``keep_seconds``: how long a finished Job
    stays (``ttlSecondsAfterFinished``).
    """

    image: str
    volume_claim: str
    mount: Path
    namespace: str = "default"
    nodes: int = 1
    gpus: int = 0
    cpu: str = "2"
    memory: str = "8Gi"
    keep_seconds: int = 86_400
    service_account: str = "default"
    runtime: str = "torch-distributed"
    """ClusterTrainingRuntime that a TrainJob refers to."""
    labels: Mapping[str, str] = field(default_factory=dict)


def object_name(run_id: str) -> str:
    """Return the name of the run's object; one run has one name, so a second create is refused by the cluster."""
    return run_id.lower()


def kubernetes_job(spec: RunSpec, folder: Path, cluster: Cluster) -> dict[str, Any]:
    """Return the run as a ``batch/v1`` Job: one indexed pod a node, torchrun's rendezvous at the first."""
    name = object_name(spec.run_id)
    pod = {
        "restartPolicy": "Never",
        "subdomain": name,
        "serviceAccountName": cluster.service_account,
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [_container(spec, folder, cluster, rendezvous=f"{name}-0.{name}:{PORT}")],
        "volumes": [_volume(cluster)],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(spec, cluster),
        "spec": {
            "completions": cluster.nodes,
            "parallelism": cluster.nodes,
            "completionMode": "Indexed",
            "backoffLimit": spec.max_restarts,
            "ttlSecondsAfterFinished": cluster.keep_seconds,
            "template": {"metadata": {"labels": _labels(spec, cluster)}, "spec": pod},
        },
    }


def headless_service(spec: RunSpec, cluster: Cluster) -> dict[str, Any]:
    """Return the service that gives the pods of a Job their names, which the rendezvous needs."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(spec, cluster),
        "spec": {"clusterIP": "None", "selector": {RUN_LABEL: object_name(spec.run_id)}, "ports": [{"port": PORT}]},
    }


def kubeflow_train_job(spec: RunSpec, folder: Path, cluster: Cluster) -> dict[str, Any]:
    """Return the run as a Kubeflow ``TrainJob`` (trainer.kubeflow.org/v1alpha1); its runtime sets up torchrun.

    Volumes are mounted by a pod template patch of the trainer's replicated job ``node``.
    """
    container = _container(spec, folder, cluster, rendezvous=None)
    patch = {
        "targetJobs": [{"name": "node"}],
        "spec": {
            "containers": [{"name": "node", "volumeMounts": container["volumeMounts"]}],
            "volumes": [_volume(cluster)],
        },
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": _metadata(spec, cluster),
        "spec": {
            "runtimeRef": {"name": cluster.runtime},
            "trainer": {
                "image": cluster.image,
                "command": ["torchrun"],
                "args": ["--module", "pipelines.training.worker", str(folder / SPEC_FILE)],
                "numNodes": cluster.nodes,
                "numProcPerNode": spec.nproc,
                "resourcesPerNode": container["resources"],
                "env": container["env"],
            },
            "podTemplateOverrides": [patch],
        },
    }


def rendered(objects: list[dict[str, Any]]) -> str:
    """Return checked objects as YAML documents, equal for equal objects; raises ``ManifestError``."""
    wrong = [f"{one.get('kind')}: {fault}" for one in objects for fault in faults(one)]
    if wrong:
        raise ManifestError(f"manifest: {'; '.join(wrong)}")
    return "---\n".join(yaml.safe_dump(one, sort_keys=True) for one in objects)


def faults(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a cluster, or the promise to run exactly this run, would refuse in ``manifest``."""
    found = []
    metadata = manifest.get("metadata", {})
    for what in ("name", "namespace"):
        if not DNS_LABEL.fullmatch(str(metadata.get(what, ""))):
            found.append(f"wanted metadata.{what} as a DNS label")
    if manifest.get("kind") == "Job":
        found += _job_faults(manifest["spec"])
    elif manifest.get("kind") == "TrainJob":
        found += _train_job_faults(manifest["spec"])
    return found


def _job_faults(spec: Mapping[str, Any]) -> list[str]:
    template = spec["template"]["spec"]
    volumes = {volume["name"] for volume in template["volumes"]}
    found = []
    if template.get("restartPolicy") not in ("Never", "OnFailure"):
        found.append("wanted restartPolicy Never or OnFailure")
    if spec["parallelism"] != spec["completions"]:
        found.append("wanted all pods of the run at once")
    for container in template["containers"]:
        found += _image_and_resources(container["image"], container["resources"])
        lost = {mount["name"] for mount in container["volumeMounts"]} - volumes
        if lost:
            found.append(f"wanted volumes for {', '.join(sorted(lost))}")
    return found


def _train_job_faults(spec: Mapping[str, Any]) -> list[str]:
    trainer = spec["trainer"]
    found = _image_and_resources(trainer["image"], trainer["resourcesPerNode"])
    if not spec["runtimeRef"].get("name"):
        found.append("wanted the name of a runtime")
    if trainer["numNodes"] < 1 or trainer["numProcPerNode"] < 1:
        found.append("wanted at least one node and one process")
    return found


def _image_and_resources(image: str, resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = [] if IMAGE.fullmatch(image) else ["wanted an image pinned by digest (NAME@sha256:…)"]
    quantities = [str(value) for kind in ("requests", "limits") for value in resources.get(kind, {}).values()]
    if not quantities or not all(QUANTITY.fullmatch(quantity) for quantity in quantities):
        found.append("wanted resources as quantities")
    return found


def _container(spec: RunSpec, folder: Path, cluster: Cluster, rendezvous: str | None) -> dict[str, Any]:
    given = {"cpu": cluster.cpu, "memory": cluster.memory} | ({"nvidia.com/gpu": cluster.gpus} if cluster.gpus else {})
    command = [
        *("python", "-m", "torch.distributed.run", "--nnodes", str(cluster.nodes)),
        *("--nproc-per-node", str(spec.nproc), "--max-restarts", str(spec.max_restarts)),
        *("--rdzv-backend", "c10d", "--rdzv-id", object_name(spec.run_id), "--rdzv-endpoint", str(rendezvous)),
        *("--module", "pipelines.training.worker", str(folder / SPEC_FILE)),
    ]
    return {
        "name": "trainer",
        "image": cluster.image,
        "command": command,
        "env": [{"name": name, "value": value} for name, value in sorted((OFFLINE | FRESH_MEETING).items())],
        "resources": {"requests": given, "limits": given},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "lake", "mountPath": str(cluster.mount)}],
    }


def _volume(cluster: Cluster) -> dict[str, Any]:
    return {"name": "lake", "persistentVolumeClaim": {"claimName": cluster.volume_claim}}


def _metadata(spec: RunSpec, cluster: Cluster) -> dict[str, Any]:
    """Name and labels; the annotations pin what is trained on what."""
    pinned = {"dataset-version": spec.dataset_version, "dataset-hash": spec.dataset_hash, "base": spec.base_label,
              "spec-digest": spec.digest}  # fmt: skip
    return {
        "name": object_name(spec.run_id),
        "namespace": cluster.namespace,
        "labels": _labels(spec, cluster),
        "annotations": {f"turnmill.dev/{name}": value for name, value in pinned.items()},
    }


def _labels(spec: RunSpec, cluster: Cluster) -> dict[str, str]:
    return {"app.kubernetes.io/name": "turnmill", RUN_LABEL: object_name(spec.run_id), **cluster.labels}
