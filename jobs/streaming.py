"""What the streaming jobs share: their schedule as flags, and the lease that keeps a second driver away."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from filelock import FileLock, Timeout

from jobs.options import UserError
from pipelines.adapters.lake import Lake
from pipelines.adapters.streams import Trigger, stop_on_signals

DEFAULT_EVERY = 5.0


@dataclass(frozen=True)
class Schedule:
    """Drain and stop (``every`` is None), or a micro-batch every so many seconds until SIGTERM."""

    every: float | None = None

    @property
    def trigger(self) -> Trigger:
        """The trigger of the query."""
        return Trigger(self.every)

    @property
    def log_seconds(self) -> float:
        """How often ``batch_log`` is brought up to date while the query runs."""
        return 30.0


STREAM_OPTIONS = (
    click.option("--available-now", is_flag=True, help="Process what is there, then stop."),
    click.option("--every", type=click.FloatRange(min=0.1), default=None, metavar="SECONDS",
                 help=f"Run until SIGTERM, a micro-batch every so many seconds.  [default: {DEFAULT_EVERY:g}]"),
)  # fmt: skip


def with_options(options: tuple[Callable, ...]) -> Callable[[Callable], Callable]:
    """Add the schedule flags to a command and hand them to it as one ``schedule``."""

    def wrap(function: Callable) -> Callable:
        @functools.wraps(function)
        def run(settings: Any, *, available_now: bool, every: float | None, **rest: Any) -> Any:
            if available_now and every is not None:
                raise click.UsageError("--available-now drains once, --every runs on: give one of them.")
            return function(settings, Schedule(None if available_now else every or DEFAULT_EVERY), **rest)

        for option in reversed(options):
            run = option(run)
        return run

    return wrap


def repeatedly(schedule: Schedule, work: Callable[[], dict]) -> dict:
    """Do ``work`` once, or every ``schedule.every`` seconds until SIGTERM or SIGINT; return its last figures."""
    if schedule.every is None:
        return work()
    with stop_on_signals() as stop:
        figures = work()
        while not stop.wait(schedule.every):
            figures = work()
    return figures


@contextmanager
def one_driver(lake: Lake, query: str) -> Iterator[None]:
    """Hold the query's lease: two drivers on one checkpoint would fight over its batches (apache/spark#25965)."""
    folder = lake.checkpoint(query)
    folder.parent.mkdir(parents=True, exist_ok=True)
    lease = FileLock(folder.parent / f".{folder.name}.lease")
    try:
        lease.acquire(timeout=0)
    except Timeout:
        raise UserError(
            f"{query}: wanted to be the only driver of this query on the lake, found another one running; "
            "stop it first, or use another --lake."
        ) from None
    try:
        yield
    finally:
        lease.release()
