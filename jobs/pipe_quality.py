"""``turnmill pipe quality``: JSON lines in, the same lines with quality signals and a verdict out.

turnmill pipe quality < in.jsonl > out.jsonl
"""

from __future__ import annotations

import os
import secrets
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, cast

import click
import orjson

from jobs.filter_stream import wanted_rules
from jobs.options import Settings, turnmill_command
from pipelines.adapters.json_slices import TooLong, lines_of
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Turn
from pipelines.intake.parse import parse_record
from pipelines.quality.rules import Rules, reason
from pipelines.quality.signals import Signals, TurnText, batch_signals
from schemas.records import MAX_RECORD_BYTES, DeadReason
from schemas.shared_columns import ROLES

BATCH_LINES = 1_024
"""Lines that are judged together; fewer where the input makes us wait."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line that waits: its JSON without white space around it, its turns, and whether it is a log of several."""

    source: str
    turns: tuple[TurnText, ...]
    is_log: bool


@turnmill_command("quality")
@click.option("--field", "text_field", default="text", show_default=True, help="Member of a line that is its text.")
@click.option("--role", type=click.Choice(ROLES), default="user", show_default=True, help="Role of lines without one.")
@click.option("--languages", default=None, metavar="CODES", help="Keep only these, for instance en,de.  [default: all]")
def quality(settings: Settings, text_field: str, role: str, languages: str | None) -> None:
    r"""Read JSON lines and write each with "signals", "keep" and "reason".

    {"text", "role"} comes back with one object of signals, the columns of turn_signals; "finish_reason", "flags",
    "tool_calls" and "parts" count where a line has them, as those of pipe parse do. A log record of a known format gets
    an array of signals, one object a message with its role, "keep" and "reason"; its own "keep" is true when all its
    messages are kept, its "reason" the first that is not. A line without a text is written with "signals": null and
    kept; one that is no JSON becomes {"rejected": reason, "detail", "line"}. Counts go to standard error.
    """
    output = sys.stdout.buffer
    stage = _Stage(wanted_rules(languages), text_field, role, output)
    source = cast(BinaryIO, _Source(sys.stdin.buffer, stage.write))
    closed = False
    try:
        for number, line in enumerate(lines_of(source, MAX_RECORD_BYTES, blank=True), 1):
            stage.take(number, line)
        stage.write()
    except BrokenPipeError:
        # The reader went away (``head``); the interpreter flushes standard output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        closed = True
    _tell(settings, {**stage.counts, "reasons": dict(stage.reasons), "output_closed": closed})


