"""Which launcher a run gets: named by a flag, set up by a TOML file of addresses and sizes."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from jobs.options import Exit, UserError
from pipelines.training.launch import LocalTorchrun
from pipelines.training.launchers import Launcher

LAUNCHERS = ("local", "spark", "kubernetes", "kubeflow", "webhook")
FILE_OF = {"kubernetes": "cluster", "kubeflow": "cluster", "webhook": "webhook", "spark": "spark"}
"""Table of the file that a launcher needs; Spark does without."""


def choose_launcher(name: str, file: Path | None = None) -> Launcher:
    """Return the launcher ``name``; raises ``UserError`` for a set-up that is missing or not understood."""
    if name == "local":
        return LocalTorchrun(dict(os.environ))
    if name == "spark":
        from pipelines.adapters.cluster_launchers import SparkDistributor

        settings = _declared(name, file) if file is not None else {}
        _check_keys(settings, {"local", "use_gpu"}, set())
        return SparkDistributor(local=settings.get("local", True) is True, use_gpu=settings.get("use_gpu") is True)
    declared = _declared(name, file)
    if name == "webhook":
        return _webhook(declared)
    from pipelines.adapters.cluster_launchers import Kubectl
    from pipelines.training.manifests import Cluster

    _check_keys(declared, {f.name for f in fields(Cluster)}, {"image", "volume_claim", "mount"})
    cluster = Cluster(**{**declared, "mount": Path(declared["mount"])})
    return Kubectl(cluster, "job" if name == "kubernetes" else "trainjob", dict(os.environ))


def _webhook(declared: Mapping[str, Any]) -> Launcher:
    from jobs.secret_files import read_secret
    from pipelines.adapters.cluster_launchers import Webhook
    from pipelines.adapters.outbound_http import checked_target

    _check_keys(declared, {"url", "secret_file", "allow_private"}, {"url", "secret_file"})
    target = checked_target(declared["url"], allow_private=declared.get("allow_private", False) is True)
    return Webhook(target, read_secret(Path(declared["secret_file"])))


def _declared(name: str, file: Path | None) -> Mapping[str, Any]:
    table = FILE_OF[name]
    if file is None:
        raise UserError(f"wanted --launcher-file TOML with the table [{table}] for {name}, found none", Exit.WRONG_USE)
    try:
        declared = tomllib.loads(file.read_text("utf-8")).get(table)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{file}: wanted a readable TOML file, found {type(error).__name__}") from None
    if not isinstance(declared, Mapping):
        raise UserError(f"{file}: wanted the table [{table}] for {name}, found none", Exit.WRONG_USE)
    return declared


def _check_keys(declared: Mapping[str, Any], known: set[str], needed: set[str]) -> None:
    unknown, missing = sorted(set(declared) - known), sorted(needed - set(declared))
    if unknown or missing:
        found = f"found {', '.join(unknown)}" if unknown else f"missing {', '.join(missing)}"
        raise UserError(f"launcher: wanted keys out of {', '.join(sorted(known))}; {found}", Exit.WRONG_USE)
