"""What the streaming jobs share: their schedule as flags, and the lease that keeps a second driver away."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from filelock import FileLock, Timeout

from jobs.options import UserError
from pipelines.adapters import delta
from pipelines.adapters.batch_log import BatchLog
from pipelines.adapters.lake import Lake
from pipelines.adapters.streams import Trigger, Watch, stop_on_signals
from pipelines.adapters.streams import run as run_queries
from pipelines.adapters.supervised import is_supervised, report
from schemas import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DEFAULT_EVERY = 5.0
REPORT_SECONDS = 2.0
"""How often a supervisor hears of a running query."""


@dataclass(frozen=True)
class Schedule:
    """Once over what is there (``every`` is None), or again every so many seconds until SIGTERM.

    ``available_now`` tells that the caller expects no more data.
    """

    every: float | None = None
    available_now: bool = False

    @property
    def log_seconds(self) -> float:
        """How often ``batch_log`` is brought up to date while the query runs."""
        return 30.0


def _schedule_flags(otherwise: Schedule, told: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--available-now", is_flag=True, help="Process what is there, then stop.")
        @click.option(
            "--every",
            type=click.FloatRange(min=0.1),
            default=None,
            metavar="SECONDS",
            help=f"Run until SIGTERM, once every so many seconds.  [default: {told}]",
        )
        @functools.wraps(function)
        def run(settings: Any, *, available_now: bool, every: float | None, **rest: Any) -> Any:
            if available_now and from_environment("every"):
                every = None  # a flag wins over a variable
            if available_now and every is not None:
                raise click.UsageError("--available-now drains once, --every runs on: give one of them.")
            schedule = otherwise if every is None else Schedule(every)
            return function(settings, Schedule(None, True) if available_now else schedule, **rest)

        return run

    return wrap


stream_schedule = _schedule_flags(Schedule(DEFAULT_EVERY), f"{DEFAULT_EVERY:g}")
"""Give a streaming command the flags ``--available-now`` and ``--every`` as one ``schedule``; it runs on by default."""

batch_schedule = _schedule_flags(Schedule(), "once")
"""The same for a batch command, which runs once by default."""


def from_environment(name: str) -> bool:
    """Tell whether a variable gave the value of a parameter of the command that runs."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT


def repeatedly(schedule: Schedule, job: str, work: Callable[[], dict]) -> dict:
    """Do ``work`` once, or every ``schedule.every`` seconds until SIGTERM or SIGINT; return its last figures.

    A supervisor is told of each time that it was done.
    """
    if schedule.every is None:
        return work()
    with stop_on_signals() as stop:
        figures = _reported(job, work)
        while not stop.wait(schedule.every):
            figures = _reported(job, work)
    return figures


def _reported(job: str, work: Callable[[], dict]) -> dict:
    begun = time.monotonic()
    figures = work()
    report(job, seconds=round(time.monotonic() - begun, 3))
    return figures


@contextmanager
def one_driver(lake: Lake, query: str) -> Iterator[None]:
    """Hold the query's lease: two drivers on one checkpoint would fight over its batches (apache/spark#25965)."""
    folder = lake.checkpoint(query)
    refused = (
        f"{query}: wanted to be the only driver of this query on the lake, found another one running; "
        "stop it first, or use another --lake."
    )
    with held_lease(folder.parent / f".{folder.name}.lease", refused):
        yield


@contextmanager
def held_lease(path: Path, refused: str) -> Iterator[None]:
    """Hold the lease file at ``path``; the system gives it back when the process ends, however it ends.

    Raises ``UserError`` with the words ``refused`` where another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lease = FileLock(path)
    try:
        lease.acquire(timeout=0)
    except Timeout:
        raise UserError(refused) from None
    try:
        yield
    finally:
        lease.release()


class StreamJob:
    """The streaming queries of one job: each holds its lease, keeps its own checkpoint and is logged in ``batch_log``.

    SIGTERM and SIGINT inside the ``with`` block stop them at a batch boundary.
    """

    def __init__(self, spark: SparkSession, lake: Lake, schedule: Schedule) -> None:
        self.spark, self.lake, self.schedule = spark, lake, schedule
        self._exits = ExitStack()
        self._started: list[tuple[StreamingQuery, BatchLog]] = []

    def __enter__(self) -> StreamJob:
        self._stop = self._exits.enter_context(stop_on_signals())
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def start(
        self,
        name: str,
        frame: DataFrame,
        table: Table,
        *,
        outcomes: str | None = None,
        key_epoch: int | None = None,
        each_batch: Callable[[DataFrame, int], None] | None = None,
        least_every: float = 0.0,
    ) -> BatchLog:
        """Start a query that appends ``frame`` to ``table`` natively, or hands its batches to ``each_batch``.

        ``outcomes`` names the column to count its rows by, ``key_epoch`` the epoch of the keys that it writes under;
        both are told in its log. A query that runs on does so at most every ``least_every`` seconds.
        """
        self._exits.enter_context(one_driver(self.lake, name))
        delta.create_table(self.lake, table)
        log = BatchLog(self.spark, self.lake, name, table, outcomes, key_epoch)
        log.write()
        writer = frame.writeStream.queryName(name).option("checkpointLocation", str(self.lake.checkpoint(name)))
        every = self.schedule.every
        writer = Trigger(every if every is None else max(every, least_every)).apply(writer)
        if each_batch is None:
            query = writer.format("delta").outputMode("append").start(str(self.lake.table(table.name)))
        else:
            query = writer.foreachBatch(each_batch).start()
        self._started.append((query, log))
        return log

    def run(self, *, watch: Watch | None = None) -> None:
        """Run until all queries are drained or a signal says stop; ``watch`` is told the rows read so far."""

        def keep_logs() -> None:
            for query, log in self._started:
                log.observe(query)
                log.write()

        reported_at = 0.0

        def report_now_and_then() -> None:
            nonlocal reported_at
            if time.monotonic() - reported_at >= REPORT_SECONDS:
                self._report()
                reported_at = time.monotonic()

        run_queries(
            [query for query, _ in self._started],
            self._stop,
            on_progress=keep_logs,
            progress_seconds=self.schedule.log_seconds,
            watch=watch,
            on_look=report_now_and_then if is_supervised() else None,
        )

    def _report(self) -> None:
        for query, log in self._started:
            told = query.lastProgress or {}
            seconds = told.get("durationMs", {}).get("triggerExecution", 0) / 1000
            report(log.query, batch_id=told.get("batchId"), rows=told.get("numInputRows"), seconds=seconds)
