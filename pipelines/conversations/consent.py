"""Conversations under withdrawals of consent. Grain: one row per conversation, in and out."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.conversations.current import consent_of, strictness

CONVERSATION = ["tenant", "conversation_id"]


def with_withdrawals(conversations: DataFrame, withdrawals: DataFrame) -> DataFrame:
    """Add ``is_withdrawn`` and lower ``consent`` to what is left; the strictest counts. Removes no row.

    ``withdrawals`` is the table ``consent_withdrawals``. A conversation is withdrawn when it is named itself or when
    one of its users is, on whatever branch that user spoke.
    """
    refs = F.array_union(F.coalesce("user_refs", F.array()), F.array_compact(F.array("user_ref")))
    users = F.transform(refs, lambda ref: F.struct(F.lit("user").alias("kind"), ref.alias("ref")))
    itself = F.struct(F.lit("conversation").alias("kind"), F.col("conversation_ref").alias("ref"))
    subject = F.explode(F.array_append(users, itself)).alias("subject")
    named = conversations.select(*CONVERSATION, subject).select(*CONVERSATION, "subject.*")
    told = withdrawals.select(
        "tenant",
        F.col("subject_kind").alias("kind"),
        F.col("subject_ref").alias("ref"),
        F.col("consent").alias("left"),
    )
    left = named.join(told, ["tenant", "kind", "ref"]).groupBy(*CONVERSATION)
    left = left.agg(F.max(strictness("left")).alias("_left"))
    own = strictness("consent")
    return (
        conversations.join(left, CONVERSATION, how="left")
        .withColumn("is_withdrawn", F.col("_left").isNotNull())
        .withColumn("consent", consent_of(F.greatest(own, F.coalesce("_left", own))))
        .select(*conversations.columns, "is_withdrawn")
    )
