"""When a job that ended is started again: back-off, a cap on crash loops, and ends that need a person."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Ending(StrEnum):
    """How a job ended, from the exit code of its process (the codes of every command)."""

    CLEAN = "clean"
    FAILED = "failure"
    WRONG_USE = "wrong use"
    DATA_GAP = "data gap"
    GATE_HELD = "gate held"
    SCHEMA_CHANGE = "schema change"
    KILLED = "killed"


ENDINGS = {
    0: Ending.CLEAN,
    2: Ending.WRONG_USE,
    3: Ending.DATA_GAP,
    4: Ending.GATE_HELD,
    5: Ending.SCHEMA_CHANGE,
}

FINAL = frozenset({Ending.WRONG_USE, Ending.DATA_GAP})
"""A new start would end the same way, and after a data gap hide it: a person has to look first."""

ADVICE = {
    Ending.CLEAN: "it stopped by itself; it is started again",
    Ending.FAILED: "read its log; run the job by hand with --debug to see where it fails",
    Ending.WRONG_USE: "correct the flags or the environment that it was given, then start `turnmill up` again",
    Ending.DATA_GAP: "load the missing logs again or start a new checkpoint knowingly, then start `turnmill up` again",
    Ending.GATE_HELD: "look at the failed expectations: turnmill dataset list",
    Ending.SCHEMA_CHANGE: "it is started again with the new schema; where it recurs, the code and the table disagree",
    Ending.KILLED: "something outside ended it: look for the kernel's out-of-memory killer",
}


def ending(exit_code: int) -> Ending:
    """Return how a process ended; negative codes are signals, as ``subprocess`` tells them."""
    return Ending.KILLED if exit_code < 0 else ENDINGS.get(exit_code, Ending.FAILED)


@dataclass(frozen=True)
class RestartPolicy:
    """Exponential back-off with jitter, and a cap on how many ends within a window are still answered by a start.

    ``first_seconds`` doubles with each end in the window up to ``most_seconds``; the wait is drawn between half of
    that and all of it, so that jobs that fell together do not rise together (AWS Architecture Blog, "Exponential
    Backoff and Jitter", equal jitter). More than ``most_ends`` ends within ``window_seconds`` are a crash loop. A
    change of schema stops a stream once by design of Delta: it is answered at once, and counts.
    """

    first_seconds: float = 1.0
    most_seconds: float = 60.0
    most_ends: int = 5
    window_seconds: float = 600.0
    draw: Callable[[], float] = field(default=random.random, compare=False)

    def wait(self, how: Ending, ended_at: Sequence[float]) -> float | None:
        """Return the seconds until the next start; None when there is none.

        ``ended_at`` holds the times of all ends so far in seconds, the newest last.
        """
        recent = [at for at in ended_at if ended_at[-1] - at < self.window_seconds]
        if how in FINAL or len(recent) > self.most_ends:
            return None
        if how is Ending.SCHEMA_CHANGE and len(recent) == 1:
            return 0.0
        full = min(self.first_seconds * 2 ** (len(recent) - 1), self.most_seconds)
        return full / 2 + full / 2 * self.draw()
