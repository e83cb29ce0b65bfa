"""The loop that keeps jobs running: start, hear, restart by policy, stop cleanly. It is given processes and clock.

One job that is given up leaves the others running, since an ingest that goes on loses nothing while curation is mended;
the deployment is not ready then, and ends with that job's exit code.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pipelines.supervision.restart import ADVICE, RestartPolicy, ending
from pipelines.supervision.states import Deployment, JobState, Phase, Report

KILLED_EXIT = 1
"""What a deployment exits with where the job it gave up was ended by a signal."""


class Process(Protocol):
    """A running job."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""

    def heard(self) -> list[Report]:
        """Return what it reported since the last call."""

    @property
    def error(self) -> str | None:
        """The newest error that it told."""

    def terminate(self) -> None:
        """Ask it to stop at its next boundary."""

    def kill(self) -> None:
        """End it and all its children now."""


@dataclass(frozen=True)
class JobSpec:
    """A job to keep running: its name, its command, and the reports that it must have made to count as running.

    ``watched`` returns a value whose change asks for a clean restart, for instance the epoch of the keys.
    ``stale_after`` is how long it may be silent, seconds.
    """

    name: str
    command: tuple[str, ...]
    reports: frozenset[str]
    stale_after: float = 600.0
    watched: Callable[[], object] | None = field(default=None, compare=False)


class _Job:
    """One job and its process, moved on by ``tick``."""

    def __init__(
        self, spec: JobSpec, spawn: Callable[[JobSpec], Process], policy: RestartPolicy, tell: Callable[[str], None]
    ) -> None:
        self.spec, self.spawn, self.policy, self.tell = spec, spawn, policy, tell
        self.process: Process | None = None
        self.ended_at: list[float] = []
        self.seen: object = None
        self.replaced = False
        self.state = JobState(spec.name, Phase.STARTING, 0.0, stale_after=spec.stale_after)

    def change(self, **changes: object) -> None:
        self.state = dataclasses.replace(self.state, **changes)  # type: ignore[arg-type]

    def start(self, now: float) -> None:
        self.seen = self.spec.watched() if self.spec.watched else None
        self.process, self.replaced = self.spawn(self.spec), False
        starts = self.state.starts + 1
        self.change(phase=Phase.STARTING, since=now, pid=self.process.pid, starts=starts, next_start=None, reports={})

    def tick(self, now: float, *, stopping: bool) -> None:
        if self.process is not None:
            self._look_at(self.process, now, stopping=stopping)
        elif not stopping and self.state.next_start is not None and now >= self.state.next_start:
            self.start(now)

    def stop(self) -> None:
        if self.process is not None:
            self.change(phase=Phase.STOPPING)
            self.process.terminate()
        elif self.state.phase is not Phase.FAILED:
            self.change(phase=Phase.STOPPED, next_start=None)

    def _look_at(self, process: Process, now: float, *, stopping: bool) -> None:
        code = process.poll()
        self._hear(process)
        if code is not None:
            self.process = None
            self._ended(code, process.error, now, stopping=stopping)
        elif not stopping and self.spec.watched is not None and not self.replaced:
            self._look_at_watched(process, self.spec.watched())

    def _hear(self, process: Process) -> None:
        reports = dict(self.state.reports) | {report.name: report for report in process.heard()}
        self.change(reports=reports)
        if self.state.phase is Phase.STARTING and self.spec.reports <= set(reports):
            self.change(phase=Phase.RUNNING)
            self.tell(f"{self.spec.name}: running")

    def _look_at_watched(self, process: Process, value: object) -> None:
        if value != self.seen:
            self.replaced = True
            self.tell(f"{self.spec.name}: what it was started with has changed; it is started again")
            process.terminate()

    def _ended(self, code: int, error: str | None, now: float, *, stopping: bool) -> None:
        if stopping:
            self.change(phase=Phase.STOPPED, since=now, pid=None)
        elif self.replaced:
            self.start(now)
        else:
            self._failed(code, error, now)

    def _failed(self, code: int, error: str | None, now: float) -> None:
        how = ending(code)
        self.ended_at.append(now)
        wait = self.policy.wait(how, self.ended_at)
        self.change(
            phase=Phase.FAILED if wait is None else Phase.BACKING_OFF,
            since=now, pid=None, ending=how, exit_code=code, error=error,
            next_start=None if wait is None else now + wait,
        )  # fmt: skip
        what = "it is not started again" if wait is None else f"the next start is in {wait:.1f} s"
        self.tell(f"{self.spec.name}: ended with {how.value} ({code}); {what}; {ADVICE[how]}")
        if error:
            self.tell(f"{self.spec.name}: {error}")


class Supervisor:
    """Keeps the jobs of ``specs`` running until ``stop`` is called; ``tick`` moves everything on by one look."""

    def __init__(
        self,
        specs: Sequence[JobSpec],
        spawn: Callable[[JobSpec], Process],
        *,
        policy: RestartPolicy | None = None,
        clock: Callable[[], float] = time.time,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.clock = clock
        self.started = clock()
        self.stopping = False
        self._jobs = [_Job(spec, spawn, policy or RestartPolicy(), tell) for spec in specs]

    def start(self) -> None:
        """Start every job."""
        for job in self._jobs:
            job.start(self.clock())

    def tick(self) -> None:
        """Hear what jobs told, see which have ended, start those whose wait is over."""
        now = self.clock()
        for job in self._jobs:
            job.tick(now, stopping=self.stopping)

    def stop(self) -> None:
        """Ask every job to stop at its next boundary."""
        self.stopping = True
        for job in self._jobs:
            job.stop()

    def kill(self) -> list[str]:
        """End at once the jobs that still run; return their names."""
        late = [(job.spec.name, job.process) for job in self._jobs if job.process is not None]
        for _, process in late:
            process.kill()
        return [name for name, _ in late]

    @property
    def running(self) -> bool:
        """Whether any job has a process or will get one again."""
        return any(job.process is not None or job.state.next_start is not None for job in self._jobs)

    @property
    def exit_code(self) -> int:
        """0, or the exit code of the first job that was given up."""
        codes = [job.state.exit_code for job in self._jobs if job.state.phase is Phase.FAILED]
        return next((code if code and code > 0 else KILLED_EXIT for code in codes), 0)

    def deployment(self, **told: object) -> Deployment:
        """Return the state of all jobs now."""
        states = tuple(job.state for job in self._jobs)
        return Deployment(os.getpid(), self.started, self.clock(), states, **told)  # type: ignore[arg-type]
