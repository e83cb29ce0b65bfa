"""``turnmill up``: all streams and periodic batches under one supervisor, until SIGTERM.

Five processes: the streams from Kafka to ``turn_signals`` in one Spark application, embedding in another, the batches
in a third, the index and the maintenance without a JVM. A lease keeps a second instance away from the same lake.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from prometheus_client import CollectorRegistry

from jobs.lake_queries import ASSEMBLE_EVERY, CURATE_EVERY, STREAM_QUERIES, TRIGGER_EVERY
from jobs.options import Settings, beside, turnmill_command
from jobs.status_jobs import lags
from jobs.streaming import DEFAULT_EVERY, held_lease
from pipelines.adapters import delta
from pipelines.adapters.child_process import ChildProcess
from pipelines.adapters.kafka_broker import EmbeddedBroker, running_broker
from pipelines.adapters.lake import Lake
from pipelines.adapters.lake_metrics import LakeCollector
from pipelines.adapters.metrics_endpoint import HOST, Endpoint, serving
from pipelines.adapters.spark_session import DRIVER_MEMORY, driver_memory
from pipelines.adapters.streams import stop_on_signals
from pipelines.embedding.models import DEFAULT_MODEL
from pipelines.privacy.keys import KeyFolder
from pipelines.supervision.states import BEAT_SECONDS, MAIN, SILENT_SECONDS, Deployment, state_file
from pipelines.supervision.supervisor import JobSpec, Supervisor
from schemas import TABLES

STOP_SECONDS = 30.0
"""How long jobs have to reach a boundary; a batch that is ended later is done again at the next start."""

LOOK_SECONDS = 0.2
MAINTAIN_EVERY = 600.0
JOBS = ("streams", "embed", "index", "batches", "maintain", "trigger")
METRICS_PORT = 9464
"""The port that OpenTelemetry's Prometheus exporters take by default."""
STREAMS_EVERY = 2.0
"""Two queries stand between an event and ``turns``: their intervals and run times add up to its freshness."""


@dataclass(frozen=True)
class Plan:
    """What runs, and how often: intervals in seconds."""

    streams: float = STREAMS_EVERY
    embed: float = DEFAULT_EVERY
    index: float = DEFAULT_EVERY
    assemble: float = ASSEMBLE_EVERY
    curate: float = CURATE_EVERY
    trigger: float = TRIGGER_EVERY
    maintain: float = MAINTAIN_EVERY
    model: str = DEFAULT_MODEL
    start_runs: bool = False
    only: tuple[str, ...] = ()
    name: str = MAIN

    def specs(self, settings: Settings) -> list[JobSpec]:
        """Return the jobs of the plan with their commands."""
        given = settings.arguments

        def job(name: str, module: str, *flags: object, reports: frozenset[str], **other: object) -> JobSpec:
            command = (sys.executable, "-m", *module.split(), *given, *map(str, flags))
            return JobSpec(name, command, reports, **other)  # type: ignore[arg-type]

        batches = ["join_fragments", "assemble", "curate", *([] if self.start_runs else ["trigger"])]
        model = ("--model", self.model)
        every = {"--assemble-every": self.assemble, "--curate-every": self.curate, "--trigger-every": self.trigger}
        intervals = [flag for pair in every.items() for flag in pair]
        jobs = [
            job("streams", "jobs.lake_streams", "--every", self.streams, reports=frozenset(STREAM_QUERIES),
                watched=lambda: newest_epoch(settings.keys)),
            job("embed", "jobs.command_line embed", "--every", self.embed, *model, reports=frozenset({"embed"})),
            job("index", "jobs.command_line index", "--every", self.index, *model, reports=frozenset({"index"})),
            job("batches", "jobs.lake_batches", *intervals, "--no-trigger" if self.start_runs else "--trigger",
                reports=frozenset(batches), stale_after=self.curate + 3600),
            job("maintain", "jobs.command_line maintain", "--every", self.maintain, reports=frozenset({"maintain"}),
                stale_after=self.maintain + 600),
        ]  # fmt: skip
        if self.start_runs:
            flags = ("--every", self.trigger, "--start")
            jobs.append(
                job("trigger", "jobs.command_line trigger", *flags, reports=frozenset(), stale_after=float("inf"))
            )
        return [one for one in jobs if not self.only or one.name in self.only]


