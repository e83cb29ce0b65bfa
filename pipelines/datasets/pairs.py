"""Conversations and feedback -> preference pairs. Grain: one row per two answers, or per edit, that a person compared.

The prompt is the longest run of messages that both sides share, as TRL wants it (trl#1858, OpenRLHF#909 tell what
comes of anything else): no side repeats a part of it.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.answer_paths import REPLIES
from pipelines.datasets.answers import TURN
from pipelines.datasets.candidates import owner, with_identity, with_system
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.preferences import EDIT, NEAR_EQUAL_PROMPTS
from pipelines.datasets.repeats import said
from pipelines.datasets.verdicts import first_rule, first_rule_of_rejected, judged, no_verdict, verdict
from pipelines.intake.flags import BRANCH_INACTIVE
from schemas.training_examples import EVIDENCE

SIDES = ("chosen", "rejected")
BETWEEN = ">"
"""Stands between the ids of both sides in the id of a pair."""
LED = (
    "tenant", "conversation_id", "conversation_user_ref", "language", "at", "source", "question", "system_message",
    "tools", "system_turn_id", "path_epochs", "system_key_epoch",
)  # fmt: skip


def policy_for_pairs(policy: CurationPolicy) -> CurationPolicy:
    """Return the policy under which sides are read: a source may well mark the rejected one as inactive."""
    return replace(policy, barring_flags=tuple(flag for flag in policy.barring_flags if flag != BRANCH_INACTIVE))


def paired(pairs: DataFrame, told: DataFrame, edits: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Return a row per pair with ``prompt``, ``chosen``, ``rejected`` and the first rule that it breaks.

    ``told`` are the spoken answers on both sides, ``edits`` the judgements with texts in the place of answers.
    ``turn_id`` is the id of the pair.
    """
    written = edited(told, edits)
    learned = first_rule(told, policy).unionByName(first_rule_of_rejected(written, policy))
    refused = first_rule_of_rejected(told, policy)
    rows = pairs.join(_side(learned, "chosen"), ["tenant", "chosen_id"])
    rows = rows.join(_side(refused, "rejected"), ["tenant", "rejected_id"])
    rows = rows.withColumn("_shared", _shared()).transform(_cut)
    return rows.withColumn("turn_id", pair_id()).withColumn("verdict", no_verdict()).transform(_judged)


def pair_id() -> Column:
    """Return the id of a pair: that of the chosen side (for an edit of its feedback), and that of the rejected one."""
    return F.concat("chosen_id", F.lit(BETWEEN), "rejected_id")


def edited(told: DataFrame, edits: DataFrame) -> DataFrame:
    """Return the answers with what a person wrote in their place: no model wrote it, and its id is the feedback's."""
    no_calls = F.array().cast("array<struct<id:string,name:string,arguments:string>>")
    text = F.coalesce("_edit.text", F.lit(""))
    message = F.struct(
        F.lit("assistant").alias("role"),
        text.alias("text"),
        no_calls.alias("tool_calls"),
        F.lit(None).cast("string").alias("tool_call_id"),
    )
    texts = edits.select(*TURN, F.struct("feedback_id", "text", "key_epoch").alias("_edit"))
    epochs = F.array_union("path_epochs", F.array_compact(F.array("_edit.key_epoch")))
    return (
        told.join(texts, TURN)
        .withColumn("turn_id", F.col("_edit.feedback_id"))
        .withColumn("message", message)
        .withColumn("path_ids", F.slice("path_ids", 1, F.size("path_ids") - 1))
        .withColumn("path_epochs", epochs)
        .withColumn("model", F.lit(None).cast("string"))
        .select(*told.columns)
    )


def pair_candidates(sound: DataFrame, split: Column) -> DataFrame:
    """Add ids, split and what pairs are compared by; rows have no broken rule."""
    trust = F.array_position(F.array(*map(F.lit, EVIDENCE)), F.col("evidence")).cast("int")
    texts = F.array_join(F.transform(F.concat("chosen", "rejected"), _text_and_calls), "\n")
    system_id = F.array_compact(F.array(F.when(F.col("system_message").isNotNull(), F.col("system_turn_id"))))
    epochs = F.array_distinct(
        F.concat("path_epochs", "_rejected.path_epochs", F.array_compact(F.array("system_key_epoch")))
    )
    rows = (
        sound.withColumn("trust", trust)
        .withColumn("exchange", F.concat_ws("\n", F.col("question.text"), texts))
        .withColumn("model", F.col("_chosen.model"))
        .withColumn("rejected_model", F.col("_rejected.model"))
        .withColumn("turn_ids", F.concat(system_id, "_turn_ids"))
        .withColumn("key_epochs", epochs)
    )
    return with_identity(rows, "preference", split).drop("_chosen", "_rejected")


