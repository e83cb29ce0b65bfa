"""Thumbs -> liked and disliked answers. Grain: one row per answer that somebody gave a thumb."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.preferences import THUMB, trust_of
from pipelines.datasets.verdicts import first_rule, first_rule_of_rejected, verdict


def labels_of(judged: DataFrame) -> DataFrame:
    """Return what thumbs say of each answer: ``label``, null where people disagree, and their ``feedback_ids``."""
    thumbs = judged.where("kind = 'thumb' AND value <> 0")
    up = F.col("value") > 0
    return thumbs.groupBy("tenant", "turn_id").agg(
        F.when(F.bool_and(up) == F.bool_or(up), F.bool_or(up)).alias("label"),
        F.array_sort(F.collect_set("feedback_id")).alias("feedback_ids"),
    )


def labelled(told: DataFrame, labels: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return the judged answers with ``label`` and the first rule that each breaks; a disliked one may be bad."""
    rows = told.join(labels, ["tenant", "turn_id"])
    rows = rows.withColumn("trust", F.lit(trust_of(THUMB))).withColumn("evidence", F.lit(THUMB))
    liked = first_rule(rows.where("label"), policy)
    disliked = first_rule_of_rejected(rows.where("NOT label"), policy)
    contradicted = rows.where("label IS NULL").withColumn("verdict", verdict(rules.CONTRADICTED))
    return liked.unionByName(disliked).unionByName(contradicted)
