"""What every example has, whatever its kind: an id, a split, the key of its content; and how a drop is told."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.repeats import content_key
from schemas import DROPS, TRAINING_EXAMPLES

UNVERSIONED = "dataset_version"
EXAMPLE_COLUMNS = [name for name in TRAINING_EXAMPLES.column_names if name != UNVERSIONED]
DROP_COLUMNS = [name for name in DROPS.column_names if name != UNVERSIONED]
SplitBucket = Callable[[str, str], int]
Hold = Callable[[DataFrame], DataFrame]


def with_identity(rows: DataFrame, kind: str, split: Column) -> DataFrame:
    """Add ``example_id`` of kind, tenant and ``turn_id`` (the subject), ``content_key`` and ``split``; drop verdicts.

    Rows have ``prompt`` and the sides of their kind.
    """
    identity = F.concat_ws("\x1f", F.lit(kind), "tenant", "turn_id")
    return (
        rows.withColumn("example_id", F.sha2(identity, 256).substr(1, 32))
        .withColumn("content_key", content_key(*sides_of(rows)))
        .withColumn("user_ref", F.col("conversation_user_ref"))
        .withColumn("split", split)
        .drop("verdict")
    )


def sides_of(rows: DataFrame) -> list[str]:
    """Return the columns of messages behind the prompt that rows have."""
    return [name for name in ("completion", "chosen", "rejected") if name in rows.columns]


def owner(conversation_id: str = "conversation_id", user_ref: str = "conversation_user_ref") -> Column:
    """Return who decides the split: the user or, where none was logged, the conversation."""
    return F.coalesce(user_ref, conversation_id)


def split_of(split_bucket: SplitBucket, policy: CurationPolicy) -> Callable[..., Column]:
    """Return a function of the columns tenant and owner that gives the split."""

    @F.pandas_udf(T.StringType())  # type: ignore[untyped-decorator]
    def split_of_owner(tenant: pd.Series, owner: pd.Series) -> pd.Series:
        pairs = zip(tenant, owner, strict=True)
        return pd.Series([policy.split(split_bucket(t, o)) for t, o in pairs], dtype=object)

    return split_of_owner


def with_system(messages: Column, system: str = "system_message") -> Column:
    """Return messages behind the system message in force, where there is one."""
    return F.concat(F.array_compact(F.array(system)), messages)


def as_examples(kept: DataFrame, kind: str) -> DataFrame:
    """Finish the rows of ``training_examples``: what a kind does not have is null. ``key_epochs`` stays beside."""
    types = {field.name: field.dataType for field in TRAINING_EXAMPLES.spark_schema.fields}
    kept = kept.withColumn("kind", F.lit(kind))
    if "feedback_ids" not in kept.columns:
        kept = kept.withColumn("feedback_ids", F.array().cast("array<string>"))
    columns = [F.col(n) if n in kept.columns else F.lit(None).cast(types[n]).alias(n) for n in EXAMPLE_COLUMNS]
    return kept.select(*columns, "key_epochs")


def as_drops(dropped: DataFrame, subject: str = "turn", id_column: str | None = None) -> DataFrame:
    """Finish the rows of ``drops``: what was dropped is in ``SUBJECT_id`` or in ``id_column``."""
    subject_id = F.col(id_column or f"{subject}_id").alias("subject_id")
    return dropped.select("tenant", subject_id, F.lit(subject).alias("subject"), "verdict.*").select(*DROP_COLUMNS)
