"""A lock that its holder's death opens: it tells whether something of a run is alive, without asking process tables."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

LAUNCH_LOCK, WORKER_LOCK = "launch.lock", "worker.lock"


class RunIsTaken(RuntimeError):
    """Another process trains this run."""

    safe_to_show = True


def take(path: Path) -> int | None:
    """Lock ``path`` and return the handle that holds the lock; None when another process holds it.

    A child that inherits the handle holds the lock too, until the last of them ends (flock(2)).
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def is_held(path: Path) -> bool:
    """Tell whether a living process holds the lock."""
    if not path.is_file():
        return False
    handle = take(path)
    if handle is None:
        return True
    os.close(handle)
    return False


def is_alive(folder: Path) -> bool:
    """Tell whether a launcher or a worker of the run in ``folder`` lives on this machine."""
    return any(is_held(folder / name) for name in (LAUNCH_LOCK, WORKER_LOCK))
