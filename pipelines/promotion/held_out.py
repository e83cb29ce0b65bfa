"""The rows that models are judged on: the held-out split of a dataset version, in TRL's forms, with their owners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from pipelines.datasets.version import EXAMPLES_FILE
from pipelines.training.encoded_rows import read_jsonl

HELD_OUT = "validation"


@dataclass(frozen=True)
class JudgedRow:
    """One row in TRL's form: prompt with completion, with chosen and rejected, or with completion and label."""

    row: Mapping[str, Any]
    owner: str
    """User or conversation; rows of one owner are no independent evidence."""

    @property
    def good(self) -> list[dict[str, Any]] | None:
        """The answer that is wanted; None for an unpaired row that was disliked."""
        if "chosen" in self.row:
            return list(self.row["chosen"])
        return list(self.row["completion"]) if self.row.get("label", True) else None


def held_out_rows(folder: Path, most: int) -> list[JudgedRow]:
    """Return up to ``most`` rows of the held-out split, the first by example_id (a hash), so that each cut is one set.

    Owners come from ``examples.parquet`` beside it, where it names them for every row.
    """
    rows: list[dict[str, Any]] = []
    for row in read_jsonl(folder / f"{HELD_OUT}.jsonl"):
        if len(rows) >= most:
            break
        rows.append(row)
    return [JudgedRow(row, owner) for row, owner in zip(rows, _owners(folder, len(rows)), strict=True)]


def rows_of_file(path: Path, most: int) -> list[JudgedRow]:
    """Return up to ``most`` rows of a JSONL file in one of TRL's forms; each row is its own owner."""
    rows: list[JudgedRow] = []
    for place, row in enumerate(read_jsonl(path)):
        if place >= most:
            break
        rows.append(JudgedRow(row, str(place)))
    return rows


def with_other_prompts(rows: Sequence[JudgedRow]) -> list[dict[str, Any]]:
    """Return each wanted answer under the next row's prompt, in prompt-completion form; equal prompts stay equal."""
    good = [(list(row.row["prompt"]), row.good) for row in rows if row.good is not None]
    prompts = [prompt for prompt, _ in good]
    return [
        {"prompt": prompt, "completion": answer}
        for prompt, (_, answer) in zip(prompts[1:] + prompts[:1], good, strict=True)
    ]


def wanted_answers(rows: Iterable[JudgedRow]) -> list[dict[str, Any]]:
    """Return the rows with an answer that is wanted, in prompt-completion form."""
    wanted = [(row.row, row.good) for row in rows if row.good is not None]
    offered = ({"tools": row["tools"]} if row.get("tools") else {} for row, _ in wanted)
    return [
        {"prompt": list(row["prompt"]), "completion": good} | more
        for (row, good), more in zip(wanted, offered, strict=True)
    ]


def tenant_of(folder: Path) -> str | None:
    """Return the tenant that a dataset version belongs to; None where its files do not say."""
    if not (folder / EXAMPLES_FILE).is_file():
        return None
    for batch in pq.ParquetFile(folder / EXAMPLES_FILE).iter_batches(1, columns=["tenant"]):
        return str(batch.column(0)[0].as_py())
    return None


def _owners(folder: Path, wanted: int) -> list[str]:
    each_its_own = [str(place) for place in range(wanted)]
    if not (folder / EXAMPLES_FILE).is_file():
        return each_its_own
    owners: list[str] = []
    columns = ["split", "user_ref", "conversation_id"]
    for batch in pq.ParquetFile(folder / EXAMPLES_FILE).iter_batches(columns=columns):
        for row in batch.to_pylist():
            if row["split"] == HELD_OUT:
                owners.append(row["user_ref"] or row["conversation_id"])
        if len(owners) >= wanted:
            return owners[:wanted]
    return each_its_own


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write rows as JSONL."""
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
