"""``turnmill pipe parse``: log entries in, the turns in them out, one JSON line each.

turnmill pipe parse < in.jsonl > out.jsonl
"""

from __future__ import annotations

import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

import click
import orjson

from jobs.line_filter import WaitingSource, closed_early, told_counts
from jobs.options import Settings, turnmill_command
from pipelines.adapters.json_slices import TooLong, lines_of
from pipelines.intake.formats import FORMAT_OF_NAME
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Feedback, Fragment, Item, Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.intake.piece_joiner import PieceJoiner
from pipelines.privacy.keys import KeyFolder
from schemas.records import FORMAT_HEADER, MAX_RECORD_BYTES, TENANT_HEADER, DeadReason

Row = dict[str, Any]

IDS = ("turn_id", "parent_id", "root_id")
LEFT_OUT = frozenset({"message", "rating", "user_id", "payload", "parent", "content"})
"""Fields of items that are no output: their parts, the logged user id (``user_ref`` stands for it), raw bytes, and the
place of a message's parent in its entry (``parent_id`` names it)."""


@turnmill_command("parse")
@click.option("--format", "log_format", type=click.Choice(sorted(FORMAT_OF_NAME)), help="Told by shape if not given.")
@click.option("--tenant", help="Tenant that the logs belong to; part of every id.")
def parse(settings: Settings, log_format: str | None, tenant: str | None) -> None:
    r"""Read log entries, one a line, and write the turns in them, one a line.

    A line is a whole log entry of any known format; lines end at line feeds alone. A message becomes
    {"turn_id", "parent_id", "root_id", "role", "text", "tool_calls", ...}, a rating {"feedback": {...}}, what cannot be
    used {"rejected": reason, "detail", "line"}. Counts go to standard error.

    Pieces of a streamed answer on lines of their own are joined. The output is raw: nothing is anonymised here. Ids are
    those of the ingest when the key folder (--keys) is there; without it they are made under a key that is thrown away,
    and differ in each run.
    """
    headers = {TENANT_HEADER: tenant, FORMAT_HEADER: log_format}
    given = {name: value.encode() for name, value in headers.items() if value is not None}
    counts: Counter[str] = Counter(lines=0)
    output = sys.stdout.buffer
    source = cast(BinaryIO, WaitingSource(sys.stdin.buffer, output.flush))
    lines = lines_of(source, MAX_RECORD_BYTES, blank=True)
    written = write_rows(parsed(lines, given, _identity(settings), counts), output)
    tell(settings, {**counts, "output_closed": not written})


def parsed(
    lines: Iterable[bytes | TooLong], headers: dict[str, bytes], identity: IdentityKey, counts: Counter[str]
) -> Iterator[Row]:
    """Yield the output row of each item of each line, and count items by kind or reason.

    Pieces of a streamed answer on lines of their own are joined; the row tells the line of the last piece, of the first
    one where the end is missing.
    """
    joiner = PieceJoiner(headers, identity)
    for number, line in enumerate(lines, 1):
        if isinstance(line, bytes) and (not line or line.isspace()):
            continue
        counts["lines"] += 1
        if isinstance(line, TooLong):
            counts[DeadReason.TOO_LARGE.value] += 1
            detail = f"{line.size} bytes, at most {MAX_RECORD_BYTES} are read"
            yield {"rejected": DeadReason.TOO_LARGE.value, "detail": detail, "line": number}
            continue
        for item in parse_record(line, headers, identity):
            if isinstance(item, Fragment):
                counts["pieces"] += 1
                yield from counted(joiner.add(item, number), number, counts)
            else:
                yield from counted([item], number, counts)
    for number, items in joiner.rest():
        yield from counted(items, number, counts)


def counted(items: Iterable[Item], line: int, counts: Counter[str]) -> Iterator[Row]:
    """Yield the output row of each item, and count it by kind or reason."""
    for item in items:
        row = row_of(item, line)
        counts[row.get("rejected") or _kind(item)] += 1
        yield row


def row_of(item: Item, line: int) -> Row:
    """Return what the filter writes for an item of line ``line``, from 1."""
    if isinstance(item, Rejection):
        return {"rejected": item.reason.value, "detail": item.detail, "line": line}
    if isinstance(item, Turn):
        message = _fields(item.message)
        message["parts"] = [_fields(part) for part in item.message.parts]
        rest = {name: value for name, value in _fields(item).items() if name not in IDS}
        return {**{name: getattr(item, name) for name in IDS}, **message, **rest, "line": line}
    if isinstance(item, Feedback):
        return {"feedback": {**_fields(item.rating), **_fields(item)}, "line": line}
    raise TypeError(f"wanted a turn, feedback or a rejection, found {type(item).__name__}")


def write_rows(rows: Iterable[Row], output: BinaryIO) -> bool:
    """Write one JSON line a row; return False when the reader of the output went away, which is no fault (``head``)."""
    try:
        for row in rows:
            output.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        output.flush()
    except BrokenPipeError:
        # The interpreter flushes standard output once more at its end.
        if output is getattr(sys.stdout, "buffer", None):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def tell(settings: Settings, counts: dict[str, Any]) -> None:
    """Write the counts to standard error, as one JSON line with ``--json``."""
    if settings.json:
        click.echo(orjson.dumps(counts), err=True)
        return
    click.echo(f"{told_counts(counts)}{closed_early(counts.get('output_closed', False))}", err=True)


def _identity(settings: Settings) -> IdentityKey:
    if settings.keys.is_dir():
        return IdentityKey(KeyFolder(settings.keys).identity)
    note = f"Note: there is no key folder at {settings.keys}; ids are made under a key of this run alone."
    click.echo(note, err=True)
    return IdentityKey(secrets.token_bytes(KEY_BYTES))


def _kind(item: Item) -> str:
    return "turns" if isinstance(item, Turn) else "feedback"


def _fields(item: Any) -> Row:
    return {name: getattr(item, name) for name in type(item).__slots__ if name not in LEFT_OUT}
