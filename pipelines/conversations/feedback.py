"""The view ``feedback_current``: each rating once, and which one of a person's ratings of a thing is the newest."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas.shared_columns import ARRIVAL

OPINION = ("tenant", "target_turn_id", "target_response_id", "conversation_ref", "user_ref", "kind", "measure")
"""What one person says of one thing in one way; a later row of the same takes the earlier one back."""


def feedback_current(feedback: DataFrame) -> DataFrame:
    """Keep each rating once, as it first landed, and add ``is_newest``: no later one of the same person contradicts it.

    Nothing is dropped but repeats. Time is that of the log, else that of the Kafka record; ratings without a user count
    as one person's.
    """
    first = Window.partitionBy("tenant", "feedback_id").orderBy(*ARRIVAL)
    latest_first = [F.coalesce("created_at", "kafka_at").desc(), *(F.col(name).desc() for name in ARRIVAL)]
    return (
        feedback.withColumn("_nth", F.row_number().over(first))
        .where(F.col("_nth") == 1)
        .withColumn("is_newest", F.row_number().over(Window.partitionBy(*OPINION).orderBy(*latest_first)) == 1)
        .select(*feedback.columns, "is_newest")
    )
