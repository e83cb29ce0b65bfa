"""What a dataset version must keep before anything may train on it, and the text-free frame that it is checked on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import pandas as pd

from pipelines.datasets.version import SPLITS

# Java's \s, as the duplicate rule of curation uses it.
SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
PromiseKind = Literal["rows_at_least", "values_present", "unique", "always_true"]


@dataclass(frozen=True)
class Promise:
    """A promise of the dataset as a whole, beside the checks that the Table declares for its columns."""

    name: str
    kind: PromiseKind
    column: str | None = None
    argument: Any = None


PROMISES = (
    Promise("the dataset has rows", "rows_at_least", None, 1),
    Promise("both splits have rows", "values_present", "split", SPLITS),
    Promise("no two examples of a tenant say the same", "unique", "content_key"),
    Promise("every prompt has a turn of the user", "always_true", "prompt_has_user"),
    Promise("every completion is one answer with content", "always_true", "completion_is_answer"),
    Promise("no user or conversation is in both splits", "always_true", "owner_in_one_split"),
    Promise("all rows belong to one tenant", "always_true", "tenant_is_one"),
)


class GateRows:
    """Collects what the gate looks at, row by row: ids, counts of messages, truth of each promise; never text.

    A list column becomes its length, null where it is null. About 0.5 kB a row in memory.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row of ``training_examples``, with or without its version."""
        completion = row["completion"] or []
        self._rows.append(
            (
                *(row[name] for name in _PLAIN),
                *(None if row[name] is None else len(row[name]) for name in _LISTS),
                any(m["role"] == "user" for m in row["prompt"] or []),
                len(completion) == 1 and completion[0]["role"] == "assistant" and _has_content(completion[0]),
                content_key(row),
            )
        )

    def frame(self, dataset_version: str) -> pd.DataFrame:
        """Return the frame that the suite runs on, with the promises that need all rows at once."""
        columns = [*_PLAIN, *_LISTS, "prompt_has_user", "completion_is_answer", "content_key"]
        frame = pd.DataFrame(self._rows, columns=columns)
        frame.insert(0, "dataset_version", dataset_version)
        owner = [frame["tenant"], frame["user_ref"].fillna(frame["conversation_id"])]
        frame["owner_in_one_split"] = frame["split"].groupby(owner, dropna=False).transform("nunique").le(1)
        frame["tenant_is_one"] = bool(frame["tenant"].nunique(dropna=False) <= 1)
        return frame


def content_key(row: Mapping[str, Any]) -> str:
    """Hash what an example says; equal for equal talk whatever its white space and call ids."""
    said = [
        [
            m["role"],
            SPACE.sub(" ", m["text"] or "").strip(" "),
            [[call["name"], call["arguments"]] for call in m["tool_calls"] or []],
        ]
        for side in ("prompt", "completion")
        for m in row[side] or []
    ]
    return hashlib.sha256(orjson.dumps([row["tenant"], len(row["prompt"] or []), said])).hexdigest()


_PLAIN = (
    "example_id",
    "tenant",
    "kind",
    "conversation_id",
    "user_ref",
    "language",
    "source",
    "model",
    "split",
    "trust",
)
_LISTS = ("prompt", "completion", "turn_ids")


def _has_content(message: Mapping[str, Any]) -> bool:
    return bool((message["text"] or "").strip() or message["tool_calls"])
