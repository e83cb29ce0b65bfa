"""Answers -> candidates for supervised examples: one an answer, or one a talk with all of its answers."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.datasets.answers import TURN
from pipelines.datasets.candidates import with_identity, with_system
from pipelines.datasets.repeats import exchange

KIND = "sft"
TALK = ["tenant", "conversation_id"]


def with_sent_back(answers: DataFrame, sent_back: DataFrame | None) -> DataFrame:
    """Add ``is_sent_back`` to answers in whose place a user asked for another one (tenant, turn_id). Removes no row."""
    if sent_back is None:
        return answers.withColumn("is_sent_back", F.lit(False))
    told = sent_back.distinct().withColumn("is_sent_back", F.lit(True))
    return answers.join(told, TURN, how="left").fillna(False, subset=["is_sent_back"])


def answer_candidates(sound: DataFrame, split: Column, kind: str = KIND) -> DataFrame:
    """Add prompt and completion, ids, split and what answers are compared by; rows have no broken rule."""
    system_id = F.array_compact(F.array(F.when(F.col("system_message").isNotNull(), F.col("system_turn_id"))))
    rows = (
        sound.withColumn("prompt", with_system(F.col("before")))
        .withColumn("completion", F.array("message"))
        .withColumn("exchange", exchange())
        .withColumn("turn_ids", F.concat(system_id, "path_ids"))
        .withColumn("key_epochs", F.array_union("path_epochs", F.array_compact(F.array("system_key_epoch"))))
    )
    return with_identity(rows, kind, split)


def whole_talks(kept: DataFrame) -> DataFrame:
    """Fold the answers that stay of a talk into one row: the talk up to the last of them, with its loss mask.

    ``completion`` begins with the first answer to learn; ``loss_mask`` says of each of its messages whether it is one.
    The system message is that of the last answer. Source, model and time are those of the last answer too.
    """
    places = F.array_sort(F.collect_set(F.size("before"))).alias("_places")
    last = F.max_by(F.struct(*kept.columns), F.size("before")).alias("_last")
    told = kept.groupBy(*TALK).agg(places, last, F.max(F.size("before")).alias("_end"))
    told = told.select("tenant", "_places", "_end", *(f"_last.{n}" for n in kept.columns if n != "tenant"))
    first = F.element_at("_places", 1)
    spoken = F.concat("before", F.array("message"))
    mask = F.transform(F.sequence(first, F.col("_end")), lambda place: F.array_contains("_places", place))
    identity = F.concat_ws("\x1f", F.lit("conversation"), "tenant", "conversation_id")
    return (
        told.withColumn("prompt", with_system(F.slice(spoken, 1, first)))
        .withColumn("completion", F.slice(spoken, first + 1, F.col("_end") + 1 - first))
        .withColumn("loss_mask", mask)
        .withColumn("example_id", F.sha2(identity, 256).substr(1, 32))
        .drop("_places", "_end")
    )
