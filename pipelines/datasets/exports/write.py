"""A dataset version and a form -> a folder: files of records, files beside them, and what was left out and why."""

from __future__ import annotations

import csv
import io
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.datasets.exports import axolotl, hugging_face, llama_factory, openai, parquet, review, trl
from pipelines.datasets.exports.example import KINDS, Kind, UnfitExampleError, example_of
from pipelines.datasets.exports.form import Form, Record, RecordFile, Subject
from pipelines.datasets.exports.json_lines import json_line
from pipelines.datasets.version import ROWS_A_GROUP, SPLITS, file_sha256
from pipelines.durable_files import flush_to_disk

FORMS: Mapping[str, Form] = {
    one.FORM.name: one.FORM for one in (openai, trl, llama_factory, axolotl, hugging_face, parquet, review)
}
SUMMARY = "export.json"


class ExportError(RuntimeError):
    """An export that cannot be made; the message names folder and counts, never content."""

    safe_to_show = True


@dataclass(frozen=True)
class Exported:
    """What an export wrote, as its ``export.json`` says: rows and SHA-256 a file, and what was left out by reason."""

    files: tuple[RecordFile, ...]
    left_out: Mapping[str, int]
    sha256: Mapping[str, str]


def export(
    rows: Iterable[Mapping[str, Any]], manifest: Mapping[str, Any], form: Form, folder: Path, licence: str = "other"
) -> Exported:
    """Write the rows of a version into the new ``folder``, in their order; equal versions give equal bytes.

    One pass in bounded memory; the folder is there whole or not at all. An example that the form has no room for is
    left out and counted by reason. Raises ``ExportError`` where the folder is there, or nothing is left to write.
    """
    if folder.exists():
        raise ExportError(f"wanted a new folder, found {folder} there; give another with --to, or remove it")
    staging = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        files, left_out, languages = _records(rows, form, staging)
        if not files:
            told = ", ".join(f"{count:,} with {reason}" for reason, count in sorted(left_out.items()))
            raise ExportError(f"wanted examples that the form {form.name} can hold, found {told or 'none'}")
        subject = Subject(manifest, files, languages, licence)
        for name, content in form.side_files(subject).items():
            (staging / name).write_bytes(content)
        written = sorted(path for path in staging.rglob("*") if path.is_file())
        sha256 = {path.relative_to(staging).as_posix(): file_sha256(path) for path in written}
        exported = Exported(files, left_out, sha256)
        (staging / SUMMARY).write_bytes(_summary(exported, subject, form))
        flush_to_disk([*written, staging / SUMMARY, *sorted(p for p in staging.rglob("*") if p.is_dir()), staging])
        staging.replace(folder)
        flush_to_disk([folder.parent])
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return exported


class RecordWriter(Protocol):
    """Writes the records of one file."""

    def write(self, record: Record) -> None:
        """Take one record."""

    def close(self) -> None:
        """Write what waits and close the file."""


def _records(
    rows: Iterable[Mapping[str, Any]], form: Form, folder: Path
) -> tuple[tuple[RecordFile, ...], dict[str, int], dict[str, int]]:
    writers: dict[tuple[Kind, str], RecordWriter] = {}
    counts: Counter[tuple[Kind, str]] = Counter()
    left_out: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    with ExitStack() as stack:
        for row in rows:
            example = example_of(row)
            place = (example.kind, example.split)
            try:
                if example.kind not in form.kinds:
                    raise UnfitExampleError(f"kind {example.kind}")
                record = form.record(example)
            except UnfitExampleError as unfit:
                left_out[str(unfit)] += 1
                continue
            if place not in writers:
                path = folder / form.file_name(*place)
                path.parent.mkdir(exist_ok=True)
                writers[place] = WRITERS[form.encoding](path, form, example.kind)
                stack.callback(writers[place].close)
            writers[place].write(record)
            counts[place] += 1
            languages[example.language] += 1
    order = [(kind, split) for kind in KINDS for split in SPLITS if (kind, split) in counts]
    files = tuple(RecordFile(form.file_name(*place), *place, rows=counts[place]) for place in order)
    return files, dict(sorted(left_out.items())), dict(sorted(languages.items()))


class _JsonLines:
    def __init__(self, path: Path, form: Form, kind: Kind) -> None:
        self._file = path.open("wb")

    def write(self, record: Record) -> None:
        self._file.write(json_line(record))

    def close(self) -> None:
        self._file.close()


class _Csv:
    def __init__(self, path: Path, form: Form, kind: Kind) -> None:
        self._file = path.open("wb")
        self._has_head = False

    def write(self, record: Record) -> None:
        text = io.StringIO(newline="")
        cells = csv.writer(text, quoting=csv.QUOTE_ALL)
        if not self._has_head:
            cells.writerow(record)
            self._has_head = True
        cells.writerow(record.values())
        self._file.write(text.getvalue().encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        self._file.close()


class _Parquet:
    def __init__(self, path: Path, form: Form, kind: Kind) -> None:
        if form.schema is None:
            raise TypeError(f"form {form.name}: wanted columns for Parquet, found none")
        self._schema = form.schema(kind)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[Record] = []

    def write(self, record: Record) -> None:
        self._waiting.append(record)
        if len(self._waiting) == ROWS_A_GROUP:
            self._flush()

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._waiting, self._schema))
        self._waiting = []


WRITERS: Mapping[str, Callable[[Path, Form, Kind], RecordWriter]] = {
    "jsonl": _JsonLines,
    "csv": _Csv,
    "parquet": _Parquet,
}


def _summary(exported: Exported, subject: Subject, form: Form) -> bytes:
    told = {
        "dataset_version": subject.name,
        "content_hash": subject.manifest["content_hash"],
        "form": form.name,
        "rows": {file.name: file.rows for file in exported.files},
        "left_out": dict(exported.left_out),
        "sha256": dict(exported.sha256),
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
