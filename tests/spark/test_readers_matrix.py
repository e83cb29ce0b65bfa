"""Five readers, one answer: the same rows of every table after streaming, MERGE, OPTIMIZE and deletes; else refused."""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder

from pipelines.adapters import delta
from pipelines.adapters.delta import TableProfileError, check_profile
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.adapters.table_reader import TableReader
from schemas import TABLES, Column, Table
from schemas.table import UTC_MICROSECONDS

NIGHT = dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.UTC)
MIXED = 6
"""Rows of each table: the example, one of edges and nulls a column, and some more to merge and delete."""


def edge(kind, nth):
    """A value of the type that a reader may get wrong: the ends of ranges, nesting, nulls inside, other scripts."""
    if nth % 3 == 2:
        return None
    if pa.types.is_list(kind):
        return [] if nth % 3 else [edge(kind.value_type, 0), edge(kind.value_type, 1)]
    if pa.types.is_struct(kind):
        return {field.name: edge(field.type, nth + place) for place, field in enumerate(kind)}
    if pa.types.is_map(kind):
        return {} if nth % 3 else {"a b": edge(kind.item_type, 0), "ü": edge(kind.item_type, 1)}
    if pa.types.is_timestamp(kind):
        return NIGHT + dt.timedelta(days=nth)
    if pa.types.is_integer(kind):
        return (-1) ** nth * (2 ** (kind.bit_width - 1) - 1 - nth)
    if pa.types.is_floating(kind):
        return (0.1, -0.0)[nth % 3] if pa.types.is_float64(kind) else (0.5, -0.25)[nth % 3]
    if pa.types.is_boolean(kind):
        return nth % 2 == 0
    texts = (b"\x00\xff", b"") if pa.types.is_binary(kind) else ("line one\nzwei ☂ '\"\\", "")
    return texts[nth % 3]


def rows_for(table):
    """Rows of a table: keys told apart, everything else from edges."""
    rows = []
    for nth in range(MIXED):
        row = {c.name: edge(c.type, nth + place) if nth else c.example for place, c in enumerate(table.columns)}
        rows.append(row | {name: key_value(table, name, nth) for name in table.key})
    return rows


def key_value(table, name, nth):
    kind = next(column.type for column in table.columns if column.name == name)
    return nth if pa.types.is_integer(kind) else f"{name}-{nth}"


def write_history(spark, lake, table, work):
    """Write the table as the jobs do, and more: an Arrow append, a stream, MERGE, DELETE, UPDATE, OPTIMIZE."""
    delta.create_table(lake, table)
    rows, path = rows_for(table), str(lake.table(table.name))
    delta.append_rows(rows[:2], lake, table, txn=("test", 1))
    source = spark.createDataFrame(rows[2:4], table.spark_schema)
    source.coalesce(1).write.format("delta").mode("append").save(str(work / "source"))
    stream = spark.readStream.format("delta").load(str(work / "source")).writeStream.format("delta")
    stream = stream.option("checkpointLocation", str(work / "checkpoint")).trigger(availableNow=True)
    stream.start(path).awaitTermination()
    merged = spark.createDataFrame([rows[0] | plain_change(table), *rows[4:]], table.spark_schema)
    delta.merge(merged, lake, table, update=True)
    key = f"`{table.key[-1]}` = {literal(rows[3][table.key[-1]])}"
    spark.sql(f"DELETE FROM delta.`{path}` WHERE {key}")
    spark.sql(f"OPTIMIZE delta.`{path}`")


def plain_change(table):
    """A new value for the first column that is no key."""
    column = next(c for c in table.columns if c.name not in table.key)
    return {column.name: edge(column.type, 0)}


def literal(value):
    return str(value) if isinstance(value, int) else f"'{value}'"


