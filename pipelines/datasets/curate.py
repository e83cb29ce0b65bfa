"""Conversations -> examples and drops. Grain: one row per answer of an active path, in exactly one of the two.

Not row-wise: a batch stage. Text moves once, from turns into the prompt of each answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.datasets import rules
from pipelines.datasets.rules import CurationPolicy
from schemas import DROPS, TRAINING_EXAMPLES
from schemas.shared_columns import CONSENTS

TURN = ["tenant", "turn_id"]
CONVERSATION = ["tenant", "conversation_id"]
UNVERSIONED = "dataset_version"
EXAMPLE_COLUMNS = [name for name in TRAINING_EXAMPLES.column_names if name != UNVERSIONED]
DROP_COLUMNS = [name for name in DROPS.column_names if name != UNVERSIONED]
SplitBucket = Callable[[str, str], int]


@dataclass(frozen=True)
class Curated:
    """What a cut makes: columns of ``training_examples`` and of ``drops``, both still without a dataset version.

    ``examples`` has one column more, ``key_epochs``: epochs of the surrogate keys that its texts were written under.
    """

    examples: DataFrame
    drops: DataFrame


def curate(
    conversations: DataFrame,
    turns: DataFrame,
    turn_signals: DataFrame,
    split_bucket: SplitBucket,
    policy: CurationPolicy = CurationPolicy(),  # noqa: B008 - frozen
    *,
    hold: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Curated:
    """Cut complete conversations into supervised examples, one for each answer of their active paths.

    ``turns`` is the view ``turns_current``; ``split_bucket`` maps (tenant, user_ref or conversation_id) to 0..99 and is
    pickled into the Python workers; ``hold`` may persist frames that are read more than once. Every answer on an
    active path is one example or one drop; an answer on another branch is a drop (``inactive_branch``), a conversation
    that may still grow is one drop (``not_complete``).
    """
    spoken = answers(conversations.where("complete"), turns, turn_signals, policy)
    judged = hold(spoken.transform(first_rule, policy).transform(once_per_turn))
    kept = hold(judged.where(F.col("rule").isNull()).transform(with_duplicates))
    examples = kept.where(F.col("matched_id").isNull()).transform(as_examples, split_bucket, policy)
    drops = [
        judged.where(F.col("rule").isNotNull()).withColumn("matched_id", F.lit(None).cast("string")),
        kept.where(F.col("matched_id").isNotNull()).withColumn("rule", F.lit(rules.EXACT_DUPLICATE)),
        incomplete_conversations(conversations),
    ]
    ledger = [frame.transform(as_drops) for frame in drops]
    return Curated(examples, ledger[0].unionByName(ledger[1]).unionByName(ledger[2]))


def answers(conversations: DataFrame, turns: DataFrame, turn_signals: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return each answer with the messages before it, its system message, and what is known of all of them.

    Grain: one row per conversation and answer, on its active path or not (``is_active``). Turns of other branches have
    no prompt: they are there to be counted.
    """
    places = [
        conversations.select(
            *CONVERSATION,
            "root_id",
            "started_at",
            "language",
            F.col("user_ref").alias("conversation_user_ref"),
            F.col("consent").alias("conversation_consent"),
            F.lit(is_active).alias("is_active"),
            F.posexplode(column).alias("position", "turn_id"),
        )
        for column, is_active in (("turn_ids", True), ("branch_turn_ids", False))
    ]
    # The filter may have tagged a repeat again; any of the equal rows serves.
    signals = turn_signals.dropDuplicates(TURN).select(*TURN, "keep", F.col("reason").alias("quality_reason"))
    steps = places[0].unionByName(places[1]).join(turns.select(*TURN, *facts(policy)), TURN, how="left")
    steps = steps.join(signals, TURN, how="left")
    path = Window.partitionBy(*CONVERSATION, "is_active").orderBy("position")
    before = path.rowsBetween(Window.unboundedPreceding, -1)
    until = path.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    spoken = steps.select(
        "*",
        F.collect_list(F.when(F.col("is_active"), F.col("message"))).over(before).alias("before"),
        F.coalesce(F.bool_or(F.col("role") == "user").over(before), F.lit(False)).alias("has_user"),
        F.collect_list("turn_id").over(until).alias("path_ids"),
        F.collect_set("key_epoch").over(until).alias("path_epochs"),
        F.bool_or(F.col("role").isNull()).over(until).alias("has_gap"),
        F.bool_or(F.col("consent") != CONSENTS[0]).over(until).alias("path_withheld"),
        F.min("barring_flag").over(until).alias("path_flag"),
        F.first("parent_id").over(until).alias("head_parent_id"),
    ).where("role = 'assistant'")
    systems = system_messages(turns, policy)
    return spoken.join(systems, ["tenant", "system_turn_id"], how="left")


