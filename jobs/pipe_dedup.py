"""``turnmill pipe dedup``: JSON lines in, the same lines out, each told whether it repeats an earlier one.

turnmill pipe dedup < in.jsonl > out.jsonl
"""

from __future__ import annotations

import os
import secrets
import select
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import click
import orjson

from jobs.options import Settings, turnmill_command
from pipelines.adapters.json_slices import TooLong, lines_of
from pipelines.duplicates.cluster import giants
from pipelines.duplicates.index import AcceptedIndex, Verdict
from pipelines.duplicates.talks import TalkText, talk_text
from pipelines.duplicates.verify import Likeness
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Turn
from pipelines.intake.parse import parse_record
from schemas.records import MAX_RECORD_BYTES, DeadReason

BATCH_LINES = 4096
"""Lines that are compared together; fewer where the input makes us wait."""

ID_FIELDS = ("id", "turn_id", "conversation_id")
"""Members that name a line in ``matched_id``, the first that is there; else its number does, from 1."""


class ThresholdType(click.ParamType):
    """A share of common words, as a ``Likeness``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Likeness:
        """Read the share, or say what is wrong with it."""
        try:
            return value if isinstance(value, Likeness) else Likeness(float(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@dataclass(frozen=True)
class Row:
    """A line that waits: its JSON without white space around it, its name, and what it is compared by, among whom.

    ``group`` is tenant and role: only lines of one group are compared.
    """

    source: str
    shown_id: Any
    group: tuple[str, str]
    text: TalkText | None


@turnmill_command("dedup")
@click.option(
    "--threshold", type=ThresholdType(), default="0.8", show_default=True, help="Least share of common words."
)
@click.option("--field", "text_field", default="text", show_default=True, help="Member of a line that is its text.")
def dedup(settings: Settings, threshold: Likeness, text_field: str) -> None:
    r"""Read JSON lines and write each with "dropped", "rule", "matched_id" and "score".

    A line goes when it equals an earlier line that stays (exact_duplicate, white space apart), or nearly so
    (near_duplicate): both share at least --threshold of their words, in about the same order, and differ in no number,
    sign or name. Texts of fewer than five words go only when equal. A log record of a known format is compared by all
    its messages with their roles. The first line of a group stays; "matched_id" is its "id", "turn_id" or
    "conversation_id", else its line number. Lines that differ in "tenant" or "role" are not compared. A line without a
    text is written and never dropped; one that is no JSON becomes {"rejected": reason, "detail", "line"}. Counts go to
    standard error.
    """
    output = sys.stdout.buffer
    stage = _Stage(threshold, text_field, output)
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
    _tell(settings, stage.counts | {"output_closed": closed}, giants(stage.matched))


class _Stage:
    """Lines that wait to be compared, an index a group, and counts of what became of them."""

    def __init__(self, likeness: Likeness, text_field: str, output: BinaryIO) -> None:
        self.likeness, self.text_field, self.output = likeness, text_field, output
        self.counts: dict[str, int] = Counter(
            lines=0, kept=0, exact_duplicate=0, near_duplicate=0, without_text=0, rejected=0
        )
        self.matched: list[str | None] = []
        self._identity = IdentityKey(secrets.token_bytes(KEY_BYTES))
        self._indexes: dict[tuple[str, str], AcceptedIndex] = {}
        self._shown: dict[str, Any] = {}
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
        """Compare and write what waits."""
        waiting, self._waiting = self._waiting, []
        verdicts = self._decided([(number, row) for number, row in waiting if isinstance(row, Row)])
        for number, row in waiting:
            told = row if isinstance(row, bytes) else self._told(row, verdicts.get(number, Verdict()))
            self.output.write(told + b"\n")
        self.output.flush()

    def _decided(self, rows: list[tuple[int, Row]]) -> dict[int, Verdict]:
        """Decide the lines of each group, the earlier ones first."""
        verdicts: dict[int, Verdict] = {}
        by_group: dict[tuple[str, str], list[tuple[int, TalkText]]] = {}
        for number, row in rows:
            self._shown[str(number)] = row.shown_id
            if row.text is not None:
                by_group.setdefault(row.group, []).append((number, row.text))
        for group, told in by_group.items():
            index = self._indexes.setdefault(group, AcceptedIndex(self.likeness))
            numbers = [number for number, _ in told]
            compared, exact = [text.compared for _, text in told], [text.exact for _, text in told]
            batch = index.batch([str(number) for number in numbers], compared, exact_texts=exact, ranks=numbers)
            verdicts.update(zip(numbers, index.take(batch), strict=True))
        return verdicts

    def _told(self, row: Row, verdict: Verdict) -> bytes:
        self.counts["without_text" if row.text is None else verdict.rule or "kept"] += 1
        self.matched.append(verdict.matched_id)
        matched = None if verdict.matched_id is None else self._shown[verdict.matched_id]
        score = None if verdict.score is None else round(verdict.score, 4)
        return _with_members(
            row.source, {"dropped": verdict.dropped, "rule": verdict.rule, "matched_id": matched, "score": score}
        )

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
        if not isinstance(value, dict):
            return Row(source, number, ("", ""), TalkText(value, value) if isinstance(value, str) else None)
        shown_id = next((value[name] for name in ID_FIELDS if value.get(name) is not None), number)
        return Row(source, shown_id, (_string(value, "tenant"), _string(value, "role")), self._text(value, line))

    def _text(self, value: dict[str, Any], line: bytes) -> TalkText | None:
        """Return a line's own text with its tool calls, or those of all messages of a log record."""
        text = value.get(self.text_field)
        if isinstance(text, str):
            whole = "\n".join((text, *_calls(value)))
            return TalkText(whole, whole)
        items = parse_record(line, {}, self._identity)
        messages = [item.message for item in items if isinstance(item, Turn)]
        return talk_text(messages) if messages else None

    def _rejected(self, number: int, reason: DeadReason, detail: str) -> bytes:
        self.counts["rejected"] += 1
        return orjson.dumps({"rejected": reason.value, "detail": detail, "line": number})


class _Source:
    """Standard input as it comes: what waits is written before the filter waits for more."""

    def __init__(self, source: BinaryIO, before_wait: Callable[[], None]) -> None:
        self.source, self.before_wait = getattr(source, "raw", source), before_wait

    def read(self, size: int) -> bytes:
        if not self._is_ready():
            self.before_wait()
        return self.source.read(size) or b""

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self.source.fileno()], [], [], 0)[0])
        except (OSError, ValueError, AttributeError):
            # No descriptor to ask: an input in memory, which never waits.
            return True


def _string(value: dict[str, Any], name: str) -> str:
    member = value.get(name)
    return member if isinstance(member, str) else ""


def _calls(value: dict[str, Any]) -> list[str]:
    """Return the tool calls of a turn as ``pipe parse`` writes them, without their ids."""
    calls = value.get("tool_calls")
    told = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return [
        orjson.dumps({n: v for n, v in one.items() if n != "id"}, option=orjson.OPT_SORT_KEYS).decode() for one in told
    ]


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


def _tell(settings: Settings, counts: dict[str, Any], crowds: dict[str, int]) -> None:
    if settings.json:
        click.echo(orjson.dumps({**counts, "giants": sorted(crowds.values(), reverse=True)}).decode(), err=True)
        return
    told = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if type(count) is int)
    click.echo(f"{told}{'; the output was closed early' if counts['output_closed'] else ''}", err=True)
    for line, count in crowds.items():
        click.echo(f"Note: {count:,} lines repeat line {line} alone; look whether they share a template.", err=True)


command = dedup