def newest_epoch(keys: Path) -> int | None:
    """Return the newest epoch of the keys, None before there are any: ingest takes a new one up when it restarts."""
    epochs = KeyFolder(keys).epochs
    return epochs[-1] if epochs else None


@dataclass(frozen=True)
class Where:
    """Where metrics and probes are answered."""

    port: int
    host: str = HOST


@contextmanager
def only_supervisor(lake: Lake, name: str = MAIN) -> Iterator[None]:
    """Hold the lease of this name on the lake; the system gives it back when the process ends, however it ends."""
    refused = (
        f"wanted to be the only supervisor {name} of {lake.path}, found another one running; see "
        "`turnmill status` and stop it first, or give this one other jobs (--only) and another --name."
    )
    with held_lease(state_file(lake.path, name).with_suffix(".lease"), refused):
        yield


class Up:
    """One run of the supervisor: its loop, its state file, its lines on the terminal."""

    def __init__(self, settings: Settings, plan: Plan, logs: Path, *, fail_fast: bool) -> None:
        self.settings, self.lake, self.logs, self.fail_fast = settings, Lake(settings.lake), logs, fail_fast
        self.name = plan.name
        specs = plan.specs(settings)
        self._memory = driver_memory(4 if plan.start_runs else 3)
        self.supervisor = Supervisor(specs, self._spawn, tell=self._tell)
        self.bootstrap = settings.bootstrap
        self.metrics_port: int | None = None
        self._written_at = self._looked_at = time.monotonic()

    def _spawn(self, spec: JobSpec) -> ChildProcess:
        environment = {DRIVER_MEMORY: self._memory}
        return ChildProcess(spec.command, self.logs / f"{spec.name}.log", environment, debug=self.settings.debug)

    def _tell(self, line: str) -> None:
        if self.settings.json:
            self.settings.emit({"at": time.time(), "told": line})
        else:
            self.settings.console.print(f"{time.strftime('%H:%M:%S')} {line}", markup=False, highlight=False)

    def deployment(self) -> Deployment:
        """Return the state of all jobs."""
        return self.supervisor.deployment(bootstrap=self.bootstrap, metrics_port=self.metrics_port)

    def endpoint(self) -> Endpoint:
        """Return what answers probes and Prometheus."""
        registry = CollectorRegistry()
        registry.register(LakeCollector(self.lake, lambda: lags(self.lake, self.bootstrap), self.deployment))
        beats = lambda: time.monotonic() - self._looked_at < SILENT_SECONDS  # noqa: E731
        return Endpoint(registry, lambda: self.deployment().troubles(), beats)

    def run(self, stop: threading.Event) -> int:
        """Keep the jobs running until ``stop`` is set or none is left; return the exit code."""
        self.supervisor.start()
        while not stop.wait(LOOK_SECONDS) and self.supervisor.running:
            self._look()
            if self.fail_fast and self.supervisor.exit_code:
                self._tell("a job is not started again: the others stop too (--fail-fast)")
                break
        stop.clear()
        self._tell(f"stopping at the next boundary, within {STOP_SECONDS:.0f} s; a second signal stops at once")
        self.supervisor.stop()
        deadline = time.monotonic() + STOP_SECONDS
        while self.supervisor.running and time.monotonic() < deadline and not stop.wait(LOOK_SECONDS):
            self._look()
        for name in self.supervisor.kill():
            self._tell(f"{name}: ended in the middle of a batch, which is done again at the next start")
        while self.supervisor.running:
            time.sleep(LOOK_SECONDS)
            self._look()
        self._look(now=True)
        return self.supervisor.exit_code

    def _look(self, *, now: bool = False) -> None:
        self.supervisor.tick()
        self._looked_at = time.monotonic()
        if now or time.monotonic() - self._written_at >= BEAT_SECONDS:
            self.deployment().write(state_file(self.lake.path, self.name))
            self._written_at = time.monotonic()


