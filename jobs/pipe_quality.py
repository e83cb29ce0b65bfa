"""``turnmill pipe quality``: JSON lines in, the same lines with quality signals and a verdict out.

turnmill pipe quality < in.jsonl > out.jsonl
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click
import orjson

from jobs.filter_stream import wanted_rules
from jobs.line_filter import LineFilter, closed_early, with_members
from jobs.options import Settings, turnmill_command
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Turn
from pipelines.intake.parse import parse_record
from pipelines.quality.rules import Rules, reason
from pipelines.quality.signals import Signals, TurnText, batch_signals
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
    stage = Judging(wanted_rules(languages), text_field, role)
    closed = stage.run()
    _tell(settings, {**stage.counts, "reasons": dict(stage.reasons), "output_closed": closed})


class Judging(LineFilter[Row]):
    """Judges the texts of a batch together."""

    batch_lines = BATCH_LINES

    def __init__(self, rules: Rules, text_field: str, role: str) -> None:
        super().__init__()
        self.rules, self.text_field, self.role = rules, text_field, role
        self.counts = Counter(lines=0, kept=0, dropped=0, without_text=0, rejected=0)
        self.reasons: Counter[str] = Counter()
        self._identity = IdentityKey(secrets.token_bytes(KEY_BYTES))

    def written(self, rows: Sequence[tuple[int, Row]]) -> Iterator[bytes]:
        """Yield each line with the signals of its texts and the verdict."""
        found = iter(batch_signals(turn for _, row in rows for turn in row.turns))
        for _, row in rows:
            yield self._told(row, [next(found) for _ in row.turns])

    def _told(self, row: Row, found: list[Signals]) -> bytes:
        judged = [(one, reason(one, self.rules)) for one in found]
        first = next((why for _, why in judged if why is not None), None)
        self.counts["without_text" if not found else "kept" if first is None else "dropped"] += 1
        if first is not None:
            self.reasons[first] += 1
        signals: Any = [{**asdict(one), "keep": why is None, "reason": why} for one, why in judged]
        if not row.is_log:
            signals = _columns(found[0]) if found else None
        return with_members(row.source, {"signals": signals, "keep": first is None, "reason": first})

    def read(self, number: int, line: str) -> Row:  # noqa: ARG002 - no name is needed here
        """Read a text, a turn, or the messages of a log record."""
        value = orjson.loads(source := line.strip())
        if isinstance(value, str):
            return Row(source, (TurnText(value, self.role),), False)
        if not isinstance(value, dict):
            return Row(source, (), False)
        if isinstance(value.get(self.text_field), str):
            return Row(source, (self._turn(value),), False)
        return self._log(source)

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

    def _log(self, source: str) -> Row:
        messages = [
            item.message for item in parse_record(source.encode(), {}, self._identity) if isinstance(item, Turn)
        ]
        turns = tuple(
            TurnText(one.text, one.role, one.flags, one.finish_reason, bool(one.tool_calls or one.parts))
            for one in messages
        )
        return Row(source, turns, bool(turns))


def _columns(found: Signals) -> dict[str, Any]:
    signals = asdict(found)
    del signals["role"]
    return signals


def _tell(settings: Settings, counts: dict[str, Any]) -> None:
    if settings.json:
        click.echo(orjson.dumps(counts).decode(), err=True)
        return
    reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(counts["reasons"].items())) or "nothing"
    closed = closed_early(counts["output_closed"])
    click.echo(
        f"{counts['lines']:,} lines, {counts['kept']:,} kept, {counts['without_text']:,} without text,"
        f" {counts['rejected']:,} rejected; dropped: {reasons}{closed}",
        err=True,
    )


command = quality
