"""What a run is made of, as digests: the same for all its processes, or the run does not begin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipelines.training.checkpoints import file_digest
from pipelines.training.run_spec import RunSpec

MISSING = "missing"
SPLITS = ("train.jsonl", "validation.jsonl")


def pinned_inputs(spec: RunSpec) -> dict[str, str]:
    """Return the digests of specification, dataset and base as this machine has them.

    A file that is not there has the digest ``missing``: other processes are to hear of it, not to wait for this one.
    """
    base = Path(spec.base)
    weights = sorted(path for kind in ("*.safetensors", "*.json", "*.jinja") for path in base.glob(kind))
    return {
        "specification": spec.digest,
        **{f"dataset ({name})": _digest(Path(spec.dataset) / name) for name in SPLITS},
        "base": "-".join(f"{path.name}:{_digest(path)}" for path in weights) or MISSING,
    }


def disagreements(told: list[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return where processes differ from the first one: ``told`` holds machine and digests of each, by rank."""
    _, first = told[0]
    return [
        f"rank {rank} on {host} has another {name}"
        for rank, (host, pinned) in enumerate(told)
        for name in sorted(first.keys() | pinned.keys())
        if pinned.get(name) != first.get(name)
    ]


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError:
        return MISSING
