"""Send log entries to Kafka, and know of each one what became of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError as KafkaFault
from confluent_kafka import KafkaException, Producer

from pipelines.adapters.json_slices import TooLong
from pipelines.adapters.kafka_clients import client_settings
from pipelines.adapters.log_files import Entry, LogFileError, log_entries
from schemas.records import LOGS_TOPIC, TOPIC_MESSAGE_BYTES, TRACE_HEADER

REPORT_SECONDS = 120.0
"""How long a sent record may wait for its acknowledgement before it counts as unknown."""

QUEUE_KBYTES = 128 * 1024
PROGRESS_SECONDS = 0.1

Headers = Mapping[str, str]
Progress = Callable[[int, int], None]
"""Called with the bytes of files read so far (as stored), and the number of entries sent."""

_UNCERTAIN = {KafkaFault._MSG_TIMED_OUT, KafkaFault._PURGE_INFLIGHT, KafkaFault.REQUEST_TIMED_OUT}  # noqa: SLF001


@dataclass
class LoadReport:
    """What became of the entries sent: the cluster has them, has them not, or was not heard of in time.

    ``bytes`` are those of the acknowledged values; ``complete`` is False when reading stopped before
    the end, and ``error`` then names the file that could not be read.
    """

    acknowledged: int = 0
    failed: int = 0
    unknown: int = 0
    bytes: int = 0
    seconds: float = 0.0
    files: int = 0
    trace_id: str = ""
    complete: bool = True
    error: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def sent(self) -> int:
        """Entries handed over so far, whatever became of them."""
        return self.acknowledged + self.failed + self.unknown

    @property
    def all_acknowledged(self) -> bool:
        """Tell whether all was read, and the cluster has all of it."""
        return self.complete and not self.failed and not self.unknown

    def figures(self) -> dict[str, Any]:
        """Return the figures as one flat mapping."""
        return {
            "acknowledged": self.acknowledged,
            "failed": self.failed,
            "unknown": self.unknown,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "files": self.files,
            "trace_id": self.trace_id,
            "complete": self.complete,
            "error": self.error,
            "reasons": self.reasons,
        }


def load_files(
    files: Sequence[Path],
    bootstrap: str,
    *,
    topic: str = LOGS_TOPIC,
    headers: Headers | None = None,
    rate: float | None = None,
    loop: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> LoadReport:
    """Send each entry of the log files as one record, value untouched, and report what became of all of them.

    ``headers`` go with each record; ``rate`` is in records a second; ``loop`` begins anew after the last file until
    ``stop`` says so. Errors: ``LogFileError`` for a file that cannot be read, after what was sent is settled;
    a cluster that refuses or does not answer is no error but part of the report.
    """
    shared = dict(headers or {})
    load = _Load(bootstrap, topic, rate, stop)

    def entries() -> Iterator[tuple[Entry, Headers]]:
        while True:
            done = 0
            for path in files:
                for entry in log_entries(path, partial(load.tell, progress, done)):
                    yield entry, shared
                done += path.stat().st_size
                load.report.files += 1
            if not loop:
                return

    return load.run(entries())


def load_records(
    records: Iterable[tuple[bytes | None, Headers]],
    bootstrap: str,
    *,
    topic: str = LOGS_TOPIC,
    rate: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> LoadReport:
    """Send each (value, headers) as one record and report what became of all of them; see ``load_files``."""
    load = _Load(bootstrap, topic, rate, stop)

    def entries() -> Iterator[tuple[Entry | None, Headers]]:
        for value, headers in records:
            yield value, headers
            load.tell(progress, 0, 0)

    return load.run(entries())


class _Load:
    def __init__(self, bootstrap: str, topic: str, rate: float | None, stop: Callable[[], bool]) -> None:
        self.topic, self.rate, self.stop = topic, rate, stop
        self.report = LoadReport(trace_id=_random_hex(16))
        self.pending = 0
        self.told_at = 0.0
        self.producer = Producer(
            {
                **client_settings(bootstrap),
                "acks": "all",
                "enable.idempotence": True,
                "compression.type": "zstd",
                "linger.ms": 20,
                "message.max.bytes": TOPIC_MESSAGE_BYTES,
                "queue.buffering.max.kbytes": QUEUE_KBYTES,
                "queue.buffering.max.messages": 200_000,
                "message.timeout.ms": int(REPORT_SECONDS * 1000),
            }
        )

    def tell(self, progress: Progress | None, bytes_before: int, bytes_read: int) -> None:
        now = time.monotonic()
        if progress is not None and now - self.told_at >= PROGRESS_SECONDS:
            self.told_at = now
            progress(bytes_before + bytes_read, self.report.sent + self.pending)

    def run(self, entries: Iterable[tuple[Entry | None, Headers]]) -> LoadReport:
        started = time.monotonic()
        try:
            for number, (entry, headers) in enumerate(entries):
                if self.stop() or not self._send(entry, headers):
                    self.report.complete = False
                    break
                self._pace(started, number + 1)
        except LogFileError as failure:
            self.report.complete, self.report.error = False, str(failure)
        finally:
            self._settle()
            self.report.seconds = time.monotonic() - started
        return self.report

    def _send(self, entry: Entry | None, headers: Headers) -> bool:
        """Hand one entry to the client; False when the client can take no more of them, ever."""
        if isinstance(entry, TooLong):
            self._count_failure("MSG_SIZE_TOO_LARGE")
            return True
        size = len(entry or b"")
        traced = [(name, value.encode()) for name, value in headers.items()]
        if TRACE_HEADER not in headers:
            traced.append((TRACE_HEADER, f"00-{self.report.trace_id}-{_random_hex(8)}-01".encode()))

        def told(fault: KafkaFault | None, _: object) -> None:
            self.pending -= 1
            if fault is None:
                self.report.acknowledged += 1
                self.report.bytes += size
            elif fault.code() in _UNCERTAIN:
                self.report.unknown += 1
                self._count_reason(fault.name())
            else:
                self._count_failure(fault.name())

        while True:
            try:
                self.producer.produce(self.topic, entry, headers=traced, on_delivery=told)
            except BufferError:
                self.producer.poll(0.2)
                if self.stop():
                    return False
                continue
            except KafkaException as failure:
                fault = failure.args[0]
                self._count_failure(fault.name())
                return bool(fault.code() == KafkaFault.MSG_SIZE_TOO_LARGE)
            self.pending += 1
            self.producer.poll(0)
            return True

    def _pace(self, started: float, number: int) -> None:
        while self.rate and not self.stop() and (wait := started + number / self.rate - time.monotonic()) > 0:
            self.producer.poll(min(wait, 0.2))

    def _settle(self) -> None:
        until = time.monotonic() + REPORT_SECONDS + 5
        while self.pending and time.monotonic() < until:
            self.producer.flush(0.5)
        if self.pending:
            self.report.unknown += self.pending
            self._count_reason("NO_REPORT", self.pending)
            self.producer.purge()

    def _count_failure(self, reason: str) -> None:
        self.report.failed += 1
        self._count_reason(reason)

    def _count_reason(self, reason: str, times: int = 1) -> None:
        self.report.reasons[reason] = self.report.reasons.get(reason, 0) + times


def _random_hex(size: int) -> str:
    while not any(drawn := os.urandom(size)):
        pass
    return drawn.hex()
