"""A job as a process of its own: a group that ends as a whole, its reports, and a log that rotates.

What a job writes to standard error may quote data where a library wrote it. The log keeps lines of known kinds only;
with ``debug`` it keeps all.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

import psutil

from pipelines.adapters.supervised import VARIABLE, read_report
from pipelines.supervision.states import Report

LOG_BYTES = 10_000_000
LOG_FILES = 3
KNOWN_LINES = ("Error: ", "Usage: ", "Warning: ", "java.lang.OutOfMemoryError", "#")
"""How lines begin that quote no data: our own, and what a JVM writes when it ends for want of memory."""
JOIN_SECONDS = 5.0


class ChildProcess:
    """Runs ``command`` in a session of its own, so that a signal of the terminal reaches its supervisor alone."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str], *, debug: bool) -> None:
        self.error: str | None = None
        self._debug = debug
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._log = _rotating(log)
        self._process = subprocess.Popen(  # noqa: S603
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment, VARIABLE: "1"},
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._log.info("started as process %d", self.pid)
        self._readers = [
            threading.Thread(target=self._read, args=(stream, told), daemon=True)
            for stream, told in ((self._process.stdout, self._out), (self._process.stderr, self._err))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: IO[bytes], told: Callable[[bytes], None]) -> None:
        for line in stream:
            told(line)

    def _out(self, line: bytes) -> None:
        if (report := read_report(line)) is not None:
            self._reports.put(report)
            if report.error:
                self._log.info("%s: %s", report.name, report.error)

    def _err(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if text.startswith("Error: "):
            self.error = text.removeprefix("Error: ")
        if text and (self._debug or text.startswith(KNOWN_LINES)):
            self._log.info(text)

    def poll(self) -> int | None:
        """Return the exit code once the process has ended and all it told was read."""
        code = self._process.poll()
        if code is not None and self._log.handlers:
            self._end_group()
            for reader in self._readers:
                reader.join(JOIN_SECONDS)
            self._log.info("ended with %d", code)
            for handler in list(self._log.handlers):
                handler.close()
                self._log.removeHandler(handler)
        return code

    def heard(self) -> list[Report]:
        """Return what the job reported since the last call."""
        told = []
        with contextlib.suppress(queue.Empty):
            while True:
                told.append(self._reports.get_nowait())
        return told

    def terminate(self) -> None:
        """Ask the process to stop."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """End the process and its children (a JVM, Python workers) now."""
        self._end_group()

    def _end_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def tree_memory(pid: int) -> int:
    """Return the resident memory of a process and all below it, bytes; 0 where it is gone."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for one in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += one.memory_info().rss
    return total


def _rotating(path: Path) -> logging.Logger:
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.Logger(path.stem, logging.INFO)
    log.addHandler(handler)
    return log