def _text_and_calls(message: Column) -> Column:
    calls = F.when(F.size(message["tool_calls"]) > 0, F.to_json(message["tool_calls"]))
    return F.concat_ws("\n", message["text"], calls)


def _side(rows: DataFrame, name: str) -> DataFrame:
    """Return one side of pairs: its id, and all that is known of it as ``_NAME``."""
    messages = F.concat("before", F.array("message")).alias("messages")
    parts = ["message", "path_ids", "verdict", "model", *LED[1:]]
    return rows.select("tenant", F.col("turn_id").alias(f"{name}_id"), F.struct(messages, *parts).alias(f"_{name}"))


def _shared() -> Column:
    """Return how many messages both sides begin with; for near-equal prompts all but the answer, of each its own."""
    first, second = said(F.col("_chosen.messages")), said(F.col("_rejected.messages"))
    differs = F.array_position(F.zip_with(first, second, lambda a, b: a.eqNullSafe(b)), F.lit(False))
    equal = F.size("_chosen.messages")
    return F.when(differs > 0, differs - 1).otherwise(equal).cast("int")


def _cut(rows: DataFrame) -> DataFrame:
    """Add prompt, both sides and the ids of all turns; what the pair is led by comes from the chosen side."""
    weak = F.col("evidence") == NEAR_EQUAL_PROMPTS
    ends = {side: F.when(weak, F.size(f"_{side}.messages") - 1).otherwise(F.col("_shared")) for side in SIDES}
    prompt = F.slice("_chosen.messages", 1, ends["chosen"])
    sides = {side: _behind(F.col(f"_{side}.messages"), ends[side]) for side in SIDES}
    ids = {side: _behind(F.col(f"_{side}.path_ids"), ends[side]) for side in SIDES}
    shared_ids = F.slice("_chosen.path_ids", 1, ends["chosen"])
    led = [F.col(f"_chosen.{name}").alias(name) for name in LED[1:]]
    return rows.select(
        *rows.columns,
        *led,
        with_system(prompt, "_chosen.system_message").alias("prompt"),
        *(column.alias(side) for side, column in sides.items()),
        F.concat(shared_ids, ids["rejected"], ids["chosen"]).alias("_turn_ids"),
    )


def _behind(column: Column, n: Column) -> Column:
    return F.slice(column, n + 1, F.greatest(F.size(column) - n, F.lit(0)))


def _judged(rows: DataFrame) -> DataFrame:
    """Add the first rule that a pair breaks."""
    refused = F.col("_rejected.verdict")
    rejected = refused.withField("rule", F.concat(F.lit(rules.REJECTED_PREFIX), refused["rule"]))
    system, other_system = (F.col(f"_{side}.system_message.text") for side in SIDES)
    tools, other_tools = (F.col(f"_{side}.tools") for side in SIDES)
    equal = F.to_json(said(F.col("chosen"))) == F.to_json(said(F.col("rejected")))
    ordered = [
        (F.col("is_contradicted"), verdict(rules.CONTRADICTED)),
        (F.col("_chosen.verdict").isNotNull(), F.col("_chosen.verdict")),
        (refused.isNotNull(), rejected),
        ((F.col("evidence") == EDIT) & _calls(F.col("_rejected.message")), verdict(rules.EDIT_OF_CALLS)),
        (~system.eqNullSafe(other_system) | (tools != other_tools), verdict(rules.PROMPTS_DIFFER)),
        (equal, verdict(rules.EQUAL_SIDES)),
        (~(_is_answer(F.col("chosen")) & _is_answer(F.col("rejected"))), verdict(rules.SIDE_NOT_AN_ANSWER)),
    ]
    for broken, why in ordered:
        rows = judged(rows, broken, why)
    return rows


def _calls(message: Column) -> Column:
    return F.size(message["tool_calls"]) > 0


def _is_answer(side: Column) -> Column:
    """Tell a side that is one answer: the assistant first and last, in between only calls and their results."""
    ends = (F.get(side, F.lit(0))["role"] == "assistant") & (F.get(side, F.size(side) - 1)["role"] == "assistant")
    return F.coalesce(ends & F.forall(side, lambda m: m["role"].isin(*REPLIES)), F.lit(False))


def rejected_owner() -> Column:
    """Return whose the rejected side is."""
    return owner("_rejected.conversation_id", "_rejected.conversation_user_ref")
