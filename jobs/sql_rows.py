"""Rows of a query shown in the terminal, or written whole as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from jobs.options import Exit, UserError
from pipelines.datasets.exports.review import defused

SHOWN_ROWS = 100
SHOWN_CHARACTERS = 200

FORMS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "json", ".ndjson": "json", ".json": "json"}
"""Form of a file by its ending; json is one object a line."""


def form_of(out: Path) -> str:
    """Return the form that the name of a file asks for; raises ``UserError`` where it asks for none."""
    if out.suffix.lower() not in FORMS:
        raise UserError(
            f"wanted a file that ends in {', '.join(FORMS)}, found {out.name}; or say it with --format.", Exit.WRONG_USE
        )
    return FORMS[out.suffix.lower()]


def write_rows(rows: pa.RecordBatchReader, form: str, out: Path | None, *, raw_cells: bool = False) -> int:
    """Write all rows as csv, json (one object a line) or parquet, to ``out`` or standard output; return their number.

    Nothing is cut. In csv, lists and maps are JSON, and a text that a spreadsheet would run as a formula gets an
    apostrophe before it, unless ``raw_cells``. A file appears only when it is whole.
    """
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise UserError("parquet is binary: give --out FILE, or redirect standard output.", Exit.WRONG_USE)
    writers: dict[str, Callable[[pa.RecordBatchReader, IO[bytes]], int]] = {
        "csv": partial(_write_csv, raw_cells=raw_cells),
        "json": _write_json,
        "parquet": _write_parquet,
    }
    with _whole_file(out) if out else _standard_output() as stream:
        return writers[form](rows, stream)


@contextmanager
def _whole_file(out: Path) -> Iterator[IO[bytes]]:
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(out)
    except OSError as error:
        raise UserError(f"{out} could not be written: {error.strerror or type(error).__name__}.") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def _write_json(rows: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    n_rows = 0
    for batch in rows:
        for row in batch.to_pylist():
            stream.write(_json(row) + b"\n")
        n_rows += batch.num_rows
    return n_rows


def _write_csv(rows: pa.RecordBatchReader, stream: IO[bytes], *, raw_cells: bool) -> int:
    class Lines:
        def write(self, line: str) -> None:
            stream.write(line.encode())

    def cell(value: Any) -> str:
        return defused(value) if isinstance(value, str) and not raw_cells else _cell(value)

    writer, n_rows = csv.writer(Lines()), 0
    writer.writerow(map(cell, rows.schema.names))
    for batch in rows:
        for row in batch.to_pylist():
            writer.writerow([cell(value) for value in row.values()])
        n_rows += batch.num_rows
    return n_rows


def _write_parquet(rows: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    n_rows = 0
    with pq.ParquetWriter(stream, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
            n_rows += batch.num_rows
    return n_rows


def _json(value: Any) -> bytes:
    return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z)


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return _json(value).decode().strip('"') if not isinstance(value, bytes) else value.hex()


def show_rows(rows: pa.RecordBatchReader) -> None:
    """Print the first rows as a table, long values cut; say so where there are more."""
    shown, n_rows = RichTable(*map(escape, rows.schema.names)), 0
    for batch in rows:
        for row in batch.to_pylist():
            if n_rows < SHOWN_ROWS:
                cells = map(_cell, row.values())
                shown.add_row(*(Text(c if len(c) <= SHOWN_CHARACTERS else f"{c[:SHOWN_CHARACTERS]}…") for c in cells))
            n_rows += 1
        if n_rows > SHOWN_ROWS:
            break
    Console().print(shown)
    if n_rows > SHOWN_ROWS:
        click.echo(f"The first {SHOWN_ROWS} rows; all of them: --format or --out.", err=True)
