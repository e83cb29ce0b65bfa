"""The two lines between a job and the supervisor that started it: reports on standard output, and its end on input.

A supervisor sets ``TURNMILL_SUPERVISED`` and holds the job's standard input open. When the supervisor dies, however it
dies, the system closes that end, and the job stops as it would at SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import asdict
from functools import cache
from typing import Any

import orjson

from pipelines.supervision.states import Report

VARIABLE = "TURNMILL_SUPERVISED"
REPORT = "report"
"""The only key of a report's line of JSON."""


def is_supervised() -> bool:
    """Tell whether a supervisor started this process."""
    return os.environ.get(VARIABLE) == "1"


def report(name: str, **figures: Any) -> None:
    """Tell the supervisor the newest of a query or batch; does nothing where there is no supervisor."""
    if is_supervised():
        line = orjson.dumps({REPORT: asdict(Report(name, time.time(), **figures))})
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def read_report(line: bytes) -> Report | None:
    """Return the report that a line of a job's output holds, None where it holds none."""
    if not line.startswith(b'{"report"'):
        return None
    try:
        return Report(**orjson.loads(line)[REPORT])
    except (orjson.JSONDecodeError, TypeError):
        return None


@cache
def stop_with_supervisor() -> None:
    """Send this process SIGTERM once the supervisor's end of standard input is closed."""
    if not is_supervised():
        return

    def wait_for_the_end() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait_for_the_end, name="supervisor", daemon=True).start()
