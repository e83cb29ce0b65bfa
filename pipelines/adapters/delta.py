"""Delta tables: created from their ``Table``, written exactly once, read at a version or by their changes.

Failure contract: an append or merge under ``txn`` may be repeated after any crash; a pair (application, version)
that has been written is skipped by Delta itself. Without ``txn`` a repeat writes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake
from deltalake import DeltaTable as DeltaReader
from deltalake import Transaction as AppTransaction

from pipelines.adapters.lake import Lake
from schemas import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Transaction = tuple[str, int]

READ_BY_ALL = frozenset({"timestampNtz"})
"""Reader features that Spark, DuckDB, Polars, deltalake's QueryBuilder and its Arrow data set all read.

Tried by ``tests/spark/test_readers_matrix.py``. On column mapping Arrow gives nulls in silence (delta-rs#885); deletion
vectors, type widening, v2 checkpoints and the vacuum check it refuses, most of them Polars too.
"""
CHANGE_TRIES = 5
COLUMN_MAPPING_READER = 2
"""Reader version of tables with column mapping that list no features."""


class TableProfileError(RuntimeError):
    """A table on disk is not what the jobs and the readers outside Spark rely on."""

    safe_to_show = True
    exit_code = 5


def create_table(lake: Lake, table: Table) -> None:
    """Create the table with comments, change feed and statistics settings; a table that is there is checked.

    Needs no JVM: a first commit holds no rows, and by Spark it costs seconds.
    """
    if not lake.exists(table.name):
        lake.table(table.name).mkdir(parents=True, exist_ok=True)
        DeltaReader.create(
            str(lake.table(table.name)),
            schema=table.arrow_schema,
            mode="ignore",
            name=table.name,
            description=table.doc,
            configuration=dict(table.delta_properties()),
        )
    check_profile(lake, table)


def check_profile(lake: Lake, table: Table) -> None:
    """Raise ``TableProfileError`` unless the table has the declared columns and only features that all readers know."""
    reader = DeltaReader(str(lake.table(table.name)), without_files=True)
    protocol = reader.protocol()
    features = {*(protocol.reader_features or ())} - READ_BY_ALL
    mapping = reader.metadata().configuration.get("delta.columnMapping.mode", "none")
    if protocol.min_reader_version == COLUMN_MAPPING_READER or mapping != "none":
        features.add("columnMapping")
    if features:
        raise TableProfileError(
            f"table {table.name}: features that other readers cannot read are on: {', '.join(sorted(features))}; "
            "copy it into a new table without them"
        )
    found = {f.name for f in reader.schema().fields}
    missing = [name for name in table.column_names if name not in found]
    if missing:
        raise TableProfileError(
            f"table {table.name}: wanted the columns {', '.join(missing)}, the table on disk lacks them; "
            "it was written by another version of turnmill"
        )


def read(spark: SparkSession, lake: Lake, table: Table, *, version: int | None = None) -> DataFrame:
    """Read the table, created empty where it does not exist, now or at ``version``."""
    create_table(lake, table)
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return reader.load(str(lake.table(table.name)))


def read_stream(spark: SparkSession, lake: Lake, table: Table, **options: Any) -> DataFrame:
    """Read the table's appended rows as a stream; deletes in it do not stop the stream (they come by change feed)."""
    create_table(lake, table)
    reader = spark.readStream.format("delta").option("skipChangeCommits", "true")
    for key, value in options.items():
        reader = reader.option(key, str(value).lower() if isinstance(value, bool) else value)
    return reader.load(str(lake.table(table.name)))


def changes(spark: SparkSession, lake: Lake, table: Table, *, after: int, until: int) -> DataFrame:
    """Read the change feed of the versions ``after`` (exclusive) to ``until`` (inclusive), pre-images left out."""
    from pyspark.sql import functions as F

    reader = spark.read.format("delta").option("readChangeFeed", "true")
    reader = reader.option("startingVersion", after + 1).option("endingVersion", until)
    return reader.load(str(lake.table(table.name))).where(F.col("_change_type") != "update_preimage")


def version(lake: Lake, name: str) -> int:
    """Newest version of the table; -1 where it does not exist. Needs no JVM."""
    if not lake.exists(name):
        return -1
    return DeltaReader(str(lake.table(name)), without_files=True).version()


def last_transaction(lake: Lake, name: str, application: str) -> int:
    """Highest version that ``application`` has written to the table under its transaction id; -1 for none."""
    if not lake.exists(name):
        return -1
    found = DeltaReader(str(lake.table(name)), without_files=True).transaction_version(application)
    return -1 if found is None else found


def append(frame: DataFrame, lake: Lake, table: Table, *, txn: Transaction | None = None) -> None:
    """Append rows that have exactly the table's columns."""
    create_table(lake, table)
    writer = frame.select(*table.column_names).write.format("delta").mode("append")
    if txn is not None:
        writer = writer.option("txnAppId", txn[0]).option("txnVersion", txn[1])
    writer.save(str(lake.table(table.name)))


def append_rows(rows: Sequence[Mapping[str, Any]], lake: Lake, table: Table, *, txn: Transaction) -> None:
    """Append a few rows without a JVM, for tables that Spark never writes.

    A pair that has been written is skipped; the caller holds the lease of its application.
    """
    create_table(lake, table)
    if last_transaction(lake, table.name, txn[0]) >= txn[1]:
        return
    write_deltalake(
        str(lake.table(table.name)),
        pa.Table.from_pylist([dict(row) for row in rows], schema=table.arrow_schema),
        mode="append",
        commit_properties=CommitProperties(app_transactions=[AppTransaction(*txn)]),
    )


def merge(
    frame: DataFrame,
    lake: Lake,
    table: Table,
    *,
    update: bool,
    update_when: str | None = None,
    update_set: Mapping[str, str] | None = None,
    txn: Transaction | None = None,
) -> None:
    """Merge rows by the table's key: new keys are inserted, known ones updated only with ``update``.

    ``frame`` holds each key once. ``update_when`` is an SQL condition over ``old`` and ``new``; ``update_set`` replaces
    what single columns become, which is their new value otherwise.
    At most one merge a table may run under one ``txn`` pair: Delta skips the second in silence.
    """
    from delta.tables import DeltaTable

    spark = frame.sparkSession
    create_table(lake, table)
    condition = " AND ".join(f"old.{key} = new.{key}" for key in table.key)
    columns = {name: f"new.{name}" for name in table.column_names}
    rows = frame.select(*table.column_names).alias("new")

    def execute() -> None:
        target = DeltaTable.forPath(spark, str(lake.table(table.name))).alias("old")
        builder = target.merge(rows, condition)
        if update:
            builder = builder.whenMatchedUpdate(condition=update_when, set={**columns, **(update_set or {})})
        builder.whenNotMatchedInsert(values=columns).execute()

    with transaction(spark, txn):
        undisturbed(execute)


def undisturbed(change: Callable[[], None]) -> None:
    """Make a change; again where files that it read were joined by the upkeep meanwhile, which changes no row.

    Raises Delta's own error when that happens ``CHANGE_TRIES`` times.
    """
    from delta.exceptions import (
        ConcurrentAppendException,
        ConcurrentDeleteDeleteException,
        ConcurrentDeleteReadException,
        ConcurrentWriteException,
    )

    met_another = (  # they share no class of their own in Python
        ConcurrentAppendException,
        ConcurrentDeleteDeleteException,
        ConcurrentDeleteReadException,
        ConcurrentWriteException,
    )
    for tries_left in reversed(range(CHANGE_TRIES)):
        try:
            change()
        except met_another:
            if not tries_left:
                raise
        else:
            return


@contextmanager
def transaction(spark: SparkSession, txn: Transaction | None) -> Iterator[None]:
    """Give the next DML statement of ``spark`` its transaction id: MERGE takes it from the session's conf only."""
    if txn is None:
        yield
        return
    spark.conf.set("spark.databricks.delta.write.txnAppId", txn[0])
    spark.conf.set("spark.databricks.delta.write.txnVersion", str(txn[1]))
    try:
        yield
    finally:
        spark.conf.unset("spark.databricks.delta.write.txnAppId")
        spark.conf.unset("spark.databricks.delta.write.txnVersion")
