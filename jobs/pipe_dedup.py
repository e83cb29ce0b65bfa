"""``turnmill pipe dedup``: JSON lines in, the same lines out, each told whether it repeats an earlier one.

turnmill pipe dedup < in.jsonl > out.jsonl
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import orjson

from jobs.line_filter import LineFilter, closed_early, told_counts, with_members
from jobs.options import Settings, turnmill_command
from pipelines.duplicates.cluster import giants
from pipelines.duplicates.index import AcceptedIndex, Verdict
from pipelines.duplicates.talks import TalkText, talk_text
from pipelines.duplicates.verify import Likeness
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Turn
from pipelines.intake.parse import parse_record

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
    stage = Comparing(threshold, text_field)
    closed = stage.run()
    _tell(settings, stage.counts | {"output_closed": closed}, giants(stage.matched))


class Comparing(LineFilter[Row]):
    """Compares the lines of a batch with all before, in an index a group."""

    batch_lines = 4096

    def __init__(self, likeness: Likeness, text_field: str) -> None:
        super().__init__()
        self.likeness, self.text_field = likeness, text_field
        self.counts = Counter(lines=0, kept=0, exact_duplicate=0, near_duplicate=0, without_text=0, rejected=0)
        self.matched: list[str | None] = []
        self._identity = IdentityKey(secrets.token_bytes(KEY_BYTES))
        self._indexes: dict[tuple[str, str], AcceptedIndex] = {}
        self._shown: dict[str, Any] = {}

    def written(self, rows: Sequence[tuple[int, Row]]) -> Iterator[bytes]:
        """Yield each line with the verdict on it."""
        verdicts = self._decided(rows)
        for number, row in rows:
            yield self._told(row, verdicts.get(number, Verdict()))

    def _decided(self, rows: Sequence[tuple[int, Row]]) -> dict[int, Verdict]:
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
        return with_members(
            row.source, {"dropped": verdict.dropped, "rule": verdict.rule, "matched_id": matched, "score": score}
        )

    def read(self, number: int, line: str) -> Row:
        """Read what a line is compared by."""
        value = orjson.loads(source := line.strip())
        if not isinstance(value, dict):
            return Row(source, number, ("", ""), TalkText(value, value) if isinstance(value, str) else None)
        shown_id = next((value[name] for name in ID_FIELDS if value.get(name) is not None), number)
        return Row(source, shown_id, (_string(value, "tenant"), _string(value, "role")), self._text(value, source))

    def _text(self, value: dict[str, Any], source: str) -> TalkText | None:
        """Return a line's own text with its tool calls, or those of all messages of a log record."""
        text = value.get(self.text_field)
        if isinstance(text, str):
            whole = "\n".join((text, *_calls(value)))
            return TalkText(whole, whole)
        items = parse_record(source.encode(), {}, self._identity)
        messages = [item.message for item in items if isinstance(item, Turn)]
        return talk_text(messages) if messages else None


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


def _tell(settings: Settings, counts: dict[str, Any], crowds: dict[str, int]) -> None:
    if settings.json:
        click.echo(orjson.dumps({**counts, "giants": sorted(crowds.values(), reverse=True)}).decode(), err=True)
        return
    click.echo(f"{told_counts(counts)}{closed_early(counts['output_closed'])}", err=True)
    for line, count in crowds.items():
        click.echo(f"Note: {count:,} lines repeat line {line} alone; look whether they share a template.", err=True)


command = dedup
