"""Fill the gaps of a template and keep where each value came to stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from privacy_sets.labelled import Gold

GAP = re.compile(r"\[\[([a-z_]+)\]\]")


class Value(NamedTuple):
    """What goes into a gap: its text, its kind (nothing for what is about no person), and whose it is."""

    text: str
    kind: str = ""
    entity: str = ""


def fill(template: str, value_of: Callable[[str], Value], *, in_json: bool = False) -> tuple[str, tuple[Gold, ...]]:
    """Return the text of a template such as ``"call [[phone]]"`` and its personal values.

    With ``in_json`` values are escaped as JSON strings are; gold then covers the escaped form.
    """
    pieces: list[str] = []
    gold: list[Gold] = []
    done = size = 0
    for gap in GAP.finditer(template):
        value = value_of(gap[1])
        text = json.dumps(value.text)[1:-1] if in_json else value.text
        before = template[done : gap.start()]
        pieces += (before, text)
        size += len(before)
        if value.kind:
            gold.append(Gold(size, size + len(text), value.kind, value.entity))
        size += len(text)
        done = gap.end()
    pieces.append(template[done:])
    return "".join(pieces), tuple(gold)


def gaps(template: str) -> list[str]:
    """Return the names of the gaps of a template, in order."""
    return GAP.findall(template)
