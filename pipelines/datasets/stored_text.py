"""Examples whose strings are not those of their stored turns. Grain: one row per such example.

A second way from turns to text, beside the one that cut the examples: what does not agree was changed on the way.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.datasets.preferences import EDIT

EXAMPLE = ["tenant", "example_id"]


def unlike_turns(examples: DataFrame, turns: DataFrame, feedback: DataFrame | None = None) -> DataFrame:
    """Return (tenant, example_id) of examples with a message that differs from its turn, or that has none.

    ``turns`` is the view ``turns_current``. Compared are role, text, calls and the id of the answered call, message by
    message in the order of ``turn_ids``, and the tools with those of the last; the chosen side of an edit is compared
    with the text of its feedback.
    """
    is_edit = F.coalesce(F.col("evidence") == EDIT, F.lit(False))
    none = F.array().cast(examples.schema["prompt"].dataType)
    said = F.concat(
        "prompt", *(F.coalesce(name, none) for name in ("completion", "rejected")),
        F.when(is_edit, none).otherwise(F.coalesce("chosen", none)),
    )  # fmt: skip
    placed = examples.select(*EXAMPLE, F.posexplode(F.arrays_zip(said.alias("said"), "turn_ids")).alias("place", "at"))
    placed = placed.select(*EXAMPLE, F.col("at.turn_ids").alias("turn_id"), F.col("at.said").alias("said"))
    stored = turns.select("tenant", "turn_id", F.struct("role", "text", "tool_calls", "tool_call_id").alias("stored"))
    read = placed.join(stored, ["tenant", "turn_id"], how="left")
    no_calls = F.array().cast(examples.schema["prompt"].dataType.elementType["tool_calls"].dataType)
    same = (
        (F.col("said.role") == F.col("stored.role"))
        & (F.col("said.text") == F.coalesce("stored.text", F.lit("")))
        & (F.col("said.tool_calls") == F.coalesce("stored.tool_calls", no_calls))
        & F.col("said.tool_call_id").eqNullSafe(F.col("stored.tool_call_id"))
    )
    unlike = read.where(~F.coalesce(same, F.lit(False))).select(*EXAMPLE)
    unlike = unlike.unionByName(_unlike_tools(examples, turns))
    if feedback is not None:
        unlike = unlike.unionByName(_unlike_edits(examples.where(is_edit), feedback))
    return unlike.distinct()


def _unlike_tools(examples: DataFrame, turns: DataFrame) -> DataFrame:
    told = examples.select(*EXAMPLE, F.element_at("turn_ids", -1).alias("turn_id"), F.col("tools").alias("told"))
    offered = turns.select("tenant", "turn_id", "tools")
    return told.join(offered, ["tenant", "turn_id"], how="left").where("NOT (told <=> tools)").select(*EXAMPLE)


def _unlike_edits(edits: DataFrame, feedback: DataFrame) -> DataFrame:
    texts = feedback.select("tenant", "feedback_id", F.col("text").alias("written")).distinct()
    told = edits.select(*EXAMPLE, "chosen", F.get("feedback_ids", F.lit(0)).alias("feedback_id"))
    chosen = F.get("chosen", F.lit(0))
    same = (F.size("chosen") == 1) & (chosen["role"] == "assistant") & (chosen["text"] == F.col("written"))
    found = told.join(texts, ["tenant", "feedback_id"], how="left").groupBy(*EXAMPLE)
    return found.agg(F.bool_or(F.coalesce(same, F.lit(False))).alias("same")).where("NOT same").select(*EXAMPLE)
