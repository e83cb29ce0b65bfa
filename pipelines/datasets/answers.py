"""Conversations and turns -> answers with all that was said before them. Grain: one row a conversation and answer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets.policy import Bound, CurationPolicy, Place
from schemas.shared_columns import CONSENTS

TURN = ["tenant", "turn_id"]
CONVERSATION = ["tenant", "conversation_id"]


def answers(conversations: DataFrame, turns: DataFrame, turn_signals: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return each answer with the messages before it, its system message, and what is known of all of them.

    On the active path or not (``is_active``). Turns of other branches have no prompt: they are there to be counted.
    The signal of the policy's nth bound is column ``measure_n``.
    """
    return spoken(path_steps(conversations, policy), turns, turn_signals, policy, "is_active")


def spoken(
    places: DataFrame, turns: DataFrame, turn_signals: DataFrame, policy: CurationPolicy, path_name: str
) -> DataFrame:
    """Return the answers among ``places``, rows of a conversation's paths; ``path_name`` tells its paths apart."""
    steps = places.join(turns.select(*TURN, *facts(policy)), TURN, how="left")
    steps = steps.join(newest_signals(turn_signals, policy), TURN, how="left")
    path = Window.partitionBy(*CONVERSATION, path_name).orderBy("position")
    before = path.rowsBetween(Window.unboundedPreceding, -1)
    until = path.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    asked = F.when(F.col("role") == "user", F.struct(F.col("message.text").alias("text"), "text_hash"))
    told = steps.select(
        "*",
        F.collect_list(F.when(F.col("is_active"), F.col("message"))).over(before).alias("before"),
        F.coalesce(F.bool_or(F.col("role") == "user").over(before), F.lit(False)).alias("has_user"),
        F.last(asked, ignorenulls=True).over(before).alias("question"),
        F.collect_list("turn_id").over(until).alias("path_ids"),
        F.collect_set("key_epoch").over(until).alias("path_epochs"),
        F.bool_or(F.col("role").isNull()).over(until).alias("has_gap"),
        F.bool_or(F.col("consent") != CONSENTS[0]).over(until).alias("path_withheld"),
        F.min("barring_flag").over(until).alias("path_flag"),
        F.first("parent_id").over(until).alias("head_parent_id"),
        *(
            (F.min(name) if bound.below is not None else F.max(name)).over(before).alias(f"worst_{name}")
            for name, bound in _measures(policy, "prompt")
        ),
    ).where("role = 'assistant'")
    for name, _ in _measures(policy, "prompt"):
        told = told.withColumn(name, F.col(f"worst_{name}")).drop(f"worst_{name}")
    return told.join(system_messages(turns, policy), ["tenant", "system_turn_id"], how="left")


def path_steps(conversations: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return one row per conversation and turn, with its place on the active path or on the other branches."""
    steps = [
        conversations.select(
            *CONVERSATION,
            *conversation_facts(policy),
            F.lit(is_active).alias("is_active"),
            F.posexplode(column).alias("position", "turn_id"),
        )
        for column, is_active in (("turn_ids", True), ("branch_turn_ids", False))
    ]
    return steps[0].unionByName(steps[1])


def conversation_facts(policy: CurationPolicy) -> list[Column]:
    """Return the columns of a conversation that curation reads, beside its key."""
    return [
        F.col("root_id"),
        F.col("started_at"),
        F.col("language"),
        F.col("user_ref").alias("conversation_user_ref"),
        F.col("consent").alias("conversation_consent"),
        F.col("is_withdrawn"),
        *(_measure(bound).alias(name) for name, bound in _measures(policy, "conversation")),
    ]


def newest_signals(turn_signals: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return what the newest rules say of each turn: a repeat, or a newer filter, may have tagged it again."""
    newest = Window.partitionBy(*TURN).orderBy(F.desc("rule_version"), F.desc("tagged_at"), "landed_at")
    measured = (*_measures(policy, "answer"), *_measures(policy, "prompt"))
    return (
        turn_signals.withColumn("_nth", F.row_number().over(newest))
        .where("_nth = 1")
        .select(
            *TURN,
            "keep",
            F.col("reason").alias("quality_reason"),
            *(_measure(bound).alias(name) for name, bound in measured),
        )
    )


def facts(policy: CurationPolicy) -> list[Column]:
    """Return the columns of a turn that curation reads, the message as it enters examples among them."""
    no_calls = F.array().cast("array<struct<id:string,name:string,arguments:string>>")
    message = F.struct(
        "role",
        F.coalesce("text", F.lit("")).alias("text"),
        F.coalesce("tool_calls", no_calls).alias("tool_calls"),
        "tool_call_id",
    )
    barring = F.array_intersect("flags", F.array(*map(F.lit, policy.barring_flags)).cast("array<string>"))
    return [
        *(F.col(name) for name in ("role", "parent_id", "system_turn_id", "consent", "finish_reason", "key_epoch")),
        *(F.col(name) for name in ("model", "source", "text_hash", "tools")),
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


def _measures(policy: CurationPolicy, place: Place) -> list[tuple[str, Bound]]:
    return [(f"measure_{nth}", bound) for nth, bound in enumerate(policy.bounds) if bound.place == place]


def _measure(bound: Bound) -> Column:
    signal = F.col(bound.signal)
    return (signal if bound.any_of is None else signal.isin(*bound.any_of)).cast("double")
