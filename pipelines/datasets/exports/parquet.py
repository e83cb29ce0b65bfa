"""Parquet: a file a kind and split, messages as nested columns, for Polars, DuckDB, pandas or Spark."""

from __future__ import annotations

from pipelines.datasets.exports import columns
from pipelines.datasets.exports.example import KINDS
from pipelines.datasets.exports.form import Form, kind_and_split

FORM = Form(
    name="parquet",
    words="Parquet with nested messages; tool arguments and definitions are strings of JSON.",
    encoding="parquet",
    kinds=KINDS,
    record=columns.record,
    file_name=kind_and_split("parquet"),
    schema=columns.schema,
)
