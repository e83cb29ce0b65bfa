"""What every launcher promises: one run a name, however often it is asked for, and four verbs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import orjson

from pipelines.training.run_spec import LOG_FILE, PROGRESS_FILE, RESULT_FILE, RunSpec

RunState = Literal["absent", "running", "succeeded", "stopped"]
Progress = Callable[[int, int], None]
KEY_TIME = re.compile(r"\A[a-z]+-(\d{8}T\d{6})-")


@dataclass(frozen=True)
class RunStatus:
    """Where a run stands. ``stopped``: it was launched, nothing runs, and there is no result.

    ``eta_seconds`` is the worker's own estimate at its last step; None before the first.
    """

    state: RunState
    step: int = 0
    steps: int = 0
    eta_seconds: float | None = None
    loss: float | None = None


class Launcher(Protocol):
    """Starts a run in its folder, which the processes of the run share with the one that asks.

    ``launch`` of a run that runs or has succeeded starts nothing. The folder's ``result.json`` alone tells success.
    """

    @property
    def name(self) -> str:
        """Name of the launcher, as ``training_runs`` holds it."""

    def launch(self, spec: RunSpec, folder: Path) -> None:
        """Start the run, or let the one that is there go on; raises ``TrainingFailed`` where it cannot start."""

    def status(self, folder: Path) -> RunStatus:
        """Tell where the run stands, also from another process than the one that launched it."""

    def cancel(self, folder: Path) -> bool:
        """End the run's processes; False where none ran. What is on disk stays, and a new launch goes on from it."""

    def logs(self, folder: Path) -> str:
        """Return what the processes wrote so far: numbers and messages of the libraries, nothing of the data."""


class TrainingFailed(Exception):
    """The run ended without a result; the message names what is known and where the log is, and quotes nothing."""

    safe_to_show = True


def run_name(key: str) -> str:
    """Return the name of the run that belongs to a trigger key; equal keys give the run of one name.

    It keeps the key's time where the key has one, so that names sort by it.
    """
    digest = hashlib.sha256(key.encode()).hexdigest()
    at = KEY_TIME.match(key)
    return f"run-{at[1]}-{digest[:8]}" if at else f"run-{digest[:16]}"


def recorded_status(folder: Path, *, is_alive: bool) -> RunStatus:
    """Return the status that the run's folder tells, given whether something of the run is alive."""
    told = last_progress(folder)
    state: RunState = "absent"
    if (folder / RESULT_FILE).is_file():
        state = "succeeded"
    elif is_alive:
        state = "running"
    elif folder.is_dir() and any(folder.iterdir()):
        state = "stopped"
    return RunStatus(state, told.get("step", 0), told.get("steps", 0), told.get("eta_seconds"), told.get("loss"))


def last_progress(folder: Path) -> dict:
    """Return the last whole line of the run's progress; empty before the first step."""
    path = folder / PROGRESS_FILE
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096))
        lines = file.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
    return dict(orjson.loads(lines)) if lines else {}


def read_log(folder: Path) -> str:
    """Return the log of the run's processes; empty before they start."""
    path = folder / LOG_FILE
    return path.read_text("utf-8", "replace") if path.is_file() else ""
