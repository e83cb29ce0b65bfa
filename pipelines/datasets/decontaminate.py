"""Examples -> the benchmark items that leaked into them. Grain: one row per example and item, none for a clean example.

Row-wise: a batch of rows is checked at a time, with canaries planted in each; one that is missed fails the task.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from pipelines.decontamination.check import LeakCheck

SIDES = ("prompt", "completion", "chosen", "rejected")
"""Columns of messages, of which an example has some."""

LEAK_FLAGS = pa.schema(
    [
        ("tenant", pa.string()),
        ("example_id", pa.string()),
        ("benchmark", pa.string()),
        ("item", pa.string()),
        ("side", pa.string()),
        ("how", pa.string()),
        ("score", pa.float64()),
        ("verdict", pa.string()),
    ]
)
"""``side`` of the item: prompt or answer; ``how``: whole, words, figures or meaning; ``verdict``: contaminated or
flag_for_review; ``score``: share of the item that is there, 0 to 1, or the cosine."""


def flag_leaks(examples: DataFrame, check: LeakCheck) -> DataFrame:
    """Return the leaks of rows with ``tenant``, ``example_id`` and columns of messages, as columns of ``LEAK_FLAGS``.

    ``check`` is sent to each worker once. A contaminated or doubtful example has a row for each item that it holds.
    """
    sides = [name for name in SIDES if name in examples.columns]
    shared = examples.sparkSession.sparkContext.broadcast(check)

    def flags(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield flag_rows(pa.Table.from_batches([batch]), sides, shared.value)

    told = examples.select("tenant", "example_id", *sides).mapInArrow(flags, from_arrow_schema(LEAK_FLAGS))
    return told.select(*LEAK_FLAGS.names)


def flag_rows(rows: pa.Table, sides: list[str], check: LeakCheck) -> pa.RecordBatch:
    """Return the leaks of a batch of examples; ``sides`` are its columns of messages."""
    columns = [rows.column(name).to_pylist() for name in sides]
    found = check.check([[m for side in row for m in side or ()] for row in zip(*columns, strict=True)])
    at = [leak.example for leak in found]
    values = {
        "tenant": rows.column("tenant").take(at).to_pylist() if at else [],
        "example_id": rows.column("example_id").take(at).to_pylist() if at else [],
        "benchmark": [leak.ref.benchmark for leak in found],
        "item": [leak.ref.item_id for leak in found],
        "side": [leak.ref.side for leak in found],
        "how": [leak.how for leak in found],
        "score": [leak.score for leak in found],
        "verdict": [leak.verdict for leak in found],
    }
    return pa.RecordBatch.from_pydict(values, LEAK_FLAGS)
