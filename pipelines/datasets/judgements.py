"""Feedback -> judgements of answers. Grain: one row per person, answer and kind, or per feedback that fits none."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.conversations.feedback import feedback_current
from pipelines.datasets import rules
from pipelines.datasets.verdicts import verdict
from schemas.shared_columns import ARRIVAL, CONSENTS, COORDINATES

JUDGING_KINDS = ("edit", "regenerate", "retry", "vote", "rank", "thumb", "copy")
SENDING_BACK = ("regenerate", "retry")
ENTRY = ("topic", "partition", "offset", "entry")
JUDGEMENT_COLUMNS = (
    "tenant", "feedback_id", "turn_id", "kind", "value", "measure", "voter", *COORDINATES, "said_at", "text",
    "key_epoch", "verdict",
)  # fmt: skip


def judgements(feedback: DataFrame, turns: DataFrame, withdrawals: DataFrame | None = None) -> DataFrame:
    """Return what people last said of each answer, found by its turn, response or span.

    ``turns`` is the view ``turns_current``. ``verdict`` tells what cannot be used: no or several answers fit, or the
    person's consent is not there any more. A later opinion of the same person takes the earlier one back, by whatever
    id it named the answer.
    """
    current = feedback_current(feedback).where(F.col("is_newest") & F.col("kind").isin(*JUDGING_KINDS))
    asked = current.withColumn("_name", F.coalesce("target_turn_id", "target_response_id"))
    found = asked.join(_names(turns), ["tenant", "_name"], how="left")
    one = Window.partitionBy("tenant", "feedback_id")
    found = found.withColumn("_fitting", F.count("turn_id").over(one)).withColumn(
        "_nth", F.row_number().over(one.orderBy("turn_id"))
    )
    found = found.where("_nth = 1").withColumn("said_at", F.coalesce("created_at", "kafka_at"))
    opinion = Window.partitionBy("tenant", "turn_id", "kind", "measure", "user_ref", "conversation_ref")
    latest_first = [F.desc("said_at"), *(F.desc(name) for name in ARRIVAL)]
    found = found.withColumn("_nth", F.row_number().over(opinion.orderBy(*latest_first)))
    found = found.where((F.col("_nth") == 1) | (F.col("_fitting") != 1))
    return (
        _with_withdrawn(found, withdrawals)
        .withColumn("verdict", _verdict())
        .withColumn("turn_id", F.when(F.col("verdict").isNull(), F.col("turn_id")))
        .withColumn("measure", F.coalesce("measure", F.lit("")))
        .withColumn("voter", F.coalesce("user_ref", F.lit("")))
        .select(*JUDGEMENT_COLUMNS)
    )


def sent_back(judged: DataFrame) -> DataFrame:
    """Return (tenant, turn_id) of answers in whose place a user asked for another one."""
    return judged.where(F.col("kind").isin(*SENDING_BACK) & F.col("turn_id").isNotNull()).select("tenant", "turn_id")


def _names(turns: DataFrame) -> DataFrame:
    names = F.array_distinct(F.array_compact(F.array("turn_id", "response_id", "span_id")))
    return turns.where("role = 'assistant'").select("tenant", "turn_id", F.explode(names).alias("_name"))


def _verdict() -> Column:
    return F.coalesce(
        F.when(F.col("_withdrawn"), verdict(rules.CONSENT_WITHDRAWN)),
        F.when(F.col("consent") != CONSENTS[0], verdict(rules.CONSENT)),
        F.when(F.col("_fitting") == 0, verdict(rules.TARGET_UNKNOWN)),
        F.when(F.col("_fitting") > 1, verdict(rules.TARGET_AMBIGUOUS)),
    )


def _with_withdrawn(found: DataFrame, withdrawals: DataFrame | None) -> DataFrame:
    """Add ``_withdrawn``: the person who judges is named by a withdrawal of consent."""
    if withdrawals is None:
        return found.withColumn("_withdrawn", F.lit(False))
    users = withdrawals.where("subject_kind = 'user'").select("tenant", F.col("subject_ref").alias("user_ref"))
    told = users.distinct().withColumn("_withdrawn", F.lit(True))
    return found.join(told, ["tenant", "user_ref"], how="left").fillna(False, subset=["_withdrawn"])
