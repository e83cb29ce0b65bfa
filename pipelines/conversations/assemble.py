"""Touched turns -> ``conversations``. Grain: one row per conversation that a touched turn belongs to.

Not row-wise: a batch stage over the change feeds. Only ids, times and counts travel; no text is read.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.conversations.components import Hold, known_trees, with_trees
from pipelines.conversations.feedback import feedback_current
from pipelines.conversations.nodes import Node
from pipelines.conversations.paths import Known, assemble_root
from pipelines.intake.flags import BRANCH_INACTIVE, WITHOUT_HISTORY
from schemas import CONVERSATIONS
from schemas.shared_columns import ARRIVAL

ROOT = ["tenant", "root_id"]
TURN = ["tenant", "turn_id"]
NODE_COLUMNS = (
    "tenant", "root_id", "turn_id", "parent_id", "role", "consent", "system_turn_id", "conversation_ref", "user_ref",
    "stream", "content_id", "response_id", "span_id", "previous_response_id", "tool_call_id", "flags", "created_at",
    "kafka_at", *ARRIVAL,
)  # fmt: skip
TOUCHED = (*TURN, "root_id", "parent_id", "conversation_ref")
TAGGED_COLUMNS = ("lang", "lang_score", "keep", "is_truncated", "text_sketch", "n_words")
LATER = ("complete", "revision")
ASSEMBLED = pa.schema([f.remove_metadata() for f in CONVERSATIONS.arrow_schema if f.name not in LATER])
LARGE_ROOT = 20_000
"""Turns without a logged conversation id that one root may have before it is taken apart; about 40 MB of Python
objects, where taking it apart costs some joins."""
KNOWN_SCHEMA = "tenant string, root_id string, conversation_id string, turn_ids array<string>"


def without_text(turns: DataFrame) -> DataFrame:
    """Keep of ``turns`` what assembly reads: ids, times, roles and flags; of tool calls only their ids."""
    return turns.select(*NODE_COLUMNS, F.coalesce("tool_calls.id", F.array()).alias("call_ids"))


def touched_turns(turns: DataFrame, turn_signals: DataFrame) -> DataFrame:
    """Return (tenant, turn_id, root_id, parent_id, is_logged) of turns that changed rows of either table concern."""
    keys = [*TOUCHED[:-1], F.col("conversation_ref").isNotNull().alias("is_logged")]
    return turns.select(*keys).unionByName(turn_signals.select(*keys)).distinct()


def judged_turns(feedback: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return the same columns for the turns that changed rows of ``feedback`` judge."""
    targets = F.array_compact(F.array("target_turn_id", "target_response_id"))
    judged = feedback.select("tenant", F.explode(targets).alias("id")).distinct()
    named = all_turns.select(*TOUCHED, names().alias("id"))
    found = named.join(F.broadcast(judged), ["tenant", "id"], how="left_semi")
    return touched_turns(found, found.limit(0))