class _Stage:
    """Lines that wait to be judged together, and counts of what became of them."""

    def __init__(self, rules: Rules, text_field: str, role: str, output: BinaryIO) -> None:
        self.rules, self.text_field, self.role, self.output = rules, text_field, role, output
        self.counts: Counter[str] = Counter(lines=0, kept=0, dropped=0, without_text=0, rejected=0)
        self.reasons: Counter[str] = Counter()
        self._identity = IdentityKey(secrets.token_bytes(KEY_BYTES))
        self._waiting: list[tuple[int, Row | bytes]] = []

    def take(self, number: int, line: bytes | TooLong) -> None:
        """Read one line; a full batch is written."""
        if isinstance(line, bytes) and (not line or line.isspace()):
            return
        self.counts["lines"] += 1
        self._waiting.append((number, self._read(number, line)))
        if len(self._waiting) >= BATCH_LINES:
            self.write()

    def write(self) -> None:
        """Judge and write what waits."""
        waiting, self._waiting = self._waiting, []
        found = iter(batch_signals(turn for _, row in waiting if isinstance(row, Row) for turn in row.turns))
        for _, row in waiting:
            told = row if isinstance(row, bytes) else self._told(row, [next(found) for _ in row.turns])
            self.output.write(told + b"\n")
        self.output.flush()

    def _told(self, row: Row, found: list[Signals]) -> bytes:
        judged = [(one, reason(one, self.rules)) for one in found]
        first = next((why for _, why in judged if why is not None), None)
        self.counts["without_text" if not found else "kept" if first is None else "dropped"] += 1
        if first is not None:
            self.reasons[first] += 1
        signals: Any = [{**asdict(one), "keep": why is None, "reason": why} for one, why in judged]
        if not row.is_log:
            signals = _columns(found[0]) if found else None
        return _with_members(row.source, {"signals": signals, "keep": first is None, "reason": first})

    def _read(self, number: int, line: bytes | TooLong) -> Row | bytes:
        if isinstance(line, TooLong):
            detail = f"{line.size} bytes, at most {MAX_RECORD_BYTES} are read"
            return self._rejected(number, DeadReason.TOO_LARGE, detail)
        try:
            value = orjson.loads(source := line.decode("utf-8").strip())
        except UnicodeDecodeError as error:
            return self._rejected(number, DeadReason.BAD_UTF8, f"byte {error.start}")
        except orjson.JSONDecodeError as error:
            return self._rejected(number, DeadReason.BAD_JSON, f"character {error.pos}")
        if isinstance(value, str):
            return Row(source, (TurnText(value, self.role),), False)
        if not isinstance(value, dict):
            return Row(source, (), False)
        if isinstance(value.get(self.text_field), str):
            return Row(source, (self._turn(value),), False)
        return self._log(source, line)

    def _turn(self, value: dict[str, Any]) -> TurnText:
        """Read a line of one text, or a turn as ``pipe parse`` writes it."""
        role, flags, finish_reason = value.get("role"), value.get("flags"), value.get("finish_reason")
        return TurnText(
            text=value[self.text_field],
            role=role if role in ROLES else self.role,
            flags=[flag for flag in flags if isinstance(flag, str)] if isinstance(flags, list) else (),
            finish_reason=finish_reason if isinstance(finish_reason, str) else None,
            has_content=bool(value.get("tool_calls") or value.get("parts")),
        )

    def _log(self, source: str, line: bytes) -> Row:
        messages = [item.message for item in parse_record(line, {}, self._identity) if isinstance(item, Turn)]
        turns = tuple(
            TurnText(one.text, one.role, one.flags, one.finish_reason, bool(one.tool_calls or one.parts))
            for one in messages
        )
        return Row(source, turns, bool(turns))

    def _rejected(self, number: int, why: DeadReason, detail: str) -> bytes:
        self.counts["rejected"] += 1
        return orjson.dumps({"rejected": why.value, "detail": detail, "line": number})


class _Source:
    """Standard input as it comes: what waits is written before the filter waits for more."""

    def __init__(self, source: BinaryIO, before_wait: Callable[[], None]) -> None:
        self.source, self.before_wait = getattr(source, "raw", source), before_wait

    def read(self, size: int) -> bytes:
        self.before_wait()
        return self.source.read(size) or b""


def _columns(found: Signals) -> dict[str, Any]:
    signals = asdict(found)
    del signals["role"]
    return signals


def _with_members(source: str, members: dict[str, Any]) -> bytes:
    """Write members into the line's object, its others byte for byte as they are; no object goes into one."""
    told = orjson.dumps(members).decode()[1:-1]
    if not source.startswith("{"):
        name = "text" if source.startswith('"') else "record"
        return f'{{"{name}":{source},{told}}}'.encode()
    value = orjson.loads(source)
    if members.keys() & value.keys():
        return orjson.dumps({**value, **members})
    return f"{source[:-1]}{',' if value else ''}{told}}}".encode()


def _tell(settings: Settings, counts: dict[str, Any]) -> None:
    if settings.json:
        click.echo(orjson.dumps(counts).decode(), err=True)
        return
    reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(counts["reasons"].items())) or "nothing"
    closed = "; the output was closed early" if counts["output_closed"] else ""
    click.echo(
        f"{counts['lines']:,} lines, {counts['kept']:,} kept, {counts['without_text']:,} without text,"
        f" {counts['rejected']:,} rejected; dropped: {reasons}{closed}",
        err=True,
    )


command = quality
