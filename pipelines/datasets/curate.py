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
    """What a cut makes: columns of ``training_examples`` and of ``drops``, both still without a dataset version."""

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
    complete = conversations.where("complete")
    judged = hold(first_rule(answers(complete, turns, turn_signals), policy).transform(once_per_turn))
    kept = hold(judged.where(F.col("rule").isNull()).transform(with_duplicates))
    examples = kept.where(F.col("matched_id").isNull()).transform(as_examples, split_bucket, policy)
    drops = [
        judged.where(F.col("rule").isNotNull()).withColumn("matched_id", F.lit(None).cast("string")),
        kept.where(F.col("matched_id").isNotNull()).withColumn("rule", F.lit(rules.EXACT_DUPLICATE)),
        inactive_branches(complete, turns, judged),
        incomplete_conversations(conversations),
    ]
    ledger = [frame.transform(as_drops) for frame in drops]
    return Curated(examples, ledger[0].unionByName(ledger[1]).unionByName(ledger[2]).unionByName(ledger[3]))


def answers(conversations: DataFrame, turns: DataFrame, turn_signals: DataFrame) -> DataFrame:
    """Return each answer of each active path with the turns before it, its system message and its signals."""
    steps = conversations.select(
        *CONVERSATION,
        "root_id",
        "started_at",
        "language",
        F.col("user_ref").alias("conversation_user_ref"),
        F.col("consent").alias("conversation_consent"),
        F.posexplode("turn_ids").alias("position", "turn_id"),
    )
    # The filter may have tagged a repeat again; any of the equal rows serves.
    signals = turn_signals.dropDuplicates(TURN).select(*TURN, "keep", F.col("reason").alias("quality_reason"))
    said = turns.select(*TURN, message_struct())
    steps = steps.join(said, TURN, how="left").join(signals, TURN, how="left")
    path = F.array_sort(F.collect_list(F.struct("position", "turn_id", "keep", "quality_reason", "said")))
    paths = steps.groupBy(
        *CONVERSATION, "root_id", "started_at", "language", "conversation_user_ref", "conversation_consent"
    ).agg(path.alias("path"))
    each = paths.select("*", F.posexplode("path").alias("nth", "target")).where("target.said.role = 'assistant'")
    systems = turns.where("role = 'system'").select(
        "tenant", F.col("turn_id").alias("system_turn_id"), message_struct("system_said")
    )
    return (
        each.withColumn("before", F.slice("path", 1, F.col("nth")))
        .withColumn("system_turn_id", F.col("target.said.system_turn_id"))
        .join(systems, ["tenant", "system_turn_id"], how="left")
        .withColumn("turn_id", F.col("target.turn_id"))
        .drop("path")
    )


def message_struct(name: str = "said") -> Column:
    """Gather the columns of a turn that curation reads."""
    at = F.coalesce("created_at", "landed_at").alias("at")
    return F.struct(
        "role", "text", "tool_calls", "tool_call_id", "parent_id", "system_turn_id", "consent", "flags",
        "finish_reason", "model", "source", at,
    ).alias(name)  # fmt: skip


