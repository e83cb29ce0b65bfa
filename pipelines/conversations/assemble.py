"""Touched turns -> ``conversations``. Grain: one row per conversation that a touched turn belongs to.

Not row-wise: a batch stage over the change feeds. Only ids, times and counts travel; no text is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.conversations.current import turns_current
from pipelines.conversations.paths import Known, Node, assemble_root
from schemas import CONVERSATIONS, TURNS
from schemas.shared_columns import COORDINATES

ROOT = ["tenant", "root_id"]
TURN = ["tenant", "turn_id"]
ARRIVED = ("landed_at", *COORDINATES)
NODE_COLUMNS = (
    "tenant", "root_id", "turn_id", "parent_id", "role", "consent", "system_turn_id", "conversation_ref", "user_ref",
    "stream", *ARRIVED,
)  # fmt: skip
LATER = ("complete", "revision")


def touched_turn_ids(turns: DataFrame, turn_signals: DataFrame, feedback: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return (tenant, turn_id, root_id, parent_id, is_logged) of every turn that a change concerns.

    ``turns``, ``turn_signals`` and ``feedback`` hold changes; ``all_turns`` is the table at the pinned version.
    """
    keys = turn_signals.select(*TURN).unionByName(
        feedback.where(F.col("target_turn_id").isNotNull()).select("tenant", F.col("target_turn_id").alias("turn_id"))
    )
    judged = feedback.where(F.col("target_response_id").isNotNull())
    judged = judged.select("tenant", F.col("target_response_id").alias("response_id")).distinct()
    by_key = all_turns.join(keys.distinct(), TURN, how="left_semi")
    by_response = all_turns.join(judged, ["tenant", "response_id"], how="left_semi")
    touched = [
        frame.select(*TURN, "root_id", "parent_id", F.col("conversation_ref").isNotNull().alias("is_logged"))
        for frame in (turns, by_key, by_response)
    ]
    return touched[0].unionByName(touched[1]).unionByName(touched[2]).distinct()


def known_conversations(touched: DataFrame, conversations: DataFrame) -> DataFrame:
    """Return the conversations without a logged id that a touched turn is part of or follows."""
    anonymous = touched.where(~F.col("is_logged"))
    near = anonymous.select(*ROOT, "turn_id").unionByName(anonymous.select(*ROOT, F.col("parent_id").alias("turn_id")))
    candidates = conversations.where(F.col("conversation_ref").isNull())
    candidates = candidates.join(anonymous.select(*ROOT).distinct(), ROOT, how="left_semi")
    members = candidates.select(*ROOT, "conversation_id", F.explode("turn_ids").alias("turn_id"))
    found = (
        members.join(near.distinct(), [*ROOT, "turn_id"], how="left_semi")
        .select("tenant", "conversation_id")
        .distinct()
    )
    return candidates.join(found, ["tenant", "conversation_id"], how="left_semi").select(
        *ROOT, "conversation_id", "turn_ids"
    )


def turns_to_assemble(touched: DataFrame, known: DataFrame, all_turns: DataFrame) -> DataFrame:
    """Return each current turn of the touched talks once: whole roots where a conversation id is logged, else paths."""
    logged = all_turns.join(touched.where("is_logged").select(*ROOT).distinct(), ROOT, how="left_semi")
    wanted = (
        touched.where(~F.col("is_logged"))
        .select(*TURN)
        .unionByName(known.select("tenant", F.explode("turn_ids").alias("turn_id")))
    )
    anonymous = all_turns.join(wanted.distinct(), TURN, how="left_semi").where(F.col("conversation_ref").isNull())
    return turns_current(logged.unionByName(anonymous).select(*TURNS.column_names))


def as_nodes(turns: DataFrame, turn_signals: DataFrame, feedback: DataFrame) -> DataFrame:
    """Join signals and counts of feedback to turns; ids, times and counts only."""
    # The filter of `turn_signals` may have tagged a repeat again: any of the equal rows serves.
    signals = turn_signals.groupBy(*TURN).agg(F.first("lang").alias("lang"), F.first("keep").alias("keep"))
    ratings = feedback.dropDuplicates(["tenant", "feedback_id"])
    counts = [
        F.count("*").cast("int").alias("n"),
        F.count_if((F.col("kind") == "thumb") & (F.col("value") > 0)).cast("int").alias("thumbs_up"),
        F.count_if((F.col("kind") == "thumb") & (F.col("value") < 0)).cast("int").alias("thumbs_down"),
        F.count_if(F.col("kind") == "edit").cast("int").alias("edits"),
    ]
    by_turn = ratings.where(F.col("target_turn_id").isNotNull()).select(
        "tenant", F.col("target_turn_id").alias("turn_id"), "kind", "value"
    )
    by_response = ratings.where(F.col("target_turn_id").isNull() & F.col("target_response_id").isNotNull())
    answers = turns.where(F.col("response_id").isNotNull()).select(*TURN, "response_id")
    by_response = by_response.join(
        answers.withColumnRenamed("response_id", "target_response_id"), ["tenant", "target_response_id"]
    ).select(*TURN, "kind", "value")
    judged = by_turn.unionByName(by_response).groupBy(*TURN).agg(*counts)
    at = F.coalesce("created_at", "kafka_at").alias("at")
    return (
        turns.select(*NODE_COLUMNS, at)
        .join(signals, TURN, how="left")
        .join(judged, TURN, how="left")
        .withColumn("keep", F.coalesce("keep", F.lit(False)))
        .fillna(0, subset=["n", "thumbs_up", "thumbs_down", "edits"])
    )


def assemble_conversations(nodes: DataFrame, known: DataFrame) -> DataFrame:
    """Build the conversations of each root from its nodes; ``complete`` is false and ``revision`` 1 until merged."""
    schema = T.StructType([f for f in CONVERSATIONS.spark_schema.fields if f.name not in LATER])
    assembled = nodes.groupBy(*ROOT).cogroup(known.groupBy(*ROOT)).applyInPandas(_assemble_group, schema)
    return (
        assembled.withColumn("complete", F.lit(False))
        .withColumn("revision", F.lit(1))
        .select(*CONVERSATIONS.column_names)
    )


def _assemble_group(key: tuple[str, str], nodes: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    tenant, root_id = key
    conversations = [Known(row["conversation_id"], tuple(row["turn_ids"])) for row in known.to_dict("records")]
    rows = assemble_root(root_id, list(_nodes(nodes)), conversations)
    names = [name for name in CONVERSATIONS.column_names if name not in LATER]
    return pd.DataFrame([{"tenant": tenant, **row} for row in rows], columns=names)


def _nodes(frame: pd.DataFrame) -> Iterator[Node]:
    for row in _records(frame):
        yield Node(
            turn_id=row["turn_id"],
            parent_id=row["parent_id"],
            role=row["role"],
            at=row["at"].to_pydatetime(),
            arrived=tuple(row[name] for name in ARRIVED),
            consent=row["consent"],
            system_turn_id=row["system_turn_id"],
            conversation_ref=row["conversation_ref"],
            user_ref=row["user_ref"],
            stream=row["stream"],
            lang=row["lang"],
            keep=bool(row["keep"]),
            feedback=(int(row["n"]), int(row["thumbs_up"]), int(row["thumbs_down"]), int(row["edits"])),
        )


def _records(frame: pd.DataFrame) -> Iterable[dict]:
    # A missing string reaches pandas as NaN or None; assembly wants None.
    return frame.astype(object).where(frame.notna(), None).to_dict("records")
