"""``turnmill pipe anonymize``: JSON lines in, the same lines without personal values out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click
import orjson

from jobs.line_filter import LineFilter, Rejected, closed_early
from jobs.options import Settings, UserError, turnmill_command
from pipelines.privacy.anonymizer import Anonymizer, LeftValueError
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from pipelines.privacy.policy import PRESETS, Policy, PolicyError, find_policy
from pipelines.privacy.second_tier import span_source
from pipelines.privacy.text_lines import Line, anonymize_lines, read_line
from schemas.records import DeadReason

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
    stage = Anonymizing(Anonymizer(_keys(settings), policy, source=span_source(policy)), text_field, tenant)
    closed = stage.run()
    _tell(settings, {**stage.counts, "replaced": dict(stage.replaced), "output_closed": closed})


class Anonymizing(LineFilter[Line]):
    """Anonymises the lines of a batch together."""

    batch_lines = BATCH_LINES

    def __init__(self, anonymizer: Anonymizer, text_field: str, tenant: str) -> None:
        super().__init__()
        self.anonymizer, self.text_field, self.tenant = anonymizer, text_field, tenant
        self.replaced: Counter[str] = Counter()

    def read(self, number: int, line: str) -> Line:  # noqa: ARG002 - no name is needed here
        """Read a text or a log record."""
        return read_line(line, self.text_field)

    def written(self, rows: Sequence[tuple[int, Line]]) -> Iterator[bytes | Rejected]:
        """Yield the lines without personal values; one that fails is rejected."""
        for result in anonymize_lines([line for _, line in rows], self.anonymizer, self.tenant):
            if isinstance(result, Exception):
                yield Rejected(_reason(result), type(result).__name__)
            else:
                self.replaced.update(entity["type"] for entity in orjson.loads(result)["entities"])
                yield result


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
    closed = closed_early(counts["output_closed"])
    click.echo(f"{counts['lines']:,} lines, {counts['rejected']:,} rejected; replaced: {replaced}{closed}", err=True)


command = anonymize
