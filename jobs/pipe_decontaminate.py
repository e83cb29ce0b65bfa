"""``turnmill pipe decontaminate``: JSON lines in, the same lines out, each told which benchmark items it holds.

turnmill pipe decontaminate --benchmarks DIR < in.jsonl > out.jsonl
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson

from jobs.embedding_model import named_encoder
from jobs.line_filter import LineFilter, closed_early, told_counts, with_members
from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.benchmark_files import BenchmarkFile, find_benchmark_files, read_benchmark
from pipelines.decontamination.check import Leak, LeakCheck, leak_check
from pipelines.decontamination.items import BenchmarkError, FieldNames
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Message, Turn
from pipelines.intake.parse import parse_record


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
    stage = Checking(check, text_field)
    closed = stage.run()
    _tell(settings, files, check, {**stage.counts, "output_closed": closed})


class Checking(LineFilter[Row]):
    """Checks the lines of a batch together, with canaries among them."""

    batch_lines = 4096

    def __init__(self, check: LeakCheck, text_field: str) -> None:
        super().__init__()
        self.check, self.text_field = check, text_field
        self.counts = Counter(lines=0, contaminated=0, flag_for_review=0, clean=0, rejected=0)
        self._identity = IdentityKey(secrets.token_bytes(KEY_BYTES))

    def read(self, number: int, line: str) -> Row:  # noqa: ARG002 - no name is needed here
        """Read a text or the messages of a log record."""
        value = orjson.loads(source := line.strip())
        text = value.get(self.text_field) if isinstance(value, dict) else value
        if isinstance(text, str):
            return Row(source, ({"role": "user", "text": text, "tool_calls": []},))
        items = parse_record(source.encode(), {}, self._identity) if isinstance(value, dict) else []
        return Row(source, tuple(_message(item.message) for item in items if isinstance(item, Turn)))

    def written(self, rows: Sequence[tuple[int, Row]]) -> Iterator[bytes]:
        """Yield each line with its verdict and leaks."""
        leaks: list[list[Leak]] = [[] for _ in rows]
        for leak in self.check.check([row.messages for _, row in rows]) if rows else ():
            leaks[leak.example].append(leak)
        for (_, row), found in zip(rows, leaks, strict=True):
            verdict = min((leak.verdict for leak in found), default=None)
            self.counts[verdict or "clean"] += 1
            yield with_members(row.source, {"verdict": verdict, "leaks": [_told_leak(leak) for leak in found]})


def _message(message: Message) -> Mapping[str, Any]:
    calls = [{"arguments": call.arguments} for call in message.tool_calls]
    return {"role": message.role, "text": message.text, "tool_calls": calls}


def _told_leak(leak: Leak) -> dict[str, Any]:
    return {
        "benchmark": leak.ref.benchmark,
        "item": leak.ref.item_id,
        "side": leak.ref.side,
        "how": leak.how,
        "score": leak.score,
        "verdict": leak.verdict,
    }


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
    click.echo(f"{told_counts(counts)}{closed_early(counts['output_closed'])}", err=True)


command = decontaminate
