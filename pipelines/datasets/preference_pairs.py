"""Judged answers -> which answer is before which. Grain: one row per two answers, or per edit. Ids only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets.judgements import ENTRY
from pipelines.datasets.preferences import NEAR_EQUAL_PROMPTS, VOTE, Judgement, Rival, preferences
from schemas.training_examples import EVIDENCE

PAIRS = pa.schema(
    [
        ("tenant", pa.string()),
        ("evidence", pa.string()),
        ("chosen_id", pa.string()),
        ("rejected_id", pa.string()),
        ("feedback_ids", pa.list_(pa.string())),
        ("is_contradicted", pa.bool_()),
    ]
)
PAIRS_DDL = (
    "tenant string, evidence string, chosen_id string, rejected_id string, feedback_ids array<string>, "
    "is_contradicted boolean"
)
QUESTION = ["tenant", "question_id"]
RIVAL = (
    "turn_id", "conversation_id", "is_active", "is_continued", "closes", "is_logged", "response_id", "arrived",
)  # fmt: skip


def pairs_of_answers(paths: DataFrame, judged: DataFrame, evidence: Collection[str]) -> DataFrame:
    """Return the pairs among the answers to one question: edits, regenerations, votes and ranks.

    ``paths`` are ``paths_of_answers``, ``judged`` the judgements of them; only kinds in ``evidence`` are looked at.
    An edit has its feedback as ``chosen_id``.
    """

    def pairs_of_question(key: tuple[pa.Scalar, ...], answers: pa.Table) -> pa.Table:
        return _pairs_of_question(key[0].as_py(), answers.to_pylist(), evidence)

    said = F.collect_list(F.struct("feedback_id", "kind", "value", "measure", "voter")).alias("said")
    told = judged.groupBy("tenant", "turn_id").agg(said)
    rivals = paths.join(told, ["tenant", "turn_id"], how="left")
    rivals = rivals.withColumn("question_id", F.coalesce("asked_id", "turn_id")).select(*QUESTION, *RIVAL, "said")
    return rivals.groupBy(*QUESTION).applyInArrow(pairs_of_question, PAIRS_DDL)


def votes_between_talks(paths: DataFrame, judged: DataFrame) -> DataFrame:
    """Return the pairs of answers in two conversations that one log entry compares: one question, two models."""
    talks = paths.select("tenant", "turn_id", F.col("conversation_id").alias("_talk"))
    votes = judged.where("kind = 'vote' AND value IS NOT NULL").join(talks, ["tenant", "turn_id"])
    entry = Window.partitionBy("tenant", *ENTRY, "measure")
    votes = votes.withColumn("_n", F.count("*").over(entry)).where("_n = 2")
    key = ["tenant", *ENTRY, "measure"]
    worse = votes.select(
        *key,
        F.col("turn_id").alias("rejected_id"), F.col("value").alias("_less"), F.col("feedback_id").alias("_other"),
        F.col("_talk").alias("_other_talk"),
    )  # fmt: skip
    return (
        votes.join(worse, key)
        .where((F.col("value") > F.col("_less")) & (F.col("_talk") != F.col("_other_talk")))
        .select(
            "tenant",
            F.lit(VOTE).alias("evidence"),
            F.col("turn_id").alias("chosen_id"),
            "rejected_id",
            F.array_sort(F.array("feedback_id", "_other")).alias("feedback_ids"),
            F.lit(False).alias("is_contradicted"),
        )
    )


def liked_and_disliked(labels: DataFrame, alike: DataFrame) -> DataFrame:
    """Pair liked with disliked answers to near-equal prompts, the first with the first and so on, each once.

    ``labels`` have ``turn_id``, ``label``, ``feedback_ids`` and ``at``; ``alike`` says which prompt repeats which
    (tenant, subject_id, matched_id).
    """
    cluster = alike.select("tenant", F.col("subject_id").alias("turn_id"), F.col("matched_id").alias("_like"))
    told = labels.join(cluster, ["tenant", "turn_id"], how="left")
    told = told.withColumn("_cluster", F.coalesce("_like", "turn_id"))
    nth = F.row_number().over(Window.partitionBy("tenant", "_cluster", "label").orderBy("at", "turn_id"))
    told = told.withColumn("_nth", nth)
    down = told.where(~F.col("label")).select(
        "tenant", "_cluster", "_nth", F.col("turn_id").alias("rejected_id"), F.col("feedback_ids").alias("_other")
    )
    return (
        told.where("label")
        .join(down, ["tenant", "_cluster", "_nth"])
        .select(
            "tenant",
            F.lit(NEAR_EQUAL_PROMPTS).alias("evidence"),
            F.col("turn_id").alias("chosen_id"),
            "rejected_id",
            F.array_sort(F.array_union("feedback_ids", "_other")).alias("feedback_ids"),
            F.lit(False).alias("is_contradicted"),
        )
    )


def most_trusted(pairs: DataFrame) -> DataFrame:
    """Return each two answers once, with the most trusted evidence; where another speaks against it, contradicted."""
    both = Window.partitionBy("tenant", F.least("chosen_id", "rejected_id"), F.greatest("chosen_id", "rejected_id"))
    trusted = F.array_position(F.array(*map(F.lit, EVIDENCE)), F.col("evidence"))
    against = (F.size(F.collect_set("chosen_id").over(both)) > 1) | F.bool_or("is_contradicted").over(both)
    return (
        pairs.withColumn("_against", against)
        .withColumn("_nth", F.row_number().over(both.orderBy(trusted, "chosen_id")))
        .where("_nth = 1")
        .withColumn("is_contradicted", F.col("_against"))
        .select(*PAIRS.names)
    )


def _pairs_of_question(tenant: str, answers: Sequence[Mapping[str, Any]], evidence: Collection[str]) -> pa.Table:
    judgements = [Judgement(turn_id=row["turn_id"], **one) for row in answers for one in row["said"] or ()]
    found = preferences([_rival(row) for row in answers], judgements, evidence)
    rows = [
        {
            "tenant": tenant,
            "evidence": one.evidence,
            "chosen_id": one.feedback_ids[0] if one.chosen_id is None else one.chosen_id,
            "rejected_id": one.rejected_id,
            "feedback_ids": list(one.feedback_ids),
            "is_contradicted": one.is_contradicted,
        }
        for one in found
    ]
    return pa.Table.from_pylist(rows, schema=PAIRS)


def _rival(row: Mapping[str, Any]) -> Rival:
    told = {name: row[name] for name in RIVAL}
    return Rival(**{**told, "arrived": tuple(row["arrived"].values())})
