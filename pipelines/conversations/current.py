"""The view ``turns_current``: each turn once, though older repeats may have landed again."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas.shared_columns import ARRIVAL, CONSENTS


def turns_current(turns: DataFrame) -> DataFrame:
    """Keep per (tenant, turn_id) the row that landed first, under the strictest consent of all its rows.

    Needs all rows of each turn that it is given: filter whole turns before, never rows. Any columns of ``turns`` may be
    left out before, but for keys, consent, landed_at and coordinates.
    """
    strictness = F.array_position(F.array(*map(F.lit, CONSENTS)), F.col("consent"))
    turn = Window.partitionBy("tenant", "turn_id")
    return (
        turns.withColumn("_strictest", F.max(strictness).over(turn))
        .withColumn("_nth", F.row_number().over(turn.orderBy(*ARRIVAL)))
        .where(F.col("_nth") == 1)
        .withColumn("consent", F.element_at(F.array(*map(F.lit, CONSENTS)), F.col("_strictest").cast("int")))
        .select(*turns.columns)
    )
