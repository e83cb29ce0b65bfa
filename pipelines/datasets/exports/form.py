"""What a form is: a name, the kinds of examples that it has records for, and how a record is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from pipelines.datasets.exports.example import Example, Kind

Encoding = Literal["jsonl", "parquet", "csv"]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class RecordFile:
    """A file of records that was written: its name, what is in it and how many."""

    name: str
    kind: Kind
    split: str
    rows: int


@dataclass(frozen=True)
class Subject:
    """The version that is exported, for the files beside the records: its manifest and what was written."""

    manifest: Mapping[str, Any]
    files: tuple[RecordFile, ...]
    languages: Mapping[str, int]
    licence: str

    @property
    def name(self) -> str:
        """Name of the version."""
        return str(self.manifest["dataset_version"])


@dataclass(frozen=True)
class Form:
    """A form: ``kinds`` that it has records for, ``record`` of an example, ``side_files`` by their names.

    ``schema`` gives the columns of a kind for Parquet; a CSV file has the columns of its first record.
    ``record`` raises ``UnfitExampleError`` for an example that it cannot hold.
    """

    name: str
    words: str
    encoding: Encoding
    kinds: tuple[Kind, ...]
    record: Callable[[Example], Record]
    file_name: Callable[[Kind, str], str]
    schema: Callable[[Kind], pa.Schema] | None = None
    side_files: Callable[[Subject], Mapping[str, bytes]] = field(default=lambda subject: {})


def kind_and_split(ending: str) -> Callable[[Kind, str], str]:
    """Return names like ``sft.train.jsonl``."""
    return lambda kind, split: f"{kind}.{split}.{ending}"