def plain(value):
    """A value as Python has it, the same from each reader; maps as sorted pairs, NaN and -0.0 told apart."""
    if isinstance(value, dict):
        return tuple(sorted((key, plain(inner)) for key, inner in value.items()))
    if hasattr(value, "asDict"):
        return plain(value.asDict())
    if isinstance(value, list | tuple):
        return tuple(plain(inner) for inner in value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
    return value


def from_arrow(rows, table):
    """Rows of an Arrow table, cast to the declared types, which no reader may need a lossy cast for."""
    schema = table.arrow_schema.remove_metadata()
    return sorted_rows(rows.select(table.column_names).cast(schema).to_pylist(maps_as_pydicts="strict"), table)


def sorted_rows(rows, table):
    return sorted((tuple(plain(row[name]) for name in table.column_names) for row in rows), key=repr)


def readings(spark, lake, table):
    """The rows of the table by each reader."""
    reader = TableReader(lake, table, None, lambda: connect(Lake(lake.path / "nothing")))
    asked = QueryBuilder().register("t", DeltaTable(lake.table(table.name))).execute("SELECT * FROM t")
    return {
        "Spark": sorted_rows([row.asDict() for row in reader.spark(spark).collect()], table),
        "DuckDB": from_arrow(reader.duckdb().to_arrow_table(), table),
        "Polars": from_arrow(reader.polars().collect().to_arrow(), table),
        "deltalake Arrow": from_arrow(reader.arrow().to_table(), table),
        "deltalake query": from_arrow(pa.table(asked), table),
        "pandas": from_arrow(pa.Table.from_pandas(reader.pandas(), preserve_index=False), table),
    }


def differing(found):
    wanted = found["Spark"]
    return {name for name, rows in found.items() if rows != wanted}


ALWAYS = ("turns", "conversations", "dead_letters")
"""Lists, maps, structs, binary and all ranges; the other tables have the same types and run in the long suite."""
MATRIX = [pytest.param(t, id=t.name, marks=() if t.name in ALWAYS else pytest.mark.long) for t in TABLES]


@pytest.mark.parametrize("table", MATRIX)
def test_every_reader_gives_the_same_rows_of_every_table(spark, lake, tmp_path, table):
    write_history(spark, lake, table, tmp_path)
    found = readings(spark, lake, table)
    assert len(found["Spark"]) == MIXED - 1
    assert differing(found) == set()


PAIRS = Table(
    name="pairs",
    doc="One row per pair.",
    key=("number",),
    columns=(
        Column("number", pa.int64(), "A number."),
        Column("text", pa.string(), "A text."),
        Column("at", UTC_MICROSECONDS, "A time."),
    ),
    statistics=("number",),
)

READ = {
    "change feed": "'delta.enableChangeDataFeed' = 'true'",
    "in-commit times": "'delta.enableInCommitTimestamps' = 'true'",
    "row tracking": "'delta.enableRowTracking' = 'true'",
    "times without zone": "'delta.feature.timestampNtz' = 'supported'",
}
REFUSED = {
    "column mapping": "'delta.columnMapping.mode' = 'name'",
    "column mapping of old writers": (
        "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"
    ),
    "deletion vectors": "'delta.enableDeletionVectors' = 'true'",
    "type widening": "'delta.enableTypeWidening' = 'true'",
    "v2 checkpoints": "'delta.checkpointPolicy' = 'v2'",
    "vacuum check": "'delta.feature.vacuumProtocolCheck' = 'supported'",
}


def make_pairs(spark, lake, feature):
    path = str(lake.table(PAIRS.name))
    columns = "number BIGINT, text STRING, at TIMESTAMP"
    spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta TBLPROPERTIES ({feature})")
    spark.sql(
        f"INSERT INTO delta.`{path}` VALUES (1, 'x', timestamp '2026-01-01 00:00:00'), (2, NULL, NULL), (3, '', NULL)"
    )
    spark.sql(f"DELETE FROM delta.`{path}` WHERE number = 3")


@pytest.mark.parametrize("feature", READ.values(), ids=READ)
def test_a_table_with_a_feature_that_passes_the_gate_is_read_the_same_by_all(spark, lake, feature):
    make_pairs(spark, lake, feature)
    check_profile(lake, PAIRS)
    found = readings(spark, lake, PAIRS)
    assert len(found["Spark"]) == 2
    assert differing(found) == set()


@pytest.mark.parametrize("feature", REFUSED.values(), ids=REFUSED)
def test_a_table_with_a_feature_that_a_reader_gets_wrong_is_refused_before_a_row_is_read(spark, lake, feature):
    make_pairs(spark, lake, feature)
    reader = TableReader(lake, PAIRS, None, lambda: connect(lake))
    for read in (reader.polars, reader.arrow, reader.pandas, reader.duckdb, lambda: reader.spark(spark)):
        with pytest.raises(TableProfileError, match="features that other readers cannot read are on"):
            read()
