"""Judgements -> the answers that they are about, on whatever branch, with all that was said before them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets.answer_paths import PathStep, answer_paths
from pipelines.datasets.answers import CONVERSATION, TURN, conversation_facts, spoken
from pipelines.datasets.policy import CurationPolicy
from schemas.shared_columns import ARRIVAL

STEP_COLUMNS = ("turn_id", "parent_id", "role", "place")
PATHS = pa.schema(
    [
        ("tenant", pa.string()),
        ("conversation_id", pa.string()),
        ("turn_id", pa.string()),
        ("path_ids", pa.list_(pa.string())),
        ("asked_id", pa.string()),
        ("is_active", pa.bool_()),
        ("closes", pa.bool_()),
        ("is_continued", pa.bool_()),
    ]
)
PATHS_DDL = (
    "tenant string, conversation_id string, turn_id string, path_ids array<string>, asked_id string, "
    "is_active boolean, closes boolean, is_continued boolean"
)


def paths_of_answers(conversations: DataFrame, turns: DataFrame, judged: DataFrame) -> DataFrame:
    """Return the answers of conversations that a judgement touches or that have branches, each once, with their paths.

    Columns of ``PATHS``, and ``is_logged``, ``response_id`` and ``arrived``, by the log's time and then by arrival. Ids
    only. An answer of several conversations is told of one where it is active and went on, if there is one.
    """
    ids = turns.select(*TURN, "parent_id", "role")
    steps = _members(_touched(conversations, ids, judged)).join(ids, TURN, how="left")
    paths = steps.groupBy(*CONVERSATION).applyInArrow(_paths_of_group, PATHS_DDL)
    shown = conversations.select(*CONVERSATION, F.col("conversation_ref").isNotNull().alias("is_logged"))
    arrived = F.struct(F.coalesce("created_at", "kafka_at").alias("at"), *ARRIVAL).alias("arrived")
    facts = turns.select(*TURN, "response_id", arrived)
    best = Window.partitionBy(*TURN).orderBy(F.desc("is_active"), F.desc("is_continued"), "conversation_id")
    told = paths.join(shown, CONVERSATION).join(facts, TURN)
    return told.withColumn("_nth", F.row_number().over(best)).where("_nth = 1").drop("_nth")


def spoken_answers(
    wanted: DataFrame, paths: DataFrame, conversations: DataFrame, turns: DataFrame, turn_signals: DataFrame,
    policy: CurationPolicy,
) -> DataFrame:  # fmt: skip
    """Return the answers in ``wanted`` (tenant, turn_id) as ``answers.answers`` does, each on its own path."""
    needed = paths.join(wanted.select(*TURN).distinct(), TURN, how="left_semi")
    told = needed.select(
        *CONVERSATION, F.col("turn_id").alias("answer_id"), F.posexplode("path_ids").alias("position", "turn_id")
    )
    places = told.join(conversations.select(*CONVERSATION, *conversation_facts(policy)), CONVERSATION)
    places = places.withColumn("is_active", F.lit(True)).withColumn("is_sent_back", F.lit(False))
    return spoken(places, turns, turn_signals, policy, "answer_id").where("turn_id = answer_id")


def _members(conversations: DataFrame) -> DataFrame:
    """Return the turns of conversations; ``place`` is null on other branches."""
    active = conversations.select(*CONVERSATION, F.posexplode("turn_ids").alias("place", "turn_id"))
    others = conversations.select(*CONVERSATION, F.explode("branch_turn_ids").alias("turn_id"))
    return active.unionByName(others.withColumn("place", F.lit(None).cast("int")))


def _touched(conversations: DataFrame, ids: DataFrame, judged: DataFrame) -> DataFrame:
    """Return the conversations that have branches, or a judged answer, or another answer to the same turn."""
    named = judged.select(*TURN).dropna().distinct()
    parents = ids.join(named, TURN, how="left_semi").select("tenant", "parent_id").distinct()
    siblings = ids.where("role = 'assistant'").join(parents, ["tenant", "parent_id"], how="left_semi").select(*TURN)
    members = _members(conversations).join(siblings.unionByName(named).distinct(), TURN, how="left_semi")
    branched = conversations.where(F.size("branch_turn_ids") > 0).select(*CONVERSATION)
    touched = members.select(*CONVERSATION).unionByName(branched).distinct()
    return conversations.join(touched, CONVERSATION, how="left_semi")


def _paths_of_group(key: tuple[pa.Scalar, ...], steps: pa.Table) -> pa.Table:
    tenant, conversation_id = (part.as_py() for part in key)
    paths = answer_paths(_steps(steps.select(STEP_COLUMNS).to_pylist()))
    rows = [
        {
            "tenant": tenant,
            "conversation_id": conversation_id,
            "turn_id": path.turn_id,
            "path_ids": list(path.path_ids),
            "asked_id": path.asked_id,
            "is_active": path.is_active,
            "closes": path.closes,
            "is_continued": path.is_continued,
        }
        for path in paths
    ]
    return pa.Table.from_pylist(rows, schema=PATHS)


def _steps(rows: Iterable[dict[str, Any]]) -> list[PathStep]:
    return [PathStep(row["turn_id"], row["parent_id"] or "", row["role"] or "", row["place"]) for row in rows]