def facts(policy: CurationPolicy) -> list[Column]:
    """Return the columns of a turn that curation reads, the message as it enters examples among them."""
    no_calls = F.array().cast("array<struct<id:string,name:string,arguments:string>>")
    message = F.struct(
        "role",
        F.coalesce("text", F.lit("")).alias("text"),
        F.coalesce("tool_calls", no_calls).alias("tool_calls"),
        "tool_call_id",
    )
    barring = F.array_intersect("flags", F.array(*map(F.lit, policy.barring_flags)))
    return [
        *(F.col(name) for name in ("role", "parent_id", "system_turn_id", "consent", "finish_reason", "key_epoch")),
        F.col("model"),
        F.col("source"),
        message.alias("message"),
        F.array_min(barring).alias("barring_flag"),
        F.coalesce("created_at", "landed_at").alias("at"),
    ]


def system_messages(turns: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return the facts of system messages that an answer's prompt begins with."""
    taken = ("message", "consent", "barring_flag", "key_epoch")
    said = turns.where("role = 'system'").select("tenant", "turn_id", *facts(policy))
    named = [F.col(name).alias(f"system_{name}") for name in taken]
    return said.select("tenant", F.col("turn_id").alias("system_turn_id"), *named)


def first_rule(answers: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Add ``rule``: the first that the answer breaks, null for one worth training on. Removes no row."""
    withheld = (
        F.col("path_withheld")
        | (F.col("conversation_consent") != CONSENTS[0])
        | (F.coalesce("system_consent", F.lit(CONSENTS[0])) != CONSENTS[0])
    )
    system_lost = F.col("system_turn_id").isNotNull() & F.col("system_message").isNull()
    history_lost = F.col("has_gap") | (F.col("head_parent_id") != F.col("root_id")) | system_lost
    flag = F.least("path_flag", "system_barring_flag")
    blank = F.trim(F.regexp_replace("message.text", r"\s+", " ")) == ""
    quality = F.concat(F.lit(rules.QUALITY_PREFIX), F.coalesce("quality_reason", F.lit("unknown")))
    rule = (
        F.when(~F.col("is_active"), rules.INACTIVE_BRANCH)
        .when(withheld, rules.CONSENT)
        .when(F.col("keep").isNull(), rules.NOT_TAGGED)
        .when(~F.col("keep"), quality)
        .when(history_lost, rules.HISTORY_MISSING)
        .when(~F.col("has_user"), rules.NO_USER_TURN)
        .when(flag.isNotNull(), F.concat(F.lit(rules.FLAG_PREFIX), flag))
        .when(F.lower("finish_reason").isin(*policy.cut_finishes), rules.FINISH_REASON)
        .when(blank & (F.size("message.tool_calls") == 0), rules.EMPTY_REPLY)
    )
    return answers.withColumn("rule", rule)


def once_per_turn(judged: DataFrame) -> DataFrame:
    """Keep one row per answer: paths that part later share their first turns; a path that may train comes first."""
    order = (F.col("rule").isNotNull(), F.desc("is_active"), "started_at", "conversation_id")
    nth = F.row_number().over(Window.partitionBy(*TURN).orderBy(*order))
    return judged.withColumn("_nth", nth).where("_nth = 1").drop("_nth")


def with_duplicates(kept: DataFrame) -> DataFrame:
    """Add prompt and completion, and ``matched_id``: the answer that the row repeats, null for the one that stays.

    Two rows are equal when tenant, roles, tool calls and texts are, runs of white space counted as one space. The
    earliest by the log's time (else landing time), then example_id, stays.
    """
    system = F.array_compact(F.array("system_message"))
    rows = (
        kept.withColumn("prompt", F.concat(system, "before"))
        .withColumn("completion", F.array("message"))
        .withColumn("example_id", F.sha2(F.concat_ws("\x1f", F.lit("sft"), "tenant", "turn_id"), 256).substr(1, 32))
        .withColumn("content_key", content_key())
    )
    first = rows.groupBy("tenant", "content_key").agg(
        F.min_by("turn_id", F.struct("at", "example_id")).alias("first_id")
    )
    matched = F.when(F.col("first_id") != F.col("turn_id"), F.col("first_id"))
    return rows.join(first, ["tenant", "content_key"]).withColumn("matched_id", matched)


def content_key() -> Column:
    """Hash prompt and completion so that equal talk has an equal key whatever its white space and call ids."""
    normal = F.transform(
        F.concat("prompt", "completion"),
        lambda m: F.struct(
            m["role"].alias("role"),
            F.trim(F.regexp_replace(m["text"], r"\s+", " ")).alias("text"),
            F.transform(m["tool_calls"], lambda c: F.struct(c["name"], c["arguments"])).alias("tool_calls"),
        ),
    )
    shape = F.struct(F.size("prompt").alias("n_prompt"), normal.alias("messages"))
    return F.sha2(F.to_json(shape), 256)


def as_examples(kept: DataFrame, split_bucket: SplitBucket, policy: CurationPolicy) -> DataFrame:
    """Finish the rows of ``training_examples``: turn ids, split, where they come from."""

    @F.pandas_udf(T.StringType())  # type: ignore[untyped-decorator]
    def split_of(tenant: pd.Series, owner: pd.Series) -> pd.Series:
        pairs = zip(tenant, owner, strict=True)
        return pd.Series([policy.split(split_bucket(t, o)) for t, o in pairs], dtype=object)

    system_id = F.array_compact(F.array(F.when(F.col("system_message").isNotNull(), F.col("system_turn_id"))))
    epochs = F.array_union("path_epochs", F.array_compact(F.array("system_key_epoch")))
    return (
        kept.withColumn("kind", F.lit("sft"))
        .withColumn("turn_ids", F.concat(system_id, "path_ids"))
        .withColumn("user_ref", F.col("conversation_user_ref"))
        .withColumn("split", split_of("tenant", F.coalesce("conversation_user_ref", "conversation_id")))
        .withColumn("trust", F.lit(None).cast("int"))
        .withColumn("key_epochs", epochs)
        .select(*EXAMPLE_COLUMNS, "key_epochs")
    )


def incomplete_conversations(conversations: DataFrame) -> DataFrame:
    """Return the conversations that may still grow; their answers are not looked at yet."""
    return conversations.where(~F.col("complete")).select(
        "tenant",
        F.col("conversation_id").alias("subject_id"),
        F.lit("conversation").alias("subject"),
        F.lit(rules.NOT_COMPLETE).alias("rule"),
        F.lit(None).cast("string").alias("matched_id"),
    )


def as_drops(dropped: DataFrame) -> DataFrame:
    """Finish the rows of ``drops``; the subject is the turn unless the rows name another."""
    if "subject_id" not in dropped.columns:
        dropped = dropped.withColumn("subject_id", F.col("turn_id")).withColumn("subject", F.lit("turn"))
    measured = F.col("rule") == rules.EXACT_DUPLICATE
    return (
        dropped.withColumn("score", F.when(measured, F.lit(1.0)))
        .withColumn("threshold", F.when(measured, F.lit(1.0)))
        .select(*DROP_COLUMNS)
    )