def chained_turns(anonymous: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return the same columns for the turns that touched ones without a logged conversation follow by response id.

    And for those that follow them, by response id or as children: a turn may land after what was said to it.
    """
    named = all_turns.where(F.col("conversation_ref").isNull())
    links = named.join(F.broadcast(anonymous.select(*TURN).distinct()), TURN, how="left_semi")
    links = links.select("tenant", "response_id", "previous_response_id")
    before = links.select("tenant", F.col("previous_response_id").alias("response_id")).dropna().distinct()
    after = links.select("tenant", F.col("response_id").alias("previous_response_id")).dropna().distinct()
    parents = anonymous.select("tenant", F.col("turn_id").alias("parent_id")).distinct()
    found = named.join(F.broadcast(before), ["tenant", "response_id"], how="left_semi")
    found = found.unionByName(named.join(F.broadcast(after), ["tenant", "previous_response_id"], how="left_semi"))
    found = found.unionByName(named.join(F.broadcast(parents), ["tenant", "parent_id"], how="left_semi"))
    return touched_turns(found, found.limit(0))


def known_conversations(anonymous: DataFrame, conversations: DataFrame) -> DataFrame:
    """Return the conversations without a logged id that a touched turn is part of or follows."""
    near = anonymous.select(*ROOT, "turn_id").unionByName(anonymous.select(*ROOT, F.col("parent_id").alias("turn_id")))
    candidates = conversations.where(F.col("conversation_ref").isNull())
    candidates = candidates.join(anonymous.select(*ROOT).distinct(), ROOT, how="left_semi")
    members = candidates.select(*ROOT, "conversation_id", F.explode("turn_ids").alias("turn_id"))
    found = members.join(near.distinct(), [*ROOT, "turn_id"], how="left_semi").select("tenant", "conversation_id")
    return candidates.join(found.distinct(), ["tenant", "conversation_id"], how="left_semi").select(
        *ROOT, "conversation_id", "turn_ids"
    )


def turns_of_roots(touched: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return the turns of all touched roots that have a logged conversation id."""
    roots = touched.where("is_logged").select(*ROOT).distinct()
    return all_turns.where(F.col("conversation_ref").isNotNull()).join(roots, ROOT, how="left_semi")


def turns_of_paths(anonymous: DataFrame, known: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return the touched turns without a logged conversation id, and the turns of the conversations they extend."""
    wanted = anonymous.select(*TURN).unionByName(known.select("tenant", F.explode("turn_ids").alias("turn_id")))
    return all_turns.where(F.col("conversation_ref").isNull()).join(wanted.distinct(), TURN, how="left_semi")


def newest_signals(turn_signals: DataFrame) -> DataFrame:
    """Return what the newest rules say of each turn: a repeat, or a newer filter, may have tagged it again."""
    newest = F.struct("rule_version", "tagged_at", "landed_at")
    tagged = turn_signals.groupBy(*TURN).agg(F.max_by(F.struct(*TAGGED_COLUMNS), newest).alias("tagged"))
    return tagged.select(*TURN, "tagged.*")


def with_signals(turns: DataFrame, turn_signals: DataFrame) -> DataFrame:
    """Make nodes of turns: their time, language, sketch and verdict; no feedback yet."""
    wanted = turn_signals.join(turns.select(*TURN).distinct(), TURN, how="left_semi")
    tagged = turns.join(newest_signals(wanted), TURN, how="left")
    return tagged.select(
        *NODE_COLUMNS, "call_ids", "lang", "lang_score", "text_sketch",
        F.coalesce("keep", F.lit(False)).alias("keep"),
        F.coalesce("is_truncated", F.lit(False)).alias("is_truncated"),
        F.coalesce("n_words", F.lit(0)).alias("n_words"),
        F.coalesce("created_at", "kafka_at").alias("at"),
        F.array_contains("flags", WITHOUT_HISTORY).alias("alone"),
        F.array_contains("flags", BRANCH_INACTIVE).alias("inactive"),
        *(F.lit(0).alias(name) for name in COUNTS),
    )  # fmt: skip


COUNTS = ("n", "thumbs_up", "thumbs_down", "edits")


def with_feedback(nodes: DataFrame, feedback: DataFrame) -> DataFrame:
    """Count the feedback on each node, by turn, response or span; of one person's thumbs only the newest counts."""
    ratings = feedback_current(feedback_on(nodes, feedback))
    is_thumb = (F.col("kind") == "thumb") & F.col("is_newest")
    counts = (
        F.count("*").cast("int").alias("n"),
        F.count_if(is_thumb & (F.col("value") > 0)).cast("int").alias("thumbs_up"),
        F.count_if(is_thumb & (F.col("value") < 0)).cast("int").alias("thumbs_down"),
        F.count_if(F.col("kind") == "edit").cast("int").alias("edits"),
    )
    said = ("kind", "value", "is_newest")
    by_turn = ratings.where(F.col("target_turn_id").isNotNull())
    by_turn = by_turn.select("tenant", F.col("target_turn_id").alias("turn_id"), *said)
    by_response = ratings.where(F.col("target_turn_id").isNull() & F.col("target_response_id").isNotNull())
    by_response = by_response.select("tenant", F.col("target_response_id").alias("name"), *said)
    names = F.explode(F.array_distinct(F.array_compact(F.array("response_id", "span_id"))))
    by_response = by_response.join(nodes.select(*TURN, names.alias("name")), ["tenant", "name"])
    judged = by_turn.unionByName(by_response.select(*TURN, *said)).groupBy(*TURN).agg(*counts)
    return nodes.drop(*COUNTS).join(judged, TURN, how="left").fillna(0, subset=list(COUNTS))


def names() -> Column:
    """Return all ids by which feedback may call a turn, exploded."""
    return F.explode(F.array_distinct(F.array_compact(F.array("turn_id", "response_id", "span_id"))))


def feedback_on(nodes: DataFrame, feedback: DataFrame) -> DataFrame:
    """Keep the feedback that judges one of ``nodes``: whole groups of what ``feedback_current`` compares."""
    judged = nodes.select("tenant", names().alias("id"))
    target = F.coalesce("target_turn_id", "target_response_id")
    named = feedback.withColumn("id", target).join(judged.distinct(), ["tenant", "id"], how="left_semi")
    return named.select(*feedback.columns)


def in_trees(nodes: DataFrame, known: DataFrame, hold: Hold) -> tuple[DataFrame, DataFrame]:
    """Add ``tree`` to both: the root, or the trees of talks without a logged id where a root of them is large."""
    anonymous = nodes.where(F.col("conversation_ref").isNull())
    if anonymous.groupBy(*ROOT).count().where(F.col("count") > LARGE_ROOT).isEmpty():
        return nodes.withColumn("tree", F.col("root_id")), known.withColumn("tree", F.col("root_id"))
    nodes = hold(with_trees(nodes, hold))
    return nodes, known_trees(known, nodes)


def retired(known: DataFrame, assembled: DataFrame) -> DataFrame:
    """Return (tenant, conversation_id) of known conversations that are part of another one now: a turn between came."""
    return known.join(assembled, ["tenant", "conversation_id"], how="left_anti").select("tenant", "conversation_id")


def assemble_conversations(nodes: DataFrame, known: DataFrame) -> DataFrame:
    """Build the conversations of each tree from its nodes; ``complete`` is false and ``revision`` 1 until merged.

    Both frames have ``tree`` (``pipelines.conversations.components``): one Arrow group is a tree.
    """
    tree = [*ROOT, "tree"]
    schema = T.StructType([f for f in CONVERSATIONS.spark_schema.fields if f.name not in LATER])
    assembled = nodes.groupBy(*tree).cogroup(known.groupBy(*tree)).applyInArrow(_assemble_group, schema)
    return (
        assembled.withColumn("complete", F.lit(False))
        .withColumn("revision", F.lit(1))
        .select(*CONVERSATIONS.column_names)
    )


def _assemble_group(key: tuple[pa.Scalar, ...], nodes: pa.Table, known: pa.Table) -> pa.Table:
    tenant, root_id, _ = (part.as_py() for part in key)
    conversations = [Known(row["conversation_id"], tuple(row["turn_ids"])) for row in known.to_pylist()]
    rows = assemble_root(root_id, [_node(row) for row in nodes.to_pylist()], conversations)
    return pa.Table.from_pylist([{"tenant": tenant, **row} for row in rows], schema=ASSEMBLED)


def _node(row: dict[str, Any]) -> Node:
    return Node(
        turn_id=row["turn_id"],
        parent_id=row["parent_id"],
        role=row["role"],
        at=row["at"],
        arrived=tuple(row[name] for name in ARRIVAL),
        consent=row["consent"],
        system_turn_id=row["system_turn_id"],
        conversation_ref=row["conversation_ref"],
        user_ref=row["user_ref"],
        stream=row["stream"],
        lang=row["lang"],
        lang_score=row["lang_score"],
        keep=row["keep"],
        is_truncated=row["is_truncated"],
        text_sketch=row["text_sketch"],
        n_words=row["n_words"],
        call_ids=tuple(row["call_ids"] or ()),
        tool_call_id=row["tool_call_id"],
        feedback=tuple(row[name] for name in COUNTS),
        content_id=row["content_id"],
        response_id=row["response_id"],
        previous_response_id=row["previous_response_id"],
        alone=row["alone"],
        inactive=row["inactive"],
    )
