"""Pairs of exchanges that are alike as a whole -> those in which question and answer are each alike.

A long answer outweighs a short question: the same brush-off to two questions, or the same question answered twice, is
no repeat. Grain: one row per pair, in and out. Row-wise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.duplicates.sketches import sketches
from pipelines.duplicates.verify import Likeness, worded_alike

SIDES = ("question", "answer")
ENDS = ("subject", "matched")


def both_sides_alike(pairs: DataFrame, exchanges: DataFrame, threshold: float) -> DataFrame:
    """Return the rows of ``pairs`` (tenant, subject_id, matched_id and more) whose sides each share ``threshold``.

    ``exchanges`` are rows of ``tenant, subject_id, question, answer``; the threshold is a share of common words.
    """
    likeness, columns = Likeness(threshold), pairs.columns
    told = pairs
    for end in ENDS:
        own = [F.coalesce(side, F.lit("")).alias(f"_{end}_{side}") for side in SIDES]
        sides = exchanges.select("tenant", F.col("subject_id").alias(f"{end}_id"), *own)
        told = told.join(sides, ["tenant", f"{end}_id"])

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                question, answer = (_alike(batch, side, likeness) for side in SIDES)
                yield batch.select(columns).filter(pa.array(question & answer))

    added = [f"_{end}_{side}" for end in ENDS for side in SIDES]
    return told.select(*columns, *added).mapInArrow(rows, pairs.schema).select(*columns)


def _alike(batch: pa.RecordBatch, side: str, likeness: Likeness) -> NDArray[np.bool_]:
    subject, matched = (sketches(batch.column(f"_{end}_{side}").to_pylist(), likeness.cut()) for end in ENDS)
    return worded_alike(subject, matched, likeness)
