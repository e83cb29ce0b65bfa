"""Checkpoints that are whole or do not count: the manifest is written last, and every file is checked before use."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

import orjson

from pipelines.durable_files import flush_to_disk, replace_file

MANIFEST = "turnmill-checkpoint.json"
NAME = re.compile(r"checkpoint-(\d+)")
KEPT = 2


def seal_checkpoint(folder: Path, spec_digest: str) -> None:
    """Write the manifest of a checkpoint whose files are all there: SHA-256 and size of each, and the run's digest."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    flush_to_disk([*files, folder])
    told = {
        "spec": spec_digest,
        "files": {str(p.relative_to(folder)): [p.stat().st_size, file_digest(p)] for p in files},
    }
    replace_file(folder / MANIFEST, orjson.dumps(told, option=orjson.OPT_SORT_KEYS))


def latest_complete(folder: Path, spec_digest: str) -> Path | None:
    """Return the checkpoint of the most steps that is whole and of this run, None where there is none.

    A checkpoint without a manifest, with a file that is missing, changed or of another size, or of a run with another
    specification does not count.
    """
    for found in sorted(_checkpoints(folder), key=_steps, reverse=True):
        if is_complete(found, spec_digest):
            return found
    return None


def is_complete(checkpoint: Path, spec_digest: str) -> bool:
    """Tell whether the checkpoint is whole, unchanged and of this run."""
    try:
        told = orjson.loads((checkpoint / MANIFEST).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return False
    if told.get("spec") != spec_digest:
        return False
    wanted = told["files"].items()
    return all(
        (path := checkpoint / name).is_file() and path.stat().st_size == size and file_digest(path) == digest
        for name, (size, digest) in wanted
    )


def drop_incomplete(folder: Path, spec_digest: str) -> list[str]:
    """Remove checkpoints that do not count, so that a full disk gets its room back; returns their names."""
    broken = [found for found in _checkpoints(folder) if not is_complete(found, spec_digest)]
    for found in broken:
        shutil.rmtree(found)
    return sorted(found.name for found in broken)


def drop_older(folder: Path, kept: int = KEPT) -> None:
    """Remove all but the ``kept`` newest sealed checkpoints; one that is being written is left alone."""
    sealed = sorted((c for c in _checkpoints(folder) if (c / MANIFEST).is_file()), key=_steps)
    for found in sealed[:-kept]:
        shutil.rmtree(found)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checkpoints(folder: Path) -> list[Path]:
    return [p for p in folder.glob("checkpoint-*") if p.is_dir() and NAME.fullmatch(p.name)]


def _steps(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])
