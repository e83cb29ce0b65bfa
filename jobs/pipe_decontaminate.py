"""``turnmill pipe decontaminate``: JSON lines in, the same lines out, each told which benchmark items it holds.

turnmill pipe decontaminate --benchmarks DIR < in.jsonl > out.jsonl
"""

from __future__ import annotations

import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
import orjson

from jobs.embedding_model import named_encoder
from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.benchmark_files import BenchmarkFile, find_benchmark_files, read_benchmark
from pipelines.adapters.json_slices import TooLong, lines_of
from pipelines.decontamination.check import Leak, LeakCheck, leak_check
from pipelines.decontamination.items import BenchmarkError, FieldNames
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Message, Turn
from pipelines.intake.parse import parse_record
from schemas.records import MAX_RECORD_BYTES, DeadReason

BATCH_LINES = 4096
"""Lines that are checked together, with canaries among them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line as it stood, without white space around it, and the messages in it."""

    source: str
    messages: tuple[Mapping[str, Any], ...]


@turnmill_command("decontaminate")
@click.option("--benchmarks", type=click.Path(path_type=Path, exists=True), multiple=True, required=True,
              help="File or folder of benchmark items; give it several times.")  # fmt: skip
@click.option("--prompt-field", multiple=True, help="Field of a benchmark's prompt.  [default: found by its name]")
@click.option("--answer-field", multiple=True, help="Field of a benchmark's answer.  [default: found by its name]")
@click.option("--model", default=None, metavar="NAME", help="Embedding model that finds items told in other words.")
@click.option("--field", "text_field", default="text", show_default=True, help="Member of a line that is its text.")
def decontaminate(
    settings: Settings,
    benchmarks: tuple[Path, ...],
    prompt_field: tuple[str, ...],
    answer_field: tuple[str, ...],
    model: str | None,
    text_field: str,
) -> None:
    r"""Read JSON lines and write each with "verdict" and "leaks".

    A line is a text or a log record of any known format. "verdict" is contaminated, flag_for_review or null; "leaks"
    are the items found: {"benchmark", "item", "side", "how", "score", "verdict"}. A line that is no JSON becomes
    {"rejected": reason, "detail", "line"}. Nothing is dropped. Benchmarks and counts go to standard error. An item is
    planted in every batch in each form of a leak; the command fails when one is not found.
    """
    try:
        names = FieldNames(prompt_field, answer_field)
        files = [read_benchmark(path, names=names) for path in find_benchmark_files(benchmarks)]
        encoder = named_encoder(model) if model else None
        check = leak_check((item for file in files for item in file.items), encoder=encoder)
    except BenchmarkError as error:
        raise UserError(str(error)) from None
    counts: Counter[str] = Counter(lines=0, contaminated=0, flag_for_review=0, clean=0, rejected=0)
    closed = False
    try:
        for told in checked_lines(lines_of(sys.stdin.buffer, MAX_RECORD_BYTES, blank=True), check, text_field, counts):
            sys.stdout.buffer.write(told + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader went away (``head``); the interpreter flushes standard output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        closed = True
    _tell(settings, files, check, {**counts, "output_closed": closed})


def checked_lines(
    lines: Iterable[bytes | TooLong], check: LeakCheck, text_field: str, counts: Counter[str]
) -> Iterator[bytes]:
    """Yield what is written for each line that is not blank, in order, and count the verdicts."""
    identity = IdentityKey(secrets.token_bytes(KEY_BYTES))
    numbered = ((n, line) for n, line in enumerate(lines, 1) if not isinstance(line, bytes) or line.strip())
    while batch := list(islice(numbered, BATCH_LINES)):
        rows = [_read(number, line, text_field, identity) for number, line in batch]
        leaks: list[list[Leak]] = [[] for _ in rows]
        for leak in check.check([row.messages if isinstance(row, Row) else () for row in rows]):
            leaks[leak.example].append(leak)
        for row, found in zip(rows, leaks, strict=True):
            counts["lines"] += 1
            verdict = min((leak.verdict for leak in found), default=None)
            counts["rejected" if isinstance(row, bytes) else verdict or "clean"] += 1
            yield row if isinstance(row, bytes) else _with_leaks(row.source, verdict, found)


def _read(number: int, line: bytes | TooLong, text_field: str, identity: IdentityKey) -> Row | bytes:
    if isinstance(line, TooLong):
        return _rejected(number, DeadReason.TOO_LARGE, f"{line.size} bytes, at most {MAX_RECORD_BYTES} are read")
    try:
        value = orjson.loads(source := line.decode("utf-8").strip())
    except UnicodeDecodeError as error:
        return _rejected(number, DeadReason.BAD_UTF8, f"byte {error.start}")
    except orjson.JSONDecodeError as error:
        return _rejected(number, DeadReason.BAD_JSON, f"character {error.pos}")
    text = value.get(text_field) if isinstance(value, dict) else value
    if isinstance(text, str):
        return Row(source, ({"role": "user", "text": text, "tool_calls": []},))
    items = parse_record(line, {}, identity) if isinstance(value, dict) else []
    return Row(source, tuple(_message(item.message) for item in items if isinstance(item, Turn)))


def _message(message: Message) -> Mapping[str, Any]:
    calls = [{"arguments": call.arguments} for call in message.tool_calls]
    return {"role": message.role, "text": message.text, "tool_calls": calls}


def _with_leaks(source: str, verdict: str | None, found: list[Leak]) -> bytes:
    """Write the verdict into the line's object, its other members as they are; what is no object goes into one."""
    leaks = [
        {
            "benchmark": leak.ref.benchmark,
            "item": leak.ref.item_id,
            "side": leak.ref.side,
            "how": leak.how,
            "score": leak.score,
            "verdict": leak.verdict,
        }
        for leak in found
    ]
    told = orjson.dumps({"verdict": verdict, "leaks": leaks}).decode()[1:-1]
    if not source.startswith("{"):
        name = "text" if source.startswith('"') else "record"
        return f'{{"{name}":{source},{told}}}'.encode()
    value = orjson.loads(source)
    if {"verdict", "leaks"} & value.keys():
        return orjson.dumps({**value, "verdict": verdict, "leaks": leaks})
    return f"{source[:-1]}{',' if value else ''}{told}}}".encode()


def _rejected(number: int, reason: DeadReason, detail: str) -> bytes:
    return orjson.dumps({"rejected": reason.value, "detail": detail, "line": number})


def _tell(settings: Settings, files: list[BenchmarkFile], check: LeakCheck, counts: dict[str, Any]) -> None:
    short = Counter(ref.benchmark for ref in check.index.too_short())
    told: list[dict[str, Any]] = [
        {
            "name": file.name,
            "sha256": file.sha256,
            "records": file.n_records,
            "items": len(file.items),
            "compared_whole": short[file.name],
            "known": file.known is not None,
        }
        for file in files
    ]
    if settings.json:
        summary = {**counts, "benchmarks": told, "list_sha256": check.index.digest}
        click.echo(orjson.dumps(summary).decode(), err=True)
        return
    for one in told:
        line = f"{one['name']}: {one['items']:,} items, {one['compared_whole']:,} too short for runs of words"
        click.echo(f"{line}; sha256 {one['sha256'][:12]}", err=True)
    each = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if type(count) is int)
    click.echo(f"{each}{'; the output was closed early' if counts['output_closed'] else ''}", err=True)


command = decontaminate
