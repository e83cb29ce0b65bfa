"""``turnmill sql``: ask the lake's tables in DuckDB's SQL."""

from __future__ import annotations

import csv
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import click
import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.duck import CURRENT_VIEW, connect
from schemas import TABLES

SHOWN_ROWS = 100
SHOWN_CHARACTERS = 200
ROWS_OF_A_BATCH = 2048

QUESTIONS = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN})


def query_lake(settings: Settings, query: str) -> pa.RecordBatchReader:
    """Run one query that only reads; return its rows as Arrow batches. Refuses anything else, and no lake."""
    lake = existing_lake(settings)
    connection = connect(lake)
    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type not in QUESTIONS:
            raise UserError("give one query that reads (SELECT, FROM, WITH, DESCRIBE, EXPLAIN).", Exit.WRONG_USE)
        return connection.execute(statements[0]).to_arrow_reader(ROWS_OF_A_BATCH)
    except duckdb.CatalogException as error:
        names = ", ".join([*(table.name for table in TABLES), CURRENT_VIEW])
        raise UserError(f"{first_line(error)}\nTables: {names}.", Exit.WRONG_USE) from None
    except duckdb.Error as error:
        raise UserError(first_line(error), Exit.WRONG_USE) from None


def first_line(error: duckdb.Error) -> str:
    """Return what DuckDB says in one line; casts quote the value that failed, so theirs is told without it."""
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException | duckdb.OutOfRangeException):
        return f"{type(error).__name__}: a value does not fit the type or function that the query gives it"
    return str(error).strip().splitlines()[0]


def write_rows(rows: pa.RecordBatchReader, form: str, out: Path | None) -> int:
    """Write all rows as csv, json (one object a line) or parquet, to ``out`` or standard output; return their number.

    Nothing is cut. In csv, lists and maps are JSON. A file appears only when it is whole.
    """
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise UserError("parquet is binary: give --out FILE, or redirect standard output.", Exit.WRONG_USE)
    part = out.with_name(f"{out.name}.part") if out else None
    with part.open("wb") if part else nullcontext(sys.stdout.buffer) as stream:
        n_rows = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}[form](rows, stream)
        stream.flush()
    if part and out:
        part.replace(out)
    return n_rows


def _write_json(rows: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    n_rows = 0
    for batch in rows:
        for row in batch.to_pylist():
            stream.write(_json(row) + b"\n")
        n_rows += batch.num_rows
    return n_rows


def _write_csv(rows: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    class Lines:
        def write(self, line: str) -> None:
            stream.write(line.encode())

    writer, n_rows = csv.writer(Lines()), 0
    writer.writerow(rows.schema.names)
    for batch in rows:
        for row in batch.to_pylist():
            writer.writerow([_cell(value) for value in row.values()])
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
        click.echo(f"The first {SHOWN_ROWS} rows; all of them: --format csv, json or parquet.", err=True)


@turnmill_command("sql", help="Ask the tables in SQL (DuckDB); the view turns_current has each turn once.")
@click.argument("query")
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]), default=None, help="Write all rows.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="File for --format.")
def command(settings: Settings, query: str, form: str | None, out: Path | None) -> None:
    """Run the query and show or write its rows."""
    form = form or ("json" if settings.json else None)
    if out is not None and form is None:
        raise UserError("--out needs --format csv, json or parquet.", Exit.WRONG_USE)
    rows = query_lake(settings, query)
    try:
        if form is None:
            show_rows(rows)
            return
        n_rows = write_rows(rows, form, out)
    except (duckdb.Error, pa.ArrowException) as error:
        raise UserError(f"the query failed while its rows were read ({type(error).__name__}).") from None
    if out is not None:
        click.echo(f"{n_rows:,} rows in {out}", err=True)


if __name__ == "__main__":
    command()