def supervise(settings: Settings, plan: Plan, logs: Path, metrics: Where | None, *, fail_fast: bool = False) -> int:
    """Run the plan's jobs on the lake until SIGTERM or SIGINT; return the exit code.

    Without ``--bootstrap`` the embedded broker beside the lake is used, started for as long as this runs where none
    runs yet. Errors: ``UserError`` when another supervisor holds the lake, ``EndpointError`` when the port is taken.
    """
    lake = Lake(settings.lake)
    with ExitStack() as exits:
        exits.enter_context(only_supervisor(lake, plan.name))
        KeyFolder(settings.keys).open_or_create()
        for table in TABLES:
            delta.create_table(lake, table)
        up = Up(settings, plan, logs, fail_fast=fail_fast)
        if metrics is not None:
            up.metrics_port = exits.enter_context(serving(up.endpoint(), metrics.port, metrics.host))
        if settings.bootstrap is None:
            running = EmbeddedBroker(settings.kafka_folder).bootstrap
            up.bootstrap = running or exits.enter_context(running_broker(settings.kafka_folder))
        return up.run(exits.enter_context(stop_on_signals()))


def _file_name(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", value):
        raise click.BadParameter("wanted up to 32 lower-case letters, digits and hyphens, for instance gpu")
    return value


INTERVAL = click.FloatRange(min=0.1)


@turnmill_command("up", help="Run all streams and periodic batches under one supervisor, until SIGTERM.")
@click.option("--every", "streams", type=INTERVAL, default=STREAMS_EVERY, show_default=True, metavar="SECONDS",
              help="Interval of ingest, settle and filter.")  # fmt: skip
@click.option("--embed-every", "embed", type=INTERVAL, default=DEFAULT_EVERY, show_default=True, metavar="SECONDS")
@click.option("--index-every", "index", type=INTERVAL, default=DEFAULT_EVERY, show_default=True, metavar="SECONDS")
@click.option(
    "--assemble-every", "assemble", type=INTERVAL, default=ASSEMBLE_EVERY, show_default=True, metavar="SECONDS"
)
@click.option("--curate-every", "curate", type=INTERVAL, default=CURATE_EVERY, show_default=True, metavar="SECONDS",
              help="A version is cut only where conversations changed.")  # fmt: skip
@click.option("--trigger-every", "trigger", type=INTERVAL, default=TRIGGER_EVERY, show_default=True, metavar="SECONDS")
@click.option(
    "--maintain-every", "maintain", type=INTERVAL, default=MAINTAIN_EVERY, show_default=True, metavar="SECONDS"
)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME",
              help="The model that embeds: its name or a folder.")  # fmt: skip
@click.option("--start-runs", is_flag=True, help="Train where the trigger says start; otherwise it only decides.")
@click.option("--only", type=click.Choice(JOBS), multiple=True, metavar="JOB",
              help=f"Run only this job; may be given again: {', '.join(JOBS)}.  [default: all]")  # fmt: skip
@click.option("--name", default=MAIN, show_default=True, callback=_file_name,
              help="Name of this supervisor, where several share the jobs of a lake.")  # fmt: skip
@click.option("--log-dir", type=click.Path(path_type=Path), default=None,
              help="Folder of a log for each job.  [default: beside the lake, NAME.logs]")  # fmt: skip
@click.option("--metrics-port", type=click.IntRange(0, 65535), default=METRICS_PORT, show_default=True,
              help="Port of /metrics, /ready and /health; 0 takes a free one.")  # fmt: skip
@click.option("--metrics-host", default=HOST, show_default=True, help="Address it listens on.")
@click.option("--metrics/--no-metrics", "metered", default=True, show_default=True, help="Serve them at all.")
@click.option("--fail-fast", is_flag=True, help="Stop all jobs once one is given up, with its exit code.")
def command(
    settings: Settings, log_dir: Path | None, metrics_port: int, metrics_host: str, *, metered: bool, fail_fast: bool,
    **plan: object,
) -> None:  # fmt: skip
    """Supervise; exit with 0 after a clean stop, else with the code of the first job that was given up."""
    logs = (log_dir or beside(settings.lake, "logs")).absolute()
    metrics = Where(metrics_port, metrics_host) if metered else None
    code = supervise(settings, Plan(**plan), logs, metrics, fail_fast=fail_fast)  # type: ignore[arg-type]
    raise click.exceptions.Exit(code)


if __name__ == "__main__":
    command()
