"""DuckDB over the lake: tables as views by their names, and ready views over them. Nothing is written."""

from __future__ import annotations

import functools
import os
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import duckdb_extension_delta  # type: ignore[import-untyped]

from pipelines.adapters.lake import Lake
from pipelines.reading.ready_views import CURRENT_VIEWS, READY_VIEWS, TURNS_CURRENT
from schemas import TABLES, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CURRENT_VIEW = TURNS_CURRENT


class DeltaExtensionError(RuntimeError):
    """The Delta extension does not fit the DuckDB that is installed."""

    safe_to_show = True


def connect(
    lake: Lake,
    *,
    versions: Mapping[str, int] | None = None,
    memory_limit: str | None = None,
    ready_views: bool = False,
) -> DuckDBPyConnection:
    """Return a connection on which each table of the lake is a view; a table that is not there yet is an empty one.

    A view reads the newest version at each query, or the one that ``versions`` names for the table, -1 being the time
    before there was one. ``turns_current`` and ``feedback_current`` are there always, since rows may land again; with
    ``ready_views`` so are the other views of ``reading.ready_views``. ``memory_limit`` is DuckDB's, for instance 2GB;
    larger work spills to the system's folder for temporary files; it counts for all connections of the process. Times
    are UTC.
    """
    connection = _database(os.getpid()).cursor()
    if memory_limit is not None:
        connection.execute(f"SET memory_limit = {quoted(memory_limit)}")
    _create_views(connection, lake, versions or {}, ready_views=ready_views)
    return connection


def connect_locked(lake: Lake, *, readable: Sequence[Path] = ()) -> DuckDBPyConnection:
    """Return a connection for queries of others: all views, and no file but the tables and what is in ``readable``.

    Nothing on it installs, attaches, reaches the network or changes a setting. DuckDB still lets a COPY write into the
    folders that it may read: check that a statement is a query.
    """
    connection = _new_database()
    _create_views(connection, lake, {}, ready_views=True)
    folders = ", ".join(quoted(str(path.absolute())) for path in (lake.path / "tables", *readable))
    connection.execute(f"SET allowed_directories = [{folders}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _create_views(
    connection: DuckDBPyConnection, lake: Lake, versions: Mapping[str, int], *, ready_views: bool
) -> None:
    create_table_views(connection, lake, versions, TABLES)
    for view in READY_VIEWS if ready_views else CURRENT_VIEWS:
        connection.execute(f"CREATE TEMP VIEW {view.name} AS {view.query}")


def create_table_views(
    connection: DuckDBPyConnection, lake: Lake, versions: Mapping[str, int], tables: Iterable[Table]
) -> None:
    """Make each table a view of ``connection``, or make its view anew."""
    for table in tables:
        source = table_query(connection, lake, table, versions.get(table.name))
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {table.name} AS {source}")


@functools.lru_cache(maxsize=1)
def _database(_process_id: int) -> DuckDBPyConnection:
    """Return the empty database of this process: loading the extension costs more than all views together."""
    return _new_database()


def _new_database() -> DuckDBPyConnection:
    # DuckDB makes the folder on the first spill and takes it away at the end; its default is the working directory.
    spill = Path(tempfile.gettempdir()) / f"turnmill-duckdb-{uuid.uuid4().hex}"
    # Without this a query that names an address fetches an extension from the network by itself.
    config: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": str(spill),
        "autoinstall_known_extensions": "false",
    }
    database = duckdb.connect(":memory:", config=config)
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


def table_query(connection: DuckDBPyConnection, lake: Lake, table: Table, version: int | None) -> str:
    """Return the query of a table at its newest version, or at ``version``; -1 is before there was a table."""
    if version == -1 or not lake.exists(table.name):
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
