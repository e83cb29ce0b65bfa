"""CSV for people to read in a spreadsheet; not for training, since cells that a spreadsheet would run are defused."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.datasets.exports.columns import SIDES
from pipelines.datasets.exports.example import KINDS, Example, Message
from pipelines.datasets.exports.form import Form, Record, kind_and_split

TRIGGERS = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes a cell for a formula (OWASP, CSV injection)."""


def record(example: Example) -> Record:
    """Return a cell a side, its messages below each other with their roles."""
    cells = {side: _told(getattr(example, side)) for side in ("prompt", *SIDES[example.kind])}
    label = {"label": str(example.label)} if example.kind == "unpaired" else {}
    return {name: defused(cell) for name, cell in (cells | label | {"language": example.language}).items()}


def defused(cell: str) -> str:
    """Put an apostrophe before a cell that would be run, also behind white space."""
    return f"'{cell}" if cell.startswith(TRIGGERS) or cell.lstrip().startswith(TRIGGERS) else cell


def _told(messages: Sequence[Message]) -> str:
    parts = []
    for one in messages:
        calls = [f"{call.name}({call.arguments})" for call in one.calls]
        parts.append("\n".join([f"{one.role}: {one.text}", *calls]))
    return "\n\n".join(parts)


FORM = Form(
    name="review",
    words="CSV to read in a spreadsheet, formulas defused; not for training.",
    encoding="csv",
    kinds=KINDS,
    record=record,
    file_name=kind_and_split("csv"),
)
