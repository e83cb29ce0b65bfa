"""The view ``turns_current``: each turn once, though older repeats may have landed again."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.shared_columns import ARRIVAL, CONSENTS


def turns_current(turns: DataFrame) -> DataFrame:
    """Keep per (tenant, turn_id) the row that landed first, under the strictest consent of all its rows.

    Needs all rows of each turn that it is given: filter whole turns before, never rows. Any columns of ``turns`` may be
    left out before, but for keys, consent, landed_at and coordinates.
    """
    turn = Window.partitionBy("tenant", "turn_id")
    return (
        turns.withColumn("_strictest", F.max(strictness("consent")).over(turn))
        .withColumn("_nth", F.row_number().over(turn.orderBy(*ARRIVAL)))
        .where(F.col("_nth") == 1)
        .withColumn("consent", consent_of(F.col("_strictest")))
        .select(*turns.columns)
    )


def strictness(consent: str) -> Column:
    """Return how strict the consent in the column of that name is: 1 for the widest."""
    return F.array_position(F.array(*map(F.lit, CONSENTS)), F.col(consent)).cast("int")


def consent_of(strictness: Column) -> Column:
    """Return the consent of a strictness."""
    return F.element_at(F.array(*map(F.lit, CONSENTS)), strictness)
