"""``turnmill pipe anonymize``: JSON lines in, the same lines without personal values out."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import click
import orjson

from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.json_slices import TooLong, lines_of
from pipelines.privacy.anonymizer import Anonymizer, LeftValueError
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from pipelines.privacy.policy import PRESETS, Policy, PolicyError, find_policy
from pipelines.privacy.second_tier import span_source
from pipelines.privacy.text_lines import Line, anonymize_lines, read_line
from schemas.records import MAX_RECORD_BYTES, DeadReason

BATCH_LINES = 256
"""Lines that are anonymised together; fewer where the input makes us wait."""


class PolicyName(click.ParamType):
    """A preset's name or a TOML file, as a ``Policy``."""

    name = "policy"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Policy:
        """Find the policy, or say what is wrong with it."""
        try:
            return value if isinstance(value, Policy) else find_policy(value)
        except PolicyError as error:
            self.fail(str(error), param, ctx)


policy_option = click.option(
    "--policy",
    type=PolicyName(),
    default="training",
    show_default=True,
    metavar="NAME|FILE",
    help=f"What is replaced, and by what: {', '.join(PRESETS)}, or a TOML file.",
)


@turnmill_command("anonymize")
@policy_option
@click.option("--field", "text_field", default="text", show_default=True, help="Member of a line that is its text.")
@click.option("--tenant", default="default", show_default=True, help="Owner of the lines; no two share replacements.")
def anonymize(settings: Settings, policy: Policy, text_field: str, tenant: str) -> None:
    r"""Read JSON lines and write each without its personal values.

    {"id", "text"} comes back with the text replaced and "entities": [{"type", "start", "end", "replacement", "score"}],
    offsets in code points of the text that came in. A log record of any format has all its strings edited in place; its
    entities name the field as JSON pointer. A bare string becomes {"text", "entities"}. What cannot be read, or holds a
    value after the edit, becomes {"rejected": reason, "detail", "line"} and never passes. Counts go to standard error.

    Equal values get equal replacements in all runs with the same key folder; the first run makes one.
    """
    output = sys.stdout.buffer
    stage = _Stage(Anonymizer(_keys(settings), policy, source=span_source(policy)), text_field, tenant, output)
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
    _tell(settings, {**stage.counts, "replaced": dict(stage.replaced), "output_closed": closed})


class _Stage:
    """Lines that wait to be anonymised together, and counts of what became of them."""

    def __init__(self, anonymizer: Anonymizer, text_field: str, tenant: str, output: BinaryIO) -> None:
        self.anonymizer, self.text_field, self.tenant, self.output = anonymizer, text_field, tenant, output
        self.counts: Counter[str] = Counter(lines=0, rejected=0)
        self.replaced: Counter[str] = Counter()
        self._waiting: list[tuple[int, Line | bytes]] = []

    def take(self, number: int, line: bytes | TooLong) -> None:
        """Read one line; a full batch is written."""
        if isinstance(line, bytes) and (not line or line.isspace()):
            return
        self.counts["lines"] += 1
        self._waiting.append((number, self._read(number, line)))
        if len(self._waiting) >= BATCH_LINES:
            self.write()

    def write(self) -> None:
        """Anonymise and write what waits."""
        waiting, self._waiting = self._waiting, []
        lines = [line for _, line in waiting if isinstance(line, Line)]
        clean = iter(anonymize_lines(lines, self.anonymizer, self.tenant))
        for number, line in waiting:
            result = next(clean) if isinstance(line, Line) else line
            if isinstance(result, Exception):
                result = self._rejected(number, _reason(result), type(result).__name__)
            elif isinstance(line, Line):
                self.replaced.update(entity["type"] for entity in orjson.loads(result)["entities"])
            self.output.write(result + b"\n")
        self.output.flush()

    def _read(self, number: int, line: bytes | TooLong) -> Line | bytes:
        if isinstance(line, TooLong):
            detail = f"{line.size} bytes, at most {MAX_RECORD_BYTES} are read"
            return self._rejected(number, DeadReason.TOO_LARGE, detail)
        try:
            return read_line(line.decode("utf-8"), self.text_field)
        except UnicodeDecodeError as error:
            return self._rejected(number, DeadReason.BAD_UTF8, f"byte {error.start}")
        except orjson.JSONDecodeError as error:
            return self._rejected(number, DeadReason.BAD_JSON, f"character {error.pos}")

    def _rejected(self, number: int, reason: DeadReason, detail: str) -> bytes:
        self.counts["rejected"] += 1
        return orjson.dumps({"rejected": reason.value, "detail": detail, "line": number})


class _Source:
    """Standard input as it comes: what waits is written before the filter waits for more."""

    def __init__(self, source: BinaryIO, before_wait: Callable[[], None]) -> None:
        self.source, self.before_wait = getattr(source, "raw", source), before_wait

    def read(self, size: int) -> bytes:
        self.before_wait()
        return self.source.read(size) or b""


def _reason(error: Exception) -> DeadReason:
    is_left = isinstance(error, LeftValueError)
    return DeadReason.ANONYMISE_LEFT_VALUE if is_left else DeadReason.ANONYMISE_FAILED


def _keys(settings: Settings) -> KeyFolder:
    is_new = not settings.keys.exists()
    try:
        keys = KeyFolder(settings.keys).open_or_create()
    except KeyFolderError as error:
        raise UserError(str(error)) from error
    if is_new:
        click.echo(f"Note: made new keys in {settings.keys}; keep them, replacements follow from them.", err=True)
    return keys


def _tell(settings: Settings, counts: dict[str, Any]) -> None:
    if settings.json:
        click.echo(orjson.dumps(counts).decode(), err=True)
        return
    replaced = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts["replaced"].items())) or "nothing"
    closed = "; the output was closed early" if counts["output_closed"] else ""
    click.echo(f"{counts['lines']:,} lines, {counts['rejected']:,} rejected; replaced: {replaced}{closed}", err=True)


command = anonymize
