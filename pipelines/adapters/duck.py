"""DuckDB over the lake: tables as views by their names, ``turns_current``, ``feedback_current``. Nothing is written."""

from __future__ import annotations

import functools
import os
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import duckdb_extension_delta  # type: ignore[import-untyped]

from pipelines.adapters.lake import Lake
from pipelines.index.current_sql import turns_current_sql
from pipelines.index.feedback_sql import feedback_current_sql
from schemas import FEEDBACK, TABLES, TURNS, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CURRENT_VIEW = "turns_current"


class DeltaExtensionError(RuntimeError):
    """The Delta extension does not fit the DuckDB that is installed."""

    safe_to_show = True


def connect(
    lake: Lake, *, versions: Mapping[str, int] | None = None, memory_limit: str | None = None
) -> DuckDBPyConnection:
    """Return a connection on which each table of the lake is a view; a table that is not there yet is an empty one.

    A view reads the newest version at each query, or the one that ``versions`` names for the table. ``turns_current``
    is the view of CONTRACTS.md section 1. ``memory_limit`` is DuckDB's, for instance 2GB; larger work spills to the
    system's folder for temporary files; it counts for all connections of the process. Times are UTC.
    """
    connection = _database(os.getpid()).cursor()
    if memory_limit is not None:
        connection.execute(f"SET memory_limit = {quoted(memory_limit)}")
    for table in TABLES:
        source = _source(connection, lake, table, (versions or {}).get(table.name))
        connection.execute(f"CREATE TEMP VIEW {table.name} AS {source}")
    connection.execute(f"CREATE TEMP VIEW {CURRENT_VIEW} AS {turns_current_sql(TURNS.name)}")
    connection.execute(f"CREATE TEMP VIEW feedback_current AS {feedback_current_sql(FEEDBACK.name)}")
    return connection


@functools.lru_cache(maxsize=1)
def _database(_process_id: int) -> DuckDBPyConnection:
    """Return the empty database of this process: loading the extension costs more than all views together."""
    # DuckDB makes the folder on the first spill and takes it away at the end; its default is the working directory.
    spill = Path(tempfile.gettempdir()) / f"turnmill-duckdb-{uuid.uuid4().hex}"
    database = duckdb.connect(":memory:", config={"temp_directory": str(spill)})
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    _load_delta(database)
    return database


def _load_delta(connection: DuckDBPyConnection) -> None:
    folder = Path(duckdb_extension_delta.__file__).parent
    extension = next(folder.rglob("delta.duckdb_extension"), None)
    if extension is None:
        raise DeltaExtensionError(f"wanted delta.duckdb_extension of DuckDB {duckdb.__version__}, found none")
    try:
        connection.execute(f"LOAD {quoted(str(extension))}")
    except duckdb.Error as error:
        raise DeltaExtensionError(
            f"the Delta extension was not loaded by DuckDB {duckdb.__version__} ({type(error).__name__}); "
            f"install duckdb-extension-delta=={duckdb.__version__}"
        ) from error


def _source(connection: DuckDBPyConnection, lake: Lake, table: Table, version: int | None) -> str:
    if not lake.exists(table.name):
        nothing = connection.from_arrow(table.arrow_schema.remove_metadata().empty_table())
        pairs = zip(map(str, nothing.types), table.column_names, strict=True)
        columns = ", ".join(f'NULL::{kind} AS "{name}"' for kind, name in pairs)
        return f"SELECT {columns} WHERE false"  # noqa: S608
    pinned = "" if version is None else f", version = {version:d}"
    columns = ", ".join(f'"{name}"' for name in table.column_names)
    return f"SELECT {columns} FROM delta_scan({quoted(str(lake.table(table.name)))}{pinned})"  # noqa: S608


def quoted(text: str) -> str:
    """Return ``text`` as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
