"""Conversations -> examples and drops. Grain: one row per answer, pair or talk, in exactly one of the two.

Not row-wise: a batch stage. Text moves once, from turns into the prompt of each answer; all that is judged after that
are narrow rows. What it returns follows from its inputs alone: no earlier version is looked at, so that a cut can be
repeated, and a row whose reason went (a withdrawn original, say) comes back by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.conversations.consent import with_withdrawals
from pipelines.datasets import rules
from pipelines.datasets.answers import TURN
from pipelines.datasets.candidates import Hold, SplitBucket, as_drops, as_examples, sides_of, split_of
from pipelines.datasets.caps import capped
from pipelines.datasets.contamination import contaminated
from pipelines.datasets.cuts import CUTS, Talks
from pipelines.datasets.judgements import judgements
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.repeats import exact_duplicates, exchanges, near_duplicates, semantic_exchanges
from pipelines.datasets.semantic_duplicates import find_semantic_duplicates
from pipelines.datasets.supervised import whole_talks
from pipelines.datasets.topic_rows import Topic, with_topics
from pipelines.datasets.verdicts import no_verdict, verdict

JUDGED = (*TURN, "example_id", "at", "content_key", "split", "source", "conversation_id", "user_ref")


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

    ``near_duplicates`` takes rows of ``exchanges``, or the first four of their columns, and a threshold; it returns
    (tenant, subject_id, matched_id, score): each subject at most once, matched to a row that matches none itself.
    ``benchmarks`` takes (tenant, example_id, prompt and the sides of the kind) and returns columns of ``LEAK_FLAGS``.
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
    feedback: DataFrame | None = None,
    withdrawals: DataFrame | None = None,
    finders: Finders = Finders(),  # noqa: B008 - frozen
    hold: Hold = lambda frame: frame,
) -> Curated:
    """Cut complete conversations into examples of the policy's kind.

    ``turns`` is the view ``turns_current``; ``split_bucket`` maps (tenant, user_ref or conversation_id) to 0..99 and is
    pickled into the Python workers; ``feedback`` is the table, without which nothing judged can be cut; ``withdrawals``
    is the table ``consent_withdrawals``; ``hold`` may persist frames that are read more than once.
    Supervised: every answer on an active path is, or is part of, one example or is one drop; an answer on another
    branch is a drop (``inactive_branch``). Judged: every pair, or every answer with a thumb, is an example or a drop.
    A conversation that may still grow is one drop (``not_complete``), feedback that fits no answer another.
    """
    if withdrawals is None:
        conversations = conversations.withColumn("is_withdrawn", F.lit(False))
    else:
        conversations = with_withdrawals(conversations, withdrawals)
    told = None if feedback is None else hold(judgements(feedback, turns, withdrawals))
    talks = Talks(conversations.where("complete"), turns, turn_signals, told)
    cut = CUTS[policy.kind](talks, split_of(split_bucket, policy), policy, finders.near_duplicates, hold)
    candidates = hold(cut.rows)
    compared, flags, topics = compare(candidates, policy, finders, hold)
    kept = candidates.join(compared.where("verdict IS NULL").select(*TURN), TURN, how="left_semi")
    subject = "pair" if policy.kind == "preference" else "turn"
    drops = (
        cut.drops.unionByName(compared.where("verdict IS NOT NULL").transform(as_drops, subject, "turn_id"))
        .unionByName(incomplete_conversations(conversations).transform(as_drops, "conversation"))
    )  # fmt: skip
    placed = compared.where("verdict IS NULL").select("tenant", "example_id", "topic")
    if policy.kind == "conversation":
        kept = hold(kept.transform(whole_talks))
        placed = kept.select("tenant", "example_id", F.lit(None).cast("int").alias("topic"))
    return Curated(as_examples(kept, policy.kind), drops, placed, flags, tuple(topics))


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
    rows = said_in_other_words(rows, candidates, policy, finders, hold)
    flags = None
    if finders.benchmarks is not None:
        standing = rows.where("verdict IS NULL").select(*TURN)
        texts = candidates.join(standing, TURN, how="left_semi")
        flags = hold(finders.benchmarks(texts.select("tenant", "example_id", "prompt", *sides_of(texts))))
        rows = hold(contaminated(rows, flags, policy.contamination))
    topics: list[Topic] = []
    rows = rows.withColumn("topic", F.lit(None).cast("int"))
    if policy.topics.wanted and finders.embeddings is not None:
        rows, topics = with_topics(rows.drop("topic"), candidates, finders.embeddings, policy)
    return hold(capped(rows, policy)), flags, topics


def said_in_other_words(
    rows: DataFrame, candidates: DataFrame, policy: CurationPolicy, finders: Finders, hold: Hold
) -> DataFrame:
    """Judge rows whose question and answer repeat an earlier one in other words, where the policy wants that."""
    settings = policy.near_duplicates
    threshold, embeddings = settings.semantic_threshold, finders.embeddings
    if threshold is None or embeddings is None or "text_hash" not in candidates.columns:
        return rows
    if settings.semantic_languages:
        candidates = candidates.where(F.col("language").isin(*settings.semantic_languages))
    found = hold(find_semantic_duplicates(semantic_exchanges(rows, candidates, settings), embeddings, threshold))
    return hold(near_duplicates(rows, found, settings, rule=rules.SEMANTIC_DUPLICATE, threshold=threshold))


def incomplete_conversations(conversations: DataFrame) -> DataFrame:
    """Return the conversations that may still grow; their answers are not looked at yet."""
    growing = conversations.where(~F.col("complete"))
    return growing.select("tenant", "conversation_id").withColumn("verdict", verdict(rules.NOT_COMPLETE))
