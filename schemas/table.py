"""A table declared once: columns, words, grain and checks, from which every other description follows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import types as T

CheckKind = Literal["not_null", "one_of", "at_least", "at_most", "matches"]

UTC_MICROSECONDS = pa.timestamp("us", tz="UTC")
EXAMPLE_TIME = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that every value of a column keeps; null passes every rule but ``not_null``."""

    kind: CheckKind
    argument: Any = None

    def message(self, column: str) -> str:
        """Say what was wanted, without the value that was found (it may be personal)."""
        match self.kind:
            case "not_null":
                return f"{column} must not be null"
            case "one_of":
                return f"{column} must be one of {', '.join(map(str, self.argument))}"
            case "at_least":
                return f"{column} must be at least {self.argument}"
            case "at_most":
                return f"{column} must be at most {self.argument}"
            case "matches":
                return f"{column} must match {self.argument}"

    def violated(self, column: str) -> SparkColumn:
        """Return a boolean Spark column that is true where a row breaks the rule."""
        from pyspark.sql import functions as F

        value = F.col(column)
        match self.kind:
            case "not_null":
                return value.isNull()
            case "one_of":
                return ~value.isin(*self.argument)
            case "at_least":
                return value < self.argument
            case "at_most":
                return value > self.argument
            case "matches":
                return ~value.rlike(self.argument)


not_null = Check("not_null")


def one_of(*values: str) -> Check:
    """The value is one of ``values``."""
    return Check("one_of", values)


def at_least(bound: float) -> Check:
    """The value is not below ``bound``."""
    return Check("at_least", bound)


def at_most(bound: float) -> Check:
    """The value is not above ``bound``."""
    return Check("at_most", bound)


def matches(pattern: str) -> Check:
    """The whole value matches ``pattern`` (anchor it with ``^`` and ``$``)."""
    return Check("matches", pattern)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its Arrow type, its meaning in one sentence, its checks and an example value."""

    name: str
    type: pa.DataType
    doc: str
    checks: tuple[Check, ...] = ()
    example: Any = None


@dataclass(frozen=True)
class Table:
    """A Delta table of the lake.

    ``doc`` starts with the grain ("One row per ..."). ``statistics`` names the columns that Delta may keep
    min/max values of: never text, since a 32-character prefix of it would reach ``_delta_log``.
    """

    name: str
    doc: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    statistics: tuple[str, ...]
    holds_text: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.column_names
        if len(set(names)) != len(names):
            repeated = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"table {self.name}: each column once, found again: {', '.join(repeated)}")
        unknown = sorted({*self.key, *self.statistics} - set(names))
        if unknown:
            raise ValueError(f"table {self.name}: key and statistics name unknown columns: {', '.join(unknown)}")
        flags = [c.name for c in self.columns if c.name in self.statistics and pa.types.is_boolean(c.type)]
        if flags:
            raise ValueError(f"table {self.name}: Delta keeps no statistics of booleans: {', '.join(flags)}")

    @property
    def column_names(self) -> list[str]:
        """Names in declared order; the ``select`` that ends every stage."""
        return [column.name for column in self.columns]

    @property
    def arrow_schema(self) -> pa.Schema:
        """The table as an Arrow schema, comments in the field metadata."""
        return pa.schema([pa.field(c.name, c.type, metadata={"comment": c.doc}) for c in self.columns])

    @property
    def spark_schema(self) -> T.StructType:
        """The table as a Spark schema with comments; needs the ``jobs`` extra."""
        from pyspark.sql import types as T
        from pyspark.sql.pandas.types import from_arrow_type

        return T.StructType(
            [T.StructField(c.name, from_arrow_type(c.type), True, {"comment": c.doc}) for c in self.columns]
        )

    def violations(self) -> SparkColumn:
        """Return an array column of the messages of all broken checks; empty for a valid row. Works in a stream."""
        from pyspark.sql import functions as F

        return F.array_compact(
            F.array(
                *(
                    F.when(check.violated(column.name), F.lit(check.message(column.name)))
                    for column in self.columns
                    for check in column.checks
                )
            )
        )

    def delta_properties(self) -> dict[str, str]:
        """Properties set at CREATE: change feed on, statistics on named columns only, no deletion vectors."""
        return {
            "delta.enableChangeDataFeed": "true",
            "delta.enableDeletionVectors": "false",
            "delta.dataSkippingStatsColumns": ",".join(self.statistics),
            "delta.logRetentionDuration": "interval 7 days",
            "delta.deletedFileRetentionDuration": "interval 2 days",
            **self.properties,
        }

    def row(self, **values: Any) -> dict[str, Any]:
        """A valid test row: the columns' examples, with ``values`` in their place."""
        unknown = sorted(values.keys() - set(self.column_names))
        if unknown:
            raise ValueError(f"table {self.name} has no column {', '.join(unknown)}; it has {self.column_names}")
        return {c.name: c.example for c in self.columns} | values

    def markdown(self) -> str:
        """The data dictionary of the table, as the README shows it."""
        lines = [f"#### `{self.name}`", "", f"{self.doc} Key: {', '.join(f'`{k}`' for k in self.key)}.", ""]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        lines += [f"| `{c.name}` | {type_name(c.type)} | {c.doc} |" for c in self.columns]
        return "\n".join(lines)


def type_name(kind: pa.DataType) -> str:
    """Name an Arrow type as Delta and the README do, for instance ``array<struct<type, start>>``."""
    if pa.types.is_list(kind):
        return f"array<{type_name(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{type_name(kind.key_type)}, {type_name(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(kind.field(i).name for i in range(kind.num_fields))}>"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    names = {"int32": "int", "int64": "long", "bool": "boolean", "float": "float"}
    return names.get(str(kind), str(kind))
