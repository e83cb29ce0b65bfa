"""Cases that broke other tools, with what must be replaced, what must stay, and who is who."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from privacy_sets.labelled import DataMissing, Gold, LabelledSet, Sample

NAME = "open-cases"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its sample, and values that must share a replacement or must not."""

    id: str
    sample: Sample
    same: tuple[tuple[str, ...], ...]
    different: tuple[tuple[str, ...], ...]


def read(path: Path) -> list[Case]:
    """Read the JSON lines of a file of cases. Raises ``DataMissing``."""
    if not path.is_file():
        raise DataMissing(f"wanted a file of cases, found no {path.name}; give it with --cases")
    return [_case(orjson.loads(line)) for line in path.read_bytes().splitlines() if line.strip()]


def as_set(cases: list[Case]) -> LabelledSet:
    """Return the samples of the cases as a set."""
    return LabelledSet(NAME, tuple(case.sample for case in cases))


def _case(record: dict[str, Any]) -> Case:
    padding = record.get("prefix_repeat")
    text = (padding["s"] * padding["n"] if padding else "") + record["text"]
    gold, after = [], dict[str, int]()
    for one in record["expected"]:
        start = text.index(one["value"], after.get(one["value"], 0))
        after[one["value"]] = start + 1
        gold.append(Gold(start, start + len(one["value"]), one["type"]))
    is_json = record.get("json_valid", False)
    sample = Sample(
        text,
        tuple(sorted(gold, key=lambda one: one.start)),
        conversation=record["id"],
        structure="json" if is_json else "",
        must_keep=tuple(record["must_keep"]),
    )
    groups = (tuple(map(tuple, record.get(key, ()))) for key in ("same_entity", "different_entity"))
    return Case(record["id"], sample, *groups)
