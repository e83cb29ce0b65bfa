"""``turnmill sql``: ask the lake's tables in DuckDB's SQL, in one query or one after the other. Nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import duckdb
import pyarrow as pa

from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from jobs.sql_rows import form_of, show_rows, write_rows
from pipelines.adapters.delta import check_profile
from pipelines.adapters.duck import connect_locked
from pipelines.reading.ready_views import CATALOGUE
from schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS_OF_A_BATCH = 2048
EXPLAIN_OPTIONS = ("analyze", "verbose")
ONE_QUERY = "give one query that reads (SELECT, FROM, WITH, DESCRIBE, EXPLAIN)."


def open_connection(settings: Settings, readable: Sequence[Path] = ()) -> DuckDBPyConnection:
    """Return a locked connection over the lake; refuses where there is none, or a table that a reader gets wrong."""
    lake = existing_lake(settings)
    for table in TABLES:
        if lake.exists(table.name):
            check_profile(lake, table)
    return connect_locked(lake, readable=readable)


def query_rows(connection: DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    """Run one query that only reads; return its rows as Arrow batches. Refuses anything else."""
    try:
        return connection.execute(checked_query(connection, query)).to_arrow_reader(ROWS_OF_A_BATCH)
    except duckdb.CatalogException as error:
        raise UserError(f"{first_line(error)}\nTables: {', '.join(CATALOGUE)}.", Exit.WRONG_USE) from None
    except duckdb.Error as error:
        raise UserError(first_line(error), Exit.WRONG_USE) from None


def checked_query(connection: DuckDBPyConnection, query: str) -> duckdb.Statement:
    """Return the one statement of ``query``; raises ``UserError`` unless it only reads, also behind EXPLAIN."""
    statements = connection.extract_statements(query)
    asked = statements
    if len(statements) == 1 and statements[0].type == duckdb.StatementType.EXPLAIN:
        # EXPLAIN ANALYZE runs what it explains, a COPY too.
        asked = connection.extract_statements(explained(query))
    if len(asked) != 1 or asked[0].type != duckdb.StatementType.SELECT:
        raise UserError(ONE_QUERY, Exit.WRONG_USE)
    return statements[0]


def explained(query: str) -> str:
    """Return what an EXPLAIN explains: the text behind the word and its options."""
    tokens = duckdb.tokenize(query)
    ends = [start for start, _ in tokens[1:]] + [len(query)]
    words = [query[start:end].split("--")[0].strip().lower() for (start, _), end in zip(tokens, ends, strict=True)]
    first = 1
    if len(words) > 1 and words[1].startswith("("):
        first = next((nth + 1 for nth, word in enumerate(words) if word.endswith(")")), len(words))
    while first < len(words) and words[first] in EXPLAIN_OPTIONS:
        first += 1
    return query[tokens[first][0] :] if first < len(tokens) else ""


def first_line(error: duckdb.Error) -> str:
    """Return what DuckDB says in one line; casts quote the value that failed, so theirs is told without it."""
    if isinstance(error, duckdb.ConversionException | duckdb.InvalidInputException | duckdb.OutOfRangeException):
        return f"{type(error).__name__}: a value does not fit the type or function that the query gives it"
    if isinstance(error, duckdb.PermissionException):
        return "queries read the tables of the lake alone; files of yours too with --read DIR"
    return str(error).strip().splitlines()[0]


@turnmill_command("sql", help="Ask the tables in SQL (DuckDB), QUERY or one after the other; .help there tells more.")
@click.argument("query", required=False)
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]), default=None, help="Write all rows.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None,
              help="Write all rows to this file: .csv, .jsonl or .parquet.")  # fmt: skip
@click.option("--raw-cells", is_flag=True, help="In CSV, leave texts as they are that a spreadsheet would run.")
@click.option("--read", "readable", type=click.Path(path_type=Path, exists=True, file_okay=False), multiple=True,
              help="Folder with files of yours that a query may read by path.")  # fmt: skip
def command(
    settings: Settings, query: str | None, form: str | None, out: Path | None, raw_cells: bool,
    readable: tuple[Path, ...],
) -> None:  # fmt: skip
    """Run the query and show or write its rows; without one, ask for queries."""
    if query is None and sys.stdin.isatty():
        from jobs.sql_shell import run_shell

        run_shell(open_connection(settings, readable))
        return
    form = form or (form_of(out) if out else None) or ("json" if settings.json else None)
    rows = query_rows(open_connection(settings, readable), sys.stdin.read() if query is None else query)
    try:
        if form is None:
            show_rows(rows)
            return
        n_rows = write_rows(rows, form, out, raw_cells=raw_cells)
    except (duckdb.Error, pa.ArrowException) as error:
        raise UserError(f"the query failed while its rows were read ({type(error).__name__}).") from None
    if out is not None:
        click.echo(f"{n_rows:,} rows in {out}", err=True)


if __name__ == "__main__":
    command()
