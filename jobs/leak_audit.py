"""``turnmill audit``: look at stored turns again with every detector, and tell what an earlier run may have missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
from rich.table import Table as RichTable

from jobs.options import Settings, UserError, existing_lake, turnmill_command
from jobs.pipe_anonymize import PolicyName
from pipelines.adapters.duck import connect, quoted
from pipelines.privacy.anonymizer import Anonymized, Anonymizer, Edit, Row
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from pipelines.privacy.leak_context import masked_context
from pipelines.privacy.policy import Policy
from pipelines.privacy.second_tier import span_source

COLUMNS = (
    "tenant", "turn_id", "text", "reasoning", "tool_call_id", "tool_name", "model", "response_id", "finish_reason",
    "tools", "tool_calls", "parts", "redactions",
)  # fmt: skip
ROWS_AT_ONCE = 256
SHOWN = 20


@dataclass(frozen=True)
class Suspect:
    """A place of a stored turn that a detector takes for personal; ``context`` shows shapes of words, no value."""

    tenant: str
    turn_id: str
    field: str
    type: str
    score: float
    context: str


@turnmill_command("audit", help="Look again at a sample of stored turns for personal values that are still there.")
@click.option("--sample", type=click.IntRange(min=1), default=1000, show_default=True, help="How many turns.")
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds take equal turns.")
@click.option("--policy", type=PolicyName(), default="analytics", show_default=True, metavar="NAME|FILE",
              help="What counts as personal.")  # fmt: skip
def command(settings: Settings, sample: int, seed: int, policy: Policy) -> None:
    """Count suspected leaks by type, outside of what the anonymiser wrote, and show where they are without values.

    A suspect may be a false alarm: look at the turn itself by its turn_id.
    """
    try:
        anonymizer = Anonymizer(KeyFolder(settings.keys).open(), policy, source=span_source(policy))
    except KeyFolderError as error:
        raise UserError(str(error)) from error
    rows = sampled_turns(settings, sample, seed)
    suspects = [suspect for batch in _batches(rows) for suspect in suspects_in(batch, anonymizer)]
    counts = dict(Counter(suspect.type for suspect in suspects).most_common())
    if settings.json:
        shown = [vars(suspect) for suspect in suspects[:SHOWN]]
        settings.emit({"turns": len(rows), "policy": policy.name, "suspected": counts, "examples": shown})
        return
    table = RichTable("type", "field", "turn", "context", title=f"{len(suspects)} suspects in {len(rows):,} turns")
    for suspect in suspects[:SHOWN]:
        table.add_row(suspect.type, suspect.field, suspect.turn_id, suspect.context)
    settings.console.print(table if suspects else f"No suspects in {len(rows):,} turns.", markup=False)


def sampled_turns(settings: Settings, sample: int, seed: int) -> list[dict[str, Any]]:
    """Return turns of the lake, chosen by a hash of their ids."""
    names = ", ".join(COLUMNS)
    order = f"hash(turn_id || {quoted(str(seed))}), turn_id"
    query = f"SELECT {names} FROM turns_current ORDER BY {order} LIMIT {sample:d}"  # noqa: S608 - names of this module
    cursor = connect(existing_lake(settings)).execute(query)
    return [dict(zip(COLUMNS, row, strict=True)) for row in cursor.fetchall()]


def suspects_in(turns: list[dict[str, Any]], anonymizer: Anonymizer) -> list[Suspect]:
    """Return what detectors find in stored turns outside of their redactions."""
    rows = [Row(turn["tenant"], dict(stored_strings(turn)), redactions=_redactions(turn)) for turn in turns]
    found: list[Suspect] = []
    for turn, row, clean in zip(turns, rows, anonymizer.batch(rows), strict=True):
        if isinstance(clean, Exception):
            found.append(Suspect(turn["tenant"], turn["turn_id"], "", type(clean).__name__, 1.0, ""))
            continue
        for field, result in clean.items():
            found.extend(_suspect(turn, field, row.fields[field], edit, result) for edit in result.edits)
    return found


def stored_strings(turn: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield pointer and text of the strings of a stored turn that the anonymiser writes."""
    for name in COLUMNS[2:10]:
        if turn[name]:
            yield f"/{name}", turn[name]
    for column, names in (("tool_calls", ("id", "name", "arguments")), ("parts", ("type", "media_type", "uri"))):
        for place, entry in enumerate(turn[column] or ()):
            for name in names:
                if entry.get(name):
                    yield f"/{column}/{place}/{name}", entry[name]


def _redactions(turn: dict[str, Any]) -> dict[str, list[tuple[int, int, str]]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    for one in turn["redactions"] or ():
        found.setdefault(one["field"], []).append((one["start"], one["end"], one["type"]))
    return found


def _suspect(turn: dict[str, Any], field: str, text: str, edit: Edit, clean: Anonymized) -> Suspect:
    context = masked_context(text, edit, clean.edits)
    return Suspect(turn["tenant"], turn["turn_id"], field, edit.kind, edit.score, context)


def _batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]


if __name__ == "__main__":
    command()