def first_rule(answers: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Add ``rule``: the first that the answer breaks, null for one worth training on. Removes no row."""
    seen = F.concat("before", F.array("target"))
    consents = F.concat(
        F.array("conversation_consent", F.coalesce("system_said.consent", F.lit(CONSENTS[0]))),
        F.transform(F.filter(seen, lambda step: step["said"].isNotNull()), lambda step: step["said"]["consent"]),
    )
    flags = F.flatten(
        F.concat(
            F.array(F.coalesce("system_said.flags", F.array().cast("array<string>"))),
            F.transform(seen, lambda step: F.coalesce(step["said"]["flags"], F.array().cast("array<string>"))),
        )
    )
    barring = F.array_sort(F.array_intersect(flags, F.array(*map(F.lit, policy.barring_flags))))
    first = F.element_at(seen, 1)
    reply = F.col("target.said")
    system_lost = F.col("system_turn_id").isNotNull() & F.col("system_said").isNull()
    history_lost = (
        F.exists(seen, lambda step: step["said"].isNull())
        | (first["said"]["parent_id"] != F.col("root_id"))
        | system_lost
    )
    without_content = (F.trim(F.coalesce(reply["text"], F.lit(""))) == "") & (
        F.coalesce(F.size(reply["tool_calls"]), F.lit(0)) <= 0
    )
    rule = (
        F.when(F.exists(consents, lambda c: c != CONSENTS[0]), rules.CONSENT)
        .when(F.col("target.keep").isNull(), rules.NOT_TAGGED)
        .when(
            ~F.col("target.keep"),
            F.concat(F.lit(rules.QUALITY_PREFIX), F.coalesce("target.quality_reason", F.lit("unknown"))),
        )
        .when(history_lost, rules.HISTORY_MISSING)
        .when(~F.exists("before", lambda step: step["said"]["role"] == "user"), rules.NO_USER_TURN)
        .when(F.size(barring) > 0, F.concat(F.lit(rules.FLAG_PREFIX), F.element_at(barring, 1)))
        .when(F.lower(reply["finish_reason"]).isin(*policy.cut_finishes), rules.FINISH_REASON)
        .when(without_content, rules.EMPTY_REPLY)
    )
    return answers.withColumn("rule", rule)


def once_per_turn(judged: DataFrame) -> DataFrame:
    """Keep one row per answer: paths that part later share their first turns; a path that may train comes first."""
    order = (F.col("rule").isNotNull(), "started_at", "conversation_id")
    nth = F.row_number().over(Window.partitionBy(*TURN).orderBy(*order))
    return judged.withColumn("_nth", nth).where("_nth = 1").drop("_nth")


def with_duplicates(kept: DataFrame) -> DataFrame:
    """Add prompt and completion, and ``matched_id``: the answer that the row repeats, null for the one that stays.

    Two rows are equal when tenant, roles, tool calls and texts are, runs of white space counted as one space. The
    earliest by the log's time (else landing time), then example_id, stays.
    """
    system = F.when(F.col("system_said").isNotNull(), F.array(message(F.col("system_said"))))
    spoken = F.transform("before", lambda step: message(step["said"]))
    rows = (
        kept.withColumn("prompt", F.when(system.isNotNull(), F.concat(system, spoken)).otherwise(spoken))
        .withColumn("completion", F.array(message(F.col("target.said"))))
        .withColumn("example_id", F.sha2(F.concat_ws("\x1f", F.lit("sft"), "tenant", "turn_id"), 256).substr(1, 32))
        .withColumn("content_key", content_key())
    )
    order = F.struct(F.col("target.said.at"), F.col("example_id"))
    first = rows.groupBy("tenant", "content_key").agg(F.min_by("turn_id", order).alias("first_id"))
    matched = F.when(F.col("first_id") != F.col("turn_id"), F.col("first_id"))
    return rows.join(first, ["tenant", "content_key"]).withColumn("matched_id", matched)


def message(said: Column) -> Column:
    """Return a turn as a message of ``training_examples``."""
    no_calls = F.array().cast("array<struct<id:string,name:string,arguments:string>>")
    return F.struct(
        said["role"].alias("role"),
        F.coalesce(said["text"], F.lit("")).alias("text"),
        F.coalesce(said["tool_calls"], no_calls).alias("tool_calls"),
        said["tool_call_id"].alias("tool_call_id"),
    )


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

    system_id = F.when(F.col("system_said").isNotNull(), F.array("system_turn_id"))
    path_ids = F.concat(F.transform("before", lambda step: step["turn_id"]), F.array("turn_id"))
    return (
        kept.withColumn("kind", F.lit("sft"))
        .withColumn("turn_ids", F.when(system_id.isNotNull(), F.concat(system_id, path_ids)).otherwise(path_ids))
        .withColumn("user_ref", F.col("conversation_user_ref"))
        .withColumn("source", F.col("target.said.source"))
        .withColumn("model", F.col("target.said.model"))
        .withColumn("split", split_of("tenant", F.coalesce("user_ref", "conversation_id")))
        .withColumn("trust", F.lit(None).cast("int"))
        .select(*EXAMPLE_COLUMNS)
    )


def inactive_branches(conversations: DataFrame, turns: DataFrame, judged: DataFrame) -> DataFrame:
    """Return the answers that stand on no active path: earlier regenerations and edited-away talk."""
    branches = conversations.select("tenant", F.explode("branch_turn_ids").alias("turn_id")).distinct()
    replies = turns.where("role = 'assistant'").select(*TURN)
    off_path = branches.join(replies, TURN, how="left_semi").join(judged.select(*TURN), TURN, how="left_anti")
    return off_path.withColumn("rule", F.lit(rules.INACTIVE_BRANCH)).withColumn(
        "matched_id", F.lit(None).cast("string")
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
