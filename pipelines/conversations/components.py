"""Turns -> the tree that each belongs to. Grain: one row per turn, in and out.

Talks without a logged id share one root for all of a tenant's stream, so that a root has no bound; a tree has.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas.shared_columns import ARRIVAL

TURN = ["tenant", "turn_id"]
MAX_ROUNDS = 24
"""Each round doubles the steps up that are known: enough for 2^24 turns in a row. Responses that name each other in a
circle have no top and stop here."""

Hold = Callable[[DataFrame], DataFrame]


def with_trees(nodes: DataFrame, hold: Hold) -> DataFrame:
    """Add ``tree``: root_id for talks with a logged id, else the first of ``nodes`` that the turn goes back to.

    Follows parents and, where the parent is not there, chains of responses. ``hold`` cuts the plan and keeps the rows,
    for instance ``localCheckpoint``: it is called once a round, log2 of the longest talk in all.
    """
    anonymous = nodes.where(F.col("conversation_ref").isNull())
    steps = hold(steps_up(anonymous))
    for _ in range(MAX_ROUNDS):
        above = steps.select("tenant", F.col("turn_id").alias("top"), F.col("top").alias("higher"))
        higher = steps.join(above, ["tenant", "top"])
        if higher.where("higher <> top").isEmpty():
            break
        steps = hold(higher.select(*TURN, F.col("higher").alias("top")))
    tree = F.when(F.col("conversation_ref").isNull(), F.col("top")).otherwise(F.col("root_id"))
    return nodes.join(steps, TURN, how="left").withColumn("tree", tree).drop("top")


def steps_up(nodes: DataFrame) -> DataFrame:
    """Return (tenant, turn_id, top): the turn before each one among ``nodes``, or the turn itself."""
    here = nodes.select("tenant", F.col("turn_id").alias("parent_id"), F.lit(True).alias("_is_here"))
    newest = F.row_number().over(
        Window.partitionBy("tenant", "root_id", "response_id").orderBy(*(F.desc(name) for name in ARRIVAL))
    )
    answers = nodes.where(F.col("response_id").isNotNull()).withColumn("_nth", newest).where("_nth = 1")
    answers = answers.select(
        "tenant",
        "root_id",
        F.col("response_id").alias("previous_response_id"),
        F.col("turn_id").alias("_answer"),
    )
    before = F.when(F.col("_is_here"), F.col("parent_id")).otherwise(F.col("_answer"))
    return (
        nodes.join(here, ["tenant", "parent_id"], how="left")
        .join(answers, ["tenant", "root_id", "previous_response_id"], how="left")
        .select(*TURN, F.coalesce(before, "turn_id").alias("top"))
    )


def known_trees(known: DataFrame, nodes: DataFrame) -> DataFrame:
    """Add ``tree`` to conversations without a logged id, by their last turns among ``nodes``, which have theirs."""
    # As an alias it is a column of its own: the same one on both sides of a cogroup is ambiguous.
    trees = nodes.select("tenant", F.col("turn_id").alias("_last"), F.col("tree").alias("tree"))
    return known.withColumn("_last", F.element_at("turn_ids", -1)).join(trees, ["tenant", "_last"]).drop("_last")
