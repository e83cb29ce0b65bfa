"""Run streaming queries: drain and stop, or run until told, stopping at a batch boundary.

``query.stop()`` interrupts the batch in flight; the work is redone at the next start. A clean stop therefore waits
until no trigger is active, for at most ``STOP_SECONDS``.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from pipelines.adapters.supervised import is_supervised

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

STOP_SECONDS = 120.0
SUPERVISED_STOP_SECONDS = 20.0
"""Under a supervisor, which ends what has not stopped after half a minute: a batch in flight is then done again."""
POLL_SECONDS = 0.2


Watch = Callable[[int], None]
"""Told the number of rows that the queries have read so far."""


class DataGapError(RuntimeError):
    """Kafka no longer holds offsets that the query still needs (retention, or the topic was made anew)."""

    safe_to_show = True
    exit_code = 3


class StreamFailedError(RuntimeError):
    """A streaming query ended with an error; the message names the query and the kind of error, never data."""

    safe_to_show = True


class SchemaChangedError(RuntimeError):
    """A source or target of a query has another schema than when the query started."""

    safe_to_show = True
    exit_code = 5


@dataclass(frozen=True)
class Trigger:
    """When a query runs: once over what is there (``every`` is None), or again every so many seconds."""

    every: float | None = None

    def apply(self, writer: DataStreamWriter) -> DataStreamWriter:
        """Set the trigger on a writer."""
        if self.every is None:
            return writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{max(int(self.every * 1000), 1)} milliseconds")


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM and SIGINT set; outside the main thread signals stay as they are."""
    wanted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wanted
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        wanted.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield wanted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    queries: Sequence[StreamingQuery],
    stop: threading.Event,
    *,
    on_progress: Callable[[], None] | None = None,
    progress_seconds: float = 2.0,
    watch: Watch | None = None,
    on_look: Callable[[], None] | None = None,
) -> None:
    """Wait until all queries end or ``stop`` is set; then stop them at a batch boundary.

    ``on_progress`` is called every ``progress_seconds`` and once at the end; ``watch`` and ``on_look`` every
    ``POLL_SECONDS``. Raises
    ``DataGapError`` or ``StreamFailedError`` when a query fails; the others are stopped first.
    """
    called_at = time.monotonic()
    while any(query.isActive for query in queries) and not stop.is_set():
        time.sleep(POLL_SECONDS)
        if watch is not None:
            watch(rows_read(queries))
        if on_look is not None:
            on_look()
        if any(not query.isActive and query.exception() is not None for query in queries):
            break
        if on_progress is not None and time.monotonic() - called_at >= progress_seconds:
            on_progress()
            called_at = time.monotonic()
    stop_at_boundary(queries)
    if watch is not None:
        watch(rows_read(queries))
    if on_progress is not None:
        on_progress()
    for query in queries:
        error = query.exception()
        if error is not None:
            raise told(query.name or "query", error) from error


def rows_read(queries: Sequence[StreamingQuery]) -> int:
    """Rows that the queries have read since they started, as far as Spark remembers their batches."""
    return sum(progress["numInputRows"] for query in queries for progress in query.recentProgress)


def stop_at_boundary(queries: Sequence[StreamingQuery]) -> None:
    """Stop each active query when no trigger is running; after ``STOP_SECONDS`` in any case."""
    deadline = time.monotonic() + (SUPERVISED_STOP_SECONDS if is_supervised() else STOP_SECONDS)
    for query in queries:
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            time.sleep(0.02)
        if query.isActive:
            query.stop()


def told(name: str, error: Exception) -> Exception:
    """Make an error that may be shown out of one whose message may quote data."""
    text = str(error)
    if any(
        sign in text for sign in ("KAFKA_DATA_LOSS", "OffsetOutOfRange", "Some data may have been lost", "data loss")
    ):
        return DataGapError(
            f"{name}: Kafka no longer holds records that the checkpoint still needs "
            "(retention passed, or the topic was made anew). Nothing was skipped. "
            "Load the missing logs again, or start a new checkpoint knowingly."
        )
    if any(sign in text for sign in ("DELTA_SCHEMA_CHANGED", "DELTA_STREAMING_", "DELTA_METADATA_MISMATCH")):
        return SchemaChangedError(f"{name}: the schema of a table has changed; start the job again with this version")
    kinds = [line.strip() for line in text.splitlines() if line.strip().startswith(("[", "Caused by: "))]
    kind = next((k.split("]")[0].lstrip("[") for k in kinds if k.startswith("[")), type(error).__name__)
    return StreamFailedError(
        f"{name}: the streaming query failed with {kind[:80]}; run again with --debug to see where"
    )
