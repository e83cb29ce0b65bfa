"""Which of equal and nearly equal examples stay: one of each, and none in training that validation holds too."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.answers import TURN
from pipelines.datasets.policy import NearDuplicates
from pipelines.datasets.verdicts import judged, verdict


def content_key(*sides: str) -> Column:
    """Hash prompt and ``sides`` so that equal talk has an equal key whatever its white space and call ids."""
    messages = said(F.concat("prompt", *sides))
    ends = F.array(*(F.size(name) for name in ("prompt", *sides[:-1])))
    return F.sha2(F.to_json(F.struct(ends.alias("ends"), messages.alias("messages"))), 256)


def said(messages: Column) -> Column:
    """Return role, text and calls of messages without what says nothing: runs of white space and ids of calls."""
    return F.transform(
        messages,
        lambda m: F.struct(
            m["role"].alias("role"),
            F.trim(F.regexp_replace(m["text"], r"\s+", " ")).alias("text"),
            _without_ids(m["tool_calls"]).alias("tool_calls"),
        ),
    )


def exchange() -> Column:
    """Return the last message of the user and the answer, calls of tools included: what near duplicates compare.

    The talk before is left out: the answers of one talk share it and would all be alike.
    """
    calls = F.when(F.size("message.tool_calls") > 0, F.to_json(_without_ids(F.col("message.tool_calls"))))
    return F.concat_ws("\n", F.col("question.text"), F.col("message.text"), calls)


def _without_ids(calls: Column) -> Column:
    return F.transform(calls, lambda call: F.struct(call["name"], call["arguments"]))


def exact_duplicates(rows: DataFrame) -> DataFrame:
    """Judge rows of equal ``content_key``: the earliest by the log's time (else landing time), then id, stays."""
    equal = Window.partitionBy("tenant", "content_key", F.col("verdict").isNull())
    first_id = F.min_by("turn_id", F.struct("at", "example_id")).over(equal)
    why = verdict(rules.EXACT_DUPLICATE, score=1.0, threshold=1.0, matched_id=F.col("first_id"))
    rows = rows.withColumn("first_id", first_id)
    return judged(rows, F.col("first_id") != F.col("turn_id"), why).drop("first_id")


def exchanges(rows: DataFrame, candidates: DataFrame, settings: NearDuplicates) -> DataFrame:
    """Return what near duplicates are looked for in, of the rows without a verdict.

    Columns: tenant, subject_id, at, text; question and answer, the two parts of the text.
    """
    answer = F.expr("substring(exchange, coalesce(length(question.text) + 1, 0) + 1)")
    standing = rows.where("verdict IS NULL").select(*TURN)
    return (
        candidates.join(standing, TURN, how="left_semi")
        .where(F.length("exchange") >= settings.min_chars)
        .select(
            "tenant",
            F.col("turn_id").alias("subject_id"),
            "at",
            F.col("exchange").alias("text"),
            F.col("question.text").alias("question"),
            answer.alias("answer"),
        )
    )


def semantic_exchanges(rows: DataFrame, candidates: DataFrame, settings: NearDuplicates) -> DataFrame:
    """Return ``exchanges`` with the hashes of question and answer, but for calls of tools, which have no vector."""
    hashes = candidates.where(F.size("message.tool_calls") == 0).select(
        "tenant",
        F.col("turn_id").alias("subject_id"),
        F.col("question.text_hash").alias("question_hash"),
        F.col("text_hash").alias("answer_hash"),
    )
    return exchanges(rows, candidates, settings).join(hashes, ["tenant", "subject_id"])


def near_duplicates(
    rows: DataFrame,
    found: DataFrame,
    settings: NearDuplicates,
    *,
    rule: str = rules.NEAR_DUPLICATE,
    threshold: float | None = None,
) -> DataFrame:
    """Judge rows by the pairs that were found: (tenant, subject_id, matched_id, score), each subject once.

    ``rule`` and ``threshold`` are those of the drops; without them of near duplicates in words.

    A cluster is a row and those that match it. The first ``max_per_cluster`` stay, the matched row before the earliest.
    Where a cluster has rows of both splits, its train rows go as ``split_leak``, and validation keeps the first of its
    own: what a model is judged on must be new to it, also in other words.
    """
    threshold = settings.threshold if threshold is None else threshold
    pairs = found.select("tenant", F.col("subject_id").alias("turn_id"), F.col("matched_id").alias("like_id"), "score")
    rows = rows.join(pairs, TURN, how="left")
    of_cluster = ("tenant", F.coalesce("like_id", "turn_id"), F.col("verdict").isNull())
    cluster = Window.partitionBy(*of_cluster)
    held_out = F.col("split") == "validation"
    order = F.struct(F.col("like_id").isNotNull(), "at", "example_id")
    leads = F.struct("turn_id", "score")
    rows = (
        rows.withColumn("_lead", F.min_by(F.when(held_out, leads), F.when(held_out, order)).over(cluster))
        .withColumn("_leaks", F.col("_lead").isNotNull() & ~held_out)
        .withColumn("_rank", F.row_number().over(Window.partitionBy(*of_cluster, "_leaks").orderBy(order)))
    )
    leak = verdict(
        rules.SPLIT_LEAK,
        score=F.coalesce("score", "_lead.score"),
        threshold=threshold,
        matched_id=F.col("_lead.turn_id"),
    )
    repeat = verdict(rule, score=F.col("score"), threshold=threshold, matched_id=F.col("like_id"))
    rows = judged(rows, F.col("_leaks"), leak)
    rows = judged(rows, F.col("like_id").isNotNull() & (F.col("_rank") > settings.max_per_cluster), repeat)
    return rows.drop("like_id", "score", "_lead", "_leaks", "_rank")
