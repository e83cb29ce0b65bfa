"""Write the parts of README.md that follow from the code: ``python -m jobs.readme_sections``, after a change of it.

A part stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; the text around it is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from jobs.command_line import COMMANDS
from jobs.options import Exit
from pipelines.datasets.rules import MEANINGS
from pipelines.intake.formats import FORMATS
from pipelines.intake.stream_formats import STREAM_FORMATS
from pipelines.quality.rules import REASONS
from pipelines.reading.ready_views import READY_VIEWS
from schemas import TABLES
from schemas.records import DEAD_REASONS

EXIT_WORDS: dict[Exit, str] = {
    Exit.DONE: "Done.",
    Exit.FAILED: "Failed; one line on standard error says why.",
    Exit.WRONG_USE: "Wrong use: an unknown command, flag or value.",
    Exit.DATA_GAP: "Kafka no longer holds records that are needed, or the accounts do not add up.",
    Exit.GATE_HELD: "A data-quality gate held a dataset version back.",
    Exit.SCHEMA_CHANGE: "A table has another schema than this version writes.",
    Exit.INTERRUPTED: "Interrupted.",
}

SECTION = re.compile(r"(<!-- begin ([a-z ]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def sections() -> dict[str, str]:
    """Return the text of each part by its name."""
    return {
        "commands": table(("command", "what it does"), ((f"`turnmill {c}`", w) for c, (_, w) in COMMANDS.items())),
        "exit codes": table(("code", "meaning"), ((str(int(code)), EXIT_WORDS[code]) for code in Exit)),
        "log formats": table(("format", "what is read"), map(format_row, FORMATS)),
        "stream formats": table(("stream", "what is joined"), map(format_row, STREAM_FORMATS)),
        "dead letter reasons": table(("reason", "meaning"), ((f"`{r}`", words) for r, words in DEAD_REASONS.items())),
        "filter reasons": table(("reason", "meaning"), ((f"`{r}`", words) for r, words in REASONS.items())),
        "drop rules": table(("rule", "meaning"), ((f"`{r}`", words) for r, words in MEANINGS.items())),
        "ready views": table(("view", "what a row is"), ((f"`{v.name}`", v.doc) for v in READY_VIEWS)),
        "data dictionary": "\n\n".join(one.markdown() for one in TABLES) + "\n",
    }


def format_row(module: Any) -> tuple[str, str]:
    """Return name and promise of a format, the latter from the first line of its module."""
    promise = " ".join((module.__doc__ or "").split("\n\n")[0].split())
    return f"`{module.NAME}`", promise.replace("``", "`")


def table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """Return a Markdown table of two columns."""
    lines = [head, ("---", "---"), *((a, b.replace("|", "\\|")) for a, b in rows)]
    return "".join(f"| {a} | {b} |\n" for a, b in lines)


def with_sections(readme: str) -> str:
    """Return ``readme`` with all parts as the code says; raises ``KeyError`` for a part that nothing writes."""
    texts = sections()
    return SECTION.sub(lambda found: f"{found[1]}{texts[found[2]]}{found[3]}", readme)


@click.command()
def command() -> None:
    """Bring README.md in line with the code; run it in the checkout."""
    path = Path(__file__).resolve().parents[1] / "README.md"
    path.write_text(with_sections(path.read_text()))


if __name__ == "__main__":
    command()
