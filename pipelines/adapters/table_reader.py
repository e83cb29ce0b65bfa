"""One table or view of a lake for Polars, pandas, Arrow, DuckDB and Spark; columns as declared, whoever reads."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from pipelines.adapters.delta import check_profile
from pipelines.adapters.duck import table_query
from pipelines.adapters.lake import Lake
from pipelines.adapters.table_versions import NOT_YET, AsOf, version_as_of
from pipelines.reading.ready_views import ReadyView
from schemas import Table
from schemas.table import type_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from pyspark.sql import DataFrame, SparkSession


class ReaderMissingError(ImportError):
    """A library that a reader was asked for is not installed."""

    safe_to_show = True


class TableReader:
    """A Delta table, read at its newest version, or with ``as_of`` at a version or time (UTC without a zone).

    A table that does not exist yet has no rows. Every reader raises ``TableProfileError`` for a table that some reader
    would get wrong, and ``HistoryGoneError`` for a state that is no longer, or not yet, there.
    """

    def __init__(
        self, lake: Lake, table: Table, pinned: int | None, connection: Callable[[], DuckDBPyConnection]
    ) -> None:
        self._lake, self._table, self._pinned, self._connection = lake, table, pinned, connection
        columns = [f"    {c.name:<22}{type_name(c.type):<12} {c.doc}" for c in table.columns]
        self.__doc__ = "\n".join([table.doc, f"Key: {', '.join(table.key)}.", "", "Columns:", *columns, "", READERS])

    def __repr__(self) -> str:
        return f"<table {self._table.name}: {len(self._table.columns)} columns; help(...) tells them>"

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in their order."""
        return self._table.column_names

    @property
    def schema(self) -> pa.Schema:
        """The declared Arrow schema, with the meaning of each column as its metadata ``comment``."""
        return self._table.arrow_schema

    def version(self, as_of: AsOf | None = None) -> int:
        """Return the version that is read; -1 where there is no table, or was none then."""
        version = self._version(as_of)
        if version is not None:
            return version
        return int(self._delta(None).version()) if self._lake.exists(self._table.name) else NOT_YET

    def polars(self, *, as_of: AsOf | None = None) -> pl.LazyFrame:
        """Return a lazy frame; columns and filters reach the Parquet files before anything is read."""
        import polars as pl

        version = self._checked(as_of)
        if version == NOT_YET:
            return _lazy(pl.from_arrow(self._nothing()))
        frame = pl.scan_delta(str(self._lake.table(self._table.name)), version=version)
        return frame.select(self._table.column_names)

    def arrow(self, *, as_of: AsOf | None = None) -> ds.Dataset:
        """Return a dataset; ``to_table(columns=..., filter=...)`` and ``scanner`` read only what they ask for."""
        version = self._checked(as_of)
        if version == NOT_YET:
            return ds.dataset(self._nothing())
        dataset = self._delta(version).to_pyarrow_dataset()
        return dataset.replace_schema(pa.schema([dataset.schema.field(name) for name in self._table.column_names]))

    def pandas(
        self, columns: Sequence[str] | None = None, *, where: ds.Expression | None = None, as_of: AsOf | None = None
    ) -> pd.DataFrame:
        """Return a pandas frame of the columns (all by default) of the rows that fit ``where``, an Arrow expression.

        Types are Arrow's, since NumPy turns integers beside a null into floats, and large offsets into wrong ones.
        """
        chosen = None if columns is None else list(columns)
        _check_pandas()
        return _pandas(self.arrow(as_of=as_of).to_table(columns=chosen, filter=where))

    def duckdb(self, *, as_of: AsOf | None = None) -> DuckDBPyRelation:
        """Return a relation on the lake's connection, to filter, join and aggregate."""
        version, connection = self._checked(as_of), self._connection()
        return connection.sql(table_query(connection, self._lake, self._table, version))

    def spark(self, session: SparkSession, *, as_of: AsOf | None = None) -> DataFrame:
        """Return a Spark DataFrame; ``session`` has Delta's extension (``turnmill spark-args``)."""
        version = self._checked(as_of)
        if version == NOT_YET:
            return session.createDataFrame([], self._table.spark_schema)
        reader = session.read.format("delta")
        reader = reader if version is None else reader.option("versionAsOf", version)
        return reader.load(str(self._lake.table(self._table.name))).select(*self._table.column_names)

    def _checked(self, as_of: AsOf | None) -> int | None:
        """Return the version to read, None for the newest; the table on disk is one that all readers get right."""
        if not self._lake.exists(self._table.name):
            return self._version(as_of) if as_of is not None else NOT_YET
        check_profile(self._lake, self._table)
        return self._version(as_of)

    def _version(self, as_of: AsOf | None) -> int | None:
        return self._pinned if as_of is None else version_as_of(self._lake, self._table.name, as_of)

    def _delta(self, version: int | None) -> DeltaTable:
        return DeltaTable(self._lake.table(self._table.name), version=version)

    def _nothing(self) -> pa.Table:
        return self._table.arrow_schema.empty_table()


class ViewReader:
    """A view over the tables, computed by DuckDB where it is read."""

    def __init__(
        self,
        view: ReadyView,
        connection: Callable[[], DuckDBPyConnection],
        new_connection: Callable[[], DuckDBPyConnection],
    ) -> None:
        self._view, self._connection, self._new_connection = view, connection, new_connection
        self.__doc__ = f"{view.doc}\n\nColumns: see .columns. {VIEW_READERS}"

    def __repr__(self) -> str:
        return f"<view {self._view.name}; help(...) tells what is in it>"

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in their order."""
        return list(self.duckdb().columns)

    def duckdb(self) -> DuckDBPyRelation:
        """Return a relation on the lake's connection."""
        return self._connection().view(self._view.name)

    def polars(self) -> pl.LazyFrame:
        """Return a lazy frame; columns and filters reach the view's query."""
        from polars.io.plugins import register_io_source

        return register_io_source(self._scan, schema=self.duckdb().limit(0).pl().schema)

    def _scan(
        self, columns: list[str] | None, where: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        # Polars scans in parallel, and a DuckDB connection streams one result at a time: each scan has its own.
        with self._new_connection() as connection:
            frame = connection.view(self._view.name).pl(lazy=True)
            frame = frame if where is None else frame.filter(where)
            frame = frame if n_rows is None else frame.head(n_rows)
            yield (frame if columns is None else frame.select(columns)).collect()

    def arrow(self) -> pa.Table:
        """Return all rows as an Arrow table; ask ``lake.sql`` for some."""
        return self.duckdb().to_arrow_table()

    def pandas(self) -> pd.DataFrame:
        """Return all rows as a pandas frame with Arrow's types."""
        _check_pandas()
        return _pandas(self.arrow())


READERS = (
    "Readers: .polars() .arrow() .pandas(columns, where=...) .duckdb() .spark(session), each with as_of=VERSION|TIME."
)
VIEW_READERS = "Readers: .polars() .arrow() .pandas() .duckdb()."


def _lazy(frame: Any) -> pl.LazyFrame:
    return frame.lazy()


def _check_pandas() -> None:
    if importlib.util.find_spec("pandas") is None:
        raise ReaderMissingError("pandas is not installed; run: pip install pandas, or pip install 'turnmill[jobs]'")


def _pandas(rows: pa.Table) -> pd.DataFrame:
    import pandas as pd

    return rows.to_pandas(types_mapper=pd.ArrowDtype)
