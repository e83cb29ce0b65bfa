"""Conversations -> examples and drops. Grain: one row per answer of an active path, in exactly one of the two.

Not row-wise: a batch stage. Text moves once, from turns into the prompt of each answer; all that is judged after that
are narrow rows. What it returns follows from its inputs alone: no earlier version is looked at, so that a cut can be
repeated, and a row whose reason went (a withdrawn original, say) comes back by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.conversations.consent import with_withdrawals
from pipelines.datasets import rules
from pipelines.datasets.answers import TURN, answers
from pipelines.datasets.caps import capped
from pipelines.datasets.contamination import contaminated
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.repeats import content_key, exact_duplicates, exchange, exchanges, near_duplicates
from pipelines.datasets.topic_rows import Topic, with_topics
from pipelines.datasets.verdicts import first_rule, no_verdict, once_per_turn, verdict
from schemas import DROPS, TRAINING_EXAMPLES

UNVERSIONED = "dataset_version"
EXAMPLE_COLUMNS = [name for name in TRAINING_EXAMPLES.column_names if name != UNVERSIONED]
DROP_COLUMNS = [name for name in DROPS.column_names if name != UNVERSIONED]
JUDGED = (*TURN, "example_id", "at", "content_key", "split", "source", "conversation_id", "user_ref")
SplitBucket = Callable[[str, str], int]
Hold = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Curated:
    """What a cut makes: columns of ``training_examples`` and of ``drops``, both still without a dataset version.

    ``examples`` has one column more, ``key_epochs``: epochs of the surrogate keys that its texts were written under.
    ``flags`` are what was found of benchmarks (None where none were given). ``topics`` are those of every tenant,
    ``placed`` says which example has which (tenant, example_id, topic).
    """

    examples: DataFrame
    drops: DataFrame
    placed: DataFrame
    flags: DataFrame | None = None
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True)
class Finders:
    """What looks over all examples at once, beside the policy.

    ``near_duplicates`` takes (tenant, subject_id, at, text) and a threshold, and returns (tenant, subject_id,
    matched_id, score): each subject at most once, matched to a row that matches none itself. ``benchmarks`` takes
    (tenant, example_id, prompt, completion) and returns the columns of ``LEAK_FLAGS``.
    ``embeddings`` is the table. What is None is not looked for.
    """

    near_duplicates: Callable[[DataFrame, float], DataFrame] | None = None
    benchmarks: Callable[[DataFrame], DataFrame] | None = None
    embeddings: DataFrame | None = None


def curate(
    conversations: DataFrame,
    turns: DataFrame,
    turn_signals: DataFrame,
    split_bucket: SplitBucket,
    policy: CurationPolicy = CurationPolicy(),  # noqa: B008 - frozen
    *,
    withdrawals: DataFrame | None = None,
    finders: Finders = Finders(),  # noqa: B008 - frozen
    hold: Hold = lambda frame: frame,
) -> Curated:
    """Cut complete conversations into supervised examples, one for each answer of their active paths.

    ``turns`` is the view ``turns_current``; ``split_bucket`` maps (tenant, user_ref or conversation_id) to 0..99 and is
    pickled into the Python workers; ``withdrawals`` is the table ``consent_withdrawals``; ``hold`` may persist frames
    that are read more than once. Every answer on an active path is one example or one drop; an answer on another branch
    is a drop (``inactive_branch``), a conversation that may still grow is one drop (``not_complete``).
    """
    if withdrawals is None:
        conversations = conversations.withColumn("is_withdrawn", F.lit(False))
    else:
        conversations = with_withdrawals(conversations, withdrawals)
    spoken = answers(conversations.where("complete"), turns, turn_signals, policy)
    judged = hold(spoken.transform(first_rule, policy).transform(once_per_turn))
    candidates = hold(judged.where("verdict IS NULL").transform(as_candidates, split_bucket, policy))
    compared, flags, topics = compare(candidates, policy, finders, hold)
    kept = compared.where("verdict IS NULL").select(*TURN)
    examples = candidates.join(kept, TURN, how="left_semi").transform(as_examples)
    drops = (
        judged.where("verdict IS NOT NULL")
        .transform(as_drops)
        .unionByName(compared.where("verdict IS NOT NULL").transform(as_drops))
        .unionByName(incomplete_conversations(conversations).transform(as_drops, subject="conversation"))
    )
    placed = compared.where("verdict IS NULL").select("tenant", "example_id", "topic")
    return Curated(examples, drops, placed, flags, tuple(topics))


def as_candidates(judged: DataFrame, split_bucket: SplitBucket, policy: CurationPolicy) -> DataFrame:
    """Add prompt and completion, ids, split, and what examples are compared by."""
    owner = F.coalesce("conversation_user_ref", "conversation_id")
    identity = F.concat_ws("\x1f", F.lit("sft"), "tenant", "turn_id")
    return (
        judged.withColumn("prompt", F.concat(F.array_compact(F.array("system_message")), "before"))
        .withColumn("completion", F.array("message"))
        .withColumn("example_id", F.sha2(identity, 256).substr(1, 32))
        .withColumn("content_key", content_key())
        .withColumn("exchange", exchange())
        .withColumn("user_ref", F.col("conversation_user_ref"))
        .withColumn("split", _split_of(split_bucket, policy)("tenant", owner))
        .drop("verdict")
    )


def _split_of(split_bucket: SplitBucket, policy: CurationPolicy) -> Callable[..., Column]:
    @F.pandas_udf(T.StringType())  # type: ignore[untyped-decorator]
    def split_of(tenant: pd.Series, owner: pd.Series) -> pd.Series:
        pairs = zip(tenant, owner, strict=True)
        return pd.Series([policy.split(split_bucket(t, o)) for t, o in pairs], dtype=object)

    return split_of


def compare(
    candidates: DataFrame, policy: CurationPolicy, finders: Finders, hold: Hold
) -> tuple[DataFrame, DataFrame | None, list[Topic]]:
    """Judge candidates by each other and by benchmarks: repeats, leaks, contamination, caps; in this order.

    Returns rows of ``JUDGED`` with ``verdict``, null for those that stay; flags of benchmarks; topics.
    """
    rows = hold(candidates.select(*JUDGED).withColumn("verdict", no_verdict()).transform(exact_duplicates))
    if finders.near_duplicates is not None:
        settings = policy.near_duplicates
        found = hold(finders.near_duplicates(exchanges(rows, candidates, settings), settings.threshold))
        rows = hold(near_duplicates(rows, found, settings))
    flags = None
    if finders.benchmarks is not None:
        standing = rows.where("verdict IS NULL").select(*TURN)
        texts = candidates.join(standing, TURN, how="left_semi")
        flags = hold(finders.benchmarks(texts.select("tenant", "example_id", "prompt", "completion")))
        rows = hold(contaminated(rows, flags, policy.contamination))
    topics: list[Topic] = []
    rows = rows.withColumn("topic", F.lit(None).cast("int"))
    if policy.topics.wanted and finders.embeddings is not None:
        rows, topics = with_topics(rows.drop("topic"), candidates, finders.embeddings, policy)
    return hold(capped(rows, policy)), flags, topics


def as_examples(kept: DataFrame) -> DataFrame:
    """Finish the rows of ``training_examples``: kind, turn ids, key epochs."""
    system_id = F.array_compact(F.array(F.when(F.col("system_message").isNotNull(), F.col("system_turn_id"))))
    epochs = F.array_union("path_epochs", F.array_compact(F.array("system_key_epoch")))
    return (
        kept.withColumn("kind", F.lit("sft"))
        .withColumn("turn_ids", F.concat(system_id, "path_ids"))
        .withColumn("trust", F.lit(None).cast("int"))
        .withColumn("key_epochs", epochs)
        .select(*EXAMPLE_COLUMNS, "key_epochs")
    )


def incomplete_conversations(conversations: DataFrame) -> DataFrame:
    """Return the conversations that may still grow; their answers are not looked at yet."""
    growing = conversations.where(~F.col("complete"))
    return growing.select("tenant", "conversation_id").withColumn("verdict", verdict(rules.NOT_COMPLETE))


def as_drops(dropped: DataFrame, subject: str = "turn") -> DataFrame:
    """Finish the rows of ``drops`` of turns, or of conversations."""
    return dropped.select(
        "tenant", F.col(f"{subject}_id").alias("subject_id"), F.lit(subject).alias("subject"), "verdict.*"
    ).select(*DROP_COLUMNS)
