"""A lake opened for reading, in two lines and without Java.

::

    from pipelines.adapters.lake_reader import open_lake
    lake = open_lake("./lake")

Then ``lake.turns_current.polars()``, ``lake.drops.pandas()``, ``lake.sql("from dropped_why")``; ``help(lake)`` lists
tables and views, ``help(lake.turns)`` the columns of one. Nothing is ever written.
"""

from __future__ import annotations

import datetime as dt
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.adapters.delta import check_profile
from pipelines.adapters.duck import connect, create_table_views
from pipelines.adapters.lake import Lake
from pipelines.adapters.table_reader import TableReader, ViewReader
from pipelines.adapters.table_versions import FORMS, parsed, version_as_of
from pipelines.reading.ready_views import READY_VIEWS
from schemas import TABLES, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_TABLES = {table.name: table for table in TABLES}
_VIEWS = {view.name: view for view in READY_VIEWS}


class LakeNotFoundError(FileNotFoundError):
    """There is no lake where one was wanted."""

    safe_to_show = True


def open_lake(path: str | Path = "lake", *, as_of: str | dt.datetime | None = None) -> LakeReader:
    """Open the lake in the folder ``path`` for reading.

    ``as_of`` is a time (UTC where it names no zone): all tables and views then read as they stood at it. A version is
    one table's alone; give it to the table: ``lake.turns.polars(as_of=3)``. Raises ``LakeNotFoundError``.
    """
    lake = Lake(Path(path).absolute())
    if not (lake.path / "tables").is_dir():
        raise LakeNotFoundError(
            f"wanted a lake with tables in {lake.path}, found none; give the folder that the jobs wrote with --lake"
        )
    time = None if as_of is None else parsed(as_of)
    if isinstance(time, int):
        raise ValueError("a version is one table's, a lake is opened at a time; " + FORMS)
    return LakeReader(lake, time)


class LakeReader:
    """The tables and views of a lake, each an attribute by its name: ``lake.turns``, ``lake["turns_current"]``."""

    def __init__(self, lake: Lake, as_of: dt.datetime | None = None) -> None:
        self._lake = lake
        self._as_of = as_of
        self._connection: DuckDBPyConnection | None = None
        self._existing: list[Table] = []
        self.__doc__ = _description(lake, as_of)

    @functools.cached_property
    def versions(self) -> dict[str, int]:
        """Version of each table that this reader is fixed at; empty for one that follows the newest."""
        if self._as_of is None:
            return {}
        return {name: version_as_of(self._lake, name, self._as_of) for name in _TABLES}

    @property
    def connection(self) -> DuckDBPyConnection:
        """DuckDB with all tables and views by name; add tables of your own with ``register``. Times are UTC.

        Raises ``TableProfileError`` where a table is one that some reader would get wrong.
        """
        known = self._existing
        self._existing = [table for table in TABLES if self._lake.exists(table.name)]
        new = [table for table in self._existing if table not in known]
        for table in new:
            check_profile(self._lake, table)
        if self._connection is None:
            self._connection = self._new_connection()
        else:
            # The view of a table that came later is still that of an empty one.
            create_table_views(self._connection, self._lake, self.versions, new)
        return self._connection

    def _new_connection(self) -> DuckDBPyConnection:
        return connect(self._lake, versions=self.versions, ready_views=True)

    def sql(self, query: str, **values: Any) -> DuckDBPyRelation:
        """Return the rows of a query as a DuckDB relation: ``.pl()``, ``.df()``, ``.fetchall()``, ``.show()``.

        ``values`` fill the query's parameters: ``lake.sql("from drops where rule = $rule", rule="consent")``.
        """
        return self.connection.sql(query, params=values)

    def __getitem__(self, name: str) -> TableReader | ViewReader:
        if name in _TABLES:
            pinned = self.versions.get(name)
            return TableReader(self._lake, _TABLES[name], pinned, lambda: self.connection)
        if name in _VIEWS:
            return ViewReader(_VIEWS[name], lambda: self.connection, self._new_connection)
        raise KeyError(f"no table or view {name}; there are {', '.join((*_TABLES, *_VIEWS))}")

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_TABLES, *_VIEWS]

    def __repr__(self) -> str:
        return f"<lake {self._lake.path}{f', as of {self._as_of.isoformat()}' if self._as_of else ''}>"


def _description(lake: Lake, as_of: dt.datetime | None) -> str:
    there = {name: lake.exists(name) for name in _TABLES}
    tables = [f"    {t.name:<22}{t.doc}{'' if there[t.name] else ' (not there yet: empty)'}" for t in TABLES]
    views = [f"    {view.name:<22}{view.doc}" for view in READY_VIEWS]
    when = f"As the tables stood at {as_of.isoformat()}." if as_of else "At the newest versions."
    return "\n".join(
        [f"Tables and views of a lake, for reading. {when}", "", "Tables:", *tables, "", "Views:", *views, "",
         "Each is an attribute: lake.NAME.polars(), .pandas(), .arrow(), .duckdb(); tables also .spark(session) and",
         "as_of=VERSION|TIME. lake.sql(QUERY) asks all of them. help(lake.NAME) tells the columns."]
    )  # fmt: skip
