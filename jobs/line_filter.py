"""The frame of a filter: JSON lines in, JSON lines out, in batches that keep no reader waiting."""

from __future__ import annotations

import os
import select
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, TypeVar, cast

import orjson

from pipelines.adapters.json_slices import TooLong, lines_of
from schemas.records import MAX_RECORD_BYTES, DeadReason

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that cannot be used, and why; ``detail`` quotes nothing of it."""

    reason: DeadReason
    detail: str


class LineFilter(ABC, Generic[Row]):
    """Writes one line for each line that is not blank, in order; ``counts`` tells what became of them.

    A line that is no JSON, or too large, becomes {"rejected": reason, "detail", "line"} (numbers from 1).
    """

    batch_lines = 256
    """Lines that are looked at together; fewer where the input makes us wait."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(lines=0, rejected=0)
        self._waiting: list[tuple[int, Row | Rejected]] = []

    @abstractmethod
    def read(self, number: int, line: str) -> Row:
        """Return what is kept of a line until its batch is full. Raises orjson.JSONDecodeError."""

    @abstractmethod
    def written(self, rows: Sequence[tuple[int, Row]]) -> Iterable[bytes | Rejected]:
        """Return what is written for each row of a batch, in order; rows come with the numbers of their lines."""

    def run(self) -> bool:
        """Filter standard input to standard output; return whether the reader of the output went away (``head``)."""
        output = sys.stdout.buffer
        source = cast(BinaryIO, WaitingSource(sys.stdin.buffer, lambda: self.write(output)))
        try:
            for number, line in enumerate(lines_of(source, MAX_RECORD_BYTES, blank=True), 1):
                if isinstance(line, TooLong) or line.strip():
                    self.take(number, line, output)
            self.write(output)
        except BrokenPipeError:
            # The interpreter flushes standard output once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return True
        return False

    def take(self, number: int, line: bytes | TooLong, output: BinaryIO) -> None:
        """Read one line; a full batch is written."""
        self.counts["lines"] += 1
        self._waiting.append((number, self._read(number, line)))
        if len(self._waiting) >= self.batch_lines:
            self.write(output)

    def write(self, output: BinaryIO) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, []
        results = iter(self.written([(number, row) for number, row in waiting if not isinstance(row, Rejected)]))
        for number, row in waiting:
            result = row if isinstance(row, Rejected) else next(results)
            if isinstance(result, Rejected):
                self.counts["rejected"] += 1
                told = {"rejected": result.reason.value, "detail": result.detail, "line": number}
                result = orjson.dumps(told)
            output.write(result + b"\n")
        output.flush()

    def _read(self, number: int, line: bytes | TooLong) -> Row | Rejected:
        if isinstance(line, TooLong):
            return Rejected(DeadReason.TOO_LARGE, f"{line.size} bytes, at most {MAX_RECORD_BYTES} are read")
        try:
            return self.read(number, line.decode("utf-8"))
        except UnicodeDecodeError as error:
            return Rejected(DeadReason.BAD_UTF8, f"byte {error.start}")
        except orjson.JSONDecodeError as error:
            return Rejected(DeadReason.BAD_JSON, f"character {error.pos}")


class WaitingSource:
    """Standard input as it comes: what waits is written before the filter waits for more (``tail -f``)."""

    def __init__(self, source: BinaryIO, before_wait: Callable[[], None]) -> None:
        # A buffered reader waits until a chunk is full.
        self.source, self.before_wait = getattr(source, "raw", source), before_wait

    def read(self, size: int) -> bytes:
        """Return what is there, at most ``size`` bytes, none at the end."""
        if not self._is_ready():
            self.before_wait()
        return self.source.read(size) or b""

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self.source.fileno()], [], [], 0)[0])
        except (OSError, ValueError, AttributeError):
            # No descriptor to ask: an input in memory, which never waits.
            return True


def with_members(source: str, members: Mapping[str, Any]) -> bytes:
    """Write members into the object of a line, its others byte for byte as they are; no object goes into one."""
    told = orjson.dumps(members).decode()[1:-1]
    if not source.startswith("{"):
        name = "text" if source.startswith('"') else "record"
        return f'{{"{name}":{source},{told}}}'.encode()
    value = orjson.loads(source)
    if members.keys() & value.keys():
        return orjson.dumps({**value, **members})
    return f"{source[:-1]}{',' if value else ''}{told}}}".encode()


def told_counts(counts: Mapping[str, Any]) -> str:
    """Return whole numbers by name, as the line on standard error tells them."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if type(count) is int)


def closed_early(is_closed: bool) -> str:
    """Return what is said at the end where the reader of the output went away."""
    return "; the output was closed early" if is_closed else ""
