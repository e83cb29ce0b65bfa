"""What is known of the jobs of a deployment, as its state file tells it, and what follows for readiness."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from pipelines.durable_files import replace_file
from pipelines.supervision.restart import Ending

STATE_FOLDER, MAIN = "supervisor", "main"
"""Where the supervisors of a lake tell their states, relative to the lake, and the name of one that was given none."""

BEAT_SECONDS = 2.0
"""How often the supervisor writes its state."""

SILENT_SECONDS = 15.0
"""A state file that is older was left by a supervisor that is gone."""


class Phase(StrEnum):
    """Where a job stands."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing off"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Report:
    """The newest that a job told of one of its queries or batches; ``error`` names kinds of faults, never data."""

    name: str
    at: float
    state: str = "done"
    batch_id: int | None = None
    rows: int | None = None
    seconds: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class JobState:
    """One job: its phase, how it last ended, and its newest reports by query. Times are seconds since 1970."""

    name: str
    phase: Phase
    since: float
    pid: int | None = None
    starts: int = 0
    ending: Ending | None = None
    exit_code: int | None = None
    error: str | None = None
    next_start: float | None = None
    stale_after: float = 600.0
    reports: Mapping[str, Report] = field(default_factory=dict)

    def trouble(self, now: float) -> str | None:
        """Say what keeps the job from being ready; None where nothing does."""
        if self.phase is not Phase.RUNNING:
            return f"{self.phase.value}: {self.ending.value}" if self.ending else self.phase.value
        newest = max((report.at for report in self.reports.values()), default=self.since)
        if now - newest > self.stale_after:
            return f"silent for {now - newest:,.0f} s"
        failed = sorted(name for name, report in self.reports.items() if report.error)
        return f"fails: {', '.join(failed)}" if failed else None


@dataclass(frozen=True)
class Deployment:
    """All jobs of a supervisor at one time, as its state file holds them."""

    pid: int
    started: float
    at: float
    jobs: tuple[JobState, ...]
    bootstrap: str | None = None
    metrics_port: int | None = None

    def troubles(self, now: float | None = None) -> dict[str, str]:
        """Return what is wrong, by job; empty when the deployment is ready."""
        now = time.time() if now is None else now
        return {job.name: trouble for job in self.jobs if (trouble := job.trouble(now))}

    def write(self, path: Path) -> None:
        """Replace the state file atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, orjson.dumps(dataclasses.asdict(self)))


def state_file(lake: Path, name: str = MAIN) -> Path:
    """Return the state file of the supervisor ``name`` of the lake in the folder ``lake``."""
    return lake / STATE_FOLDER / f"{name}.json"


def read_states(lake: Path, now: float | None = None) -> dict[str, Deployment]:
    """Return the states of all supervisors that run now on the lake in the folder ``lake``, by name."""
    found = {path.stem: read_state(path, now) for path in sorted((lake / STATE_FOLDER).glob("*.json"))}
    return {name: state for name, state in found.items() if state is not None}


def read_state(path: Path, now: float | None = None) -> Deployment | None:
    """Return the state of the supervisor that runs now; None where none has written for ``SILENT_SECONDS``."""
    now = time.time() if now is None else now
    try:
        told = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    if now - told["at"] > SILENT_SECONDS:
        return None
    return Deployment(**(told | {"jobs": tuple(map(_job, told["jobs"]))}))


def _job(told: dict[str, Any]) -> JobState:
    how = told["ending"] and Ending(told["ending"])
    reports = {name: Report(**report) for name, report in told["reports"].items()}
    return JobState(**(told | {"phase": Phase(told["phase"]), "ending": how, "reports": reports}))
