"""``landing`` -> ``turns``, ``feedback``, ``dead_letters``. Grain: one row per item with that outcome."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import DEAD_LETTERS, FEEDBACK, TURNS
from schemas.records import DeadReason, Outcome

REPEAT_HORIZON = "48 hours"
"""Repeats within this time of arrival are dropped by state; older ones fall by key in ``turns_current``."""

ANONYMISE_REASONS = (DeadReason.ANONYMISE_FAILED.value, DeadReason.ANONYMISE_LEFT_VALUE.value)


def settle_turns(landing: DataFrame, horizon: str = REPEAT_HORIZON) -> DataFrame:
    """Keep the first row of each (tenant, turn_id, consent) within ``horizon`` of arrival time.

    A stateful streaming stage: state holds the key and a time, never text. The clock is ``landed_at``, which only
    grows, so no row is ever late.
    """
    turns = landing.where(F.col("outcome") == Outcome.TURN.value).withWatermark("landed_at", horizon)
    return turns.dropDuplicatesWithinWatermark(["tenant", "turn_id", "consent"]).select(*TURNS.column_names)


def settle_feedback(landing: DataFrame) -> DataFrame:
    """Keep the ratings."""
    return landing.where(F.col("outcome") == Outcome.FEEDBACK.value).select(*FEEDBACK.column_names)


def settle_dead_letters(landing: DataFrame) -> DataFrame:
    """Keep what could not be used, with the stage that gave up."""
    dead = landing.where(F.col("outcome") == Outcome.DEAD.value)
    replayed_as = F.lit(None).cast(DEAD_LETTERS.spark_schema["replayed_as"].dataType)
    return (
        dead.withColumn("stage", F.when(F.col("reason").isin(*ANONYMISE_REASONS), "anonymise").otherwise("parse"))
        .withColumn("replayed_as", replayed_as)
        .select(*DEAD_LETTERS.column_names)
    )
