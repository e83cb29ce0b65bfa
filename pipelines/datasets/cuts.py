"""What a cut of each kind looks at before examples are compared: candidates, and drops with their first rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.answers import TURN, answers
from pipelines.datasets.candidates import Hold, as_drops, owner
from pipelines.datasets.judged_answers import paths_of_answers, spoken_answers
from pipelines.datasets.judgements import sent_back
from pipelines.datasets.pairs import pair_candidates, paired, policy_for_pairs, rejected_owner
from pipelines.datasets.policy import CurationPolicy, Kind
from pipelines.datasets.preference_pairs import liked_and_disliked, most_trusted, pairs_of_answers, votes_between_talks
from pipelines.datasets.preferences import NEAR_EQUAL_PROMPTS
from pipelines.datasets.supervised import answer_candidates, with_sent_back
from pipelines.datasets.unpaired import labelled, labels_of
from pipelines.datasets.verdicts import first_rule, judged, once_per_turn, verdict

Split = Callable[..., Column]
NearDuplicatesFinder = Callable[[DataFrame, float], DataFrame]
THUMBS, OTHER_KINDS = ("thumb",), ("edit", "regenerate", "retry", "vote", "rank")


@dataclass(frozen=True)
class Talks:
    """Complete conversations with their turns and signals; ``judgements`` of answers, None where nobody was asked."""

    conversations: DataFrame
    turns: DataFrame
    turn_signals: DataFrame
    judgements: DataFrame | None = None


@dataclass(frozen=True)
class Candidates:
    """Rows that broke no rule so far, and the columns of ``drops`` of those that did."""

    rows: DataFrame
    drops: DataFrame


Cut = Callable[[Talks, Split, CurationPolicy, NearDuplicatesFinder | None, Hold], Candidates]


def supervised(
    talks: Talks, split: Split, policy: CurationPolicy, find: NearDuplicatesFinder | None, hold: Hold
) -> Candidates:
    """Take each answer of an active path; other branches are drops."""
    told = answers(talks.conversations, talks.turns, talks.turn_signals, policy)
    told = with_sent_back(told, None if talks.judgements is None else sent_back(talks.judgements))
    rows = hold(told.transform(first_rule, policy).transform(once_per_turn))
    sound = answer_candidates(rows.where("verdict IS NULL"), split("tenant", owner()))
    return Candidates(sound, rows.where("verdict IS NOT NULL").transform(as_drops))


def preference(
    talks: Talks, split: Split, policy: CurationPolicy, find: NearDuplicatesFinder | None, hold: Hold
) -> Candidates:
    """Take each two answers that somebody compared, and each edit."""
    told = _judgements(talks)
    usable = told.where("verdict IS NULL")
    paths = hold(paths_of_answers(talks.conversations, talks.turns, usable))
    found = [pairs_of_answers(paths, usable, policy.evidence), votes_between_talks(paths, usable)]
    kinds: tuple[str, ...] = OTHER_KINDS
    if NEAR_EQUAL_PROMPTS in policy.evidence:
        found.append(_weak_pairs(talks, paths, usable, policy, find, hold))
        kinds += THUMBS
    pairs = reduce(DataFrame.unionByName, found).where(F.col("evidence").isin(*policy.evidence))
    pairs = hold(pairs.transform(most_trusted))
    sides = [pairs.select("tenant", F.col(name).alias("turn_id")) for name in ("chosen_id", "rejected_id")]
    own = policy_for_pairs(policy)
    spoken = hold(_spoken(talks, sides[0].unionByName(sides[1]), paths, own))
    rows = paired(pairs, spoken, usable.where("kind = 'edit'"), own)
    own_split, other_split = split("tenant", owner()), split("tenant", rejected_owner())
    rows = hold(judged(rows, own_split != other_split, verdict(rules.SPLIT_LEAK)))
    drops = rows.where("verdict IS NOT NULL").transform(as_drops, "pair", "turn_id")
    return Candidates(
        pair_candidates(rows.where("verdict IS NULL"), own_split), drops.unionByName(_unusable(told, kinds))
    )


def unpaired(
    talks: Talks, split: Split, policy: CurationPolicy, find: NearDuplicatesFinder | None, hold: Hold
) -> Candidates:
    """Take each answer that somebody gave a thumb."""
    told = _judgements(talks)
    labels = hold(labels_of(told.where("verdict IS NULL")))
    paths = hold(paths_of_answers(talks.conversations, talks.turns, labels))
    own = policy_for_pairs(policy)
    rows = hold(labelled(_spoken(talks, labels, paths, own), labels, own))
    drops = rows.where("verdict IS NOT NULL").transform(as_drops).unionByName(_unusable(told, THUMBS))
    return Candidates(answer_candidates(rows.where("verdict IS NULL"), split("tenant", owner()), "unpaired"), drops)


CUTS: Mapping[Kind, Cut] = {
    "sft": supervised,
    "conversation": supervised,
    "preference": preference,
    "unpaired": unpaired,
}


def _judgements(talks: Talks) -> DataFrame:
    if talks.judgements is None:
        raise ValueError("cut: wanted the table feedback for examples that people judged, found none")
    return talks.judgements


def _unusable(told: DataFrame, kinds: tuple[str, ...]) -> DataFrame:
    return told.where(F.col("verdict").isNotNull() & F.col("kind").isin(*kinds)).transform(as_drops, "feedback")


def _spoken(talks: Talks, wanted: DataFrame, paths: DataFrame, policy: CurationPolicy) -> DataFrame:
    return spoken_answers(wanted, paths, talks.conversations, talks.turns, talks.turn_signals, policy)


def _weak_pairs(
    talks: Talks,
    paths: DataFrame,
    usable: DataFrame,
    policy: CurationPolicy,
    find: NearDuplicatesFinder | None,
    hold: Hold,
) -> DataFrame:
    """Return liked before disliked answers to near-equal prompts; prompts are compared whole."""
    labels = hold(labels_of(usable).where("label IS NOT NULL"))
    spoken = _spoken(talks, labels, paths, policy_for_pairs(policy))
    text = F.array_join(F.transform("before", lambda m: m["text"]), "\n")
    asked = hold(spoken.select(*TURN, "at", text.alias("text")))
    equal = Window.partitionBy("tenant", "text")
    asked = asked.withColumn("_first", F.min_by("turn_id", F.struct("at", "turn_id")).over(equal))
    alike = asked.select("tenant", F.col("turn_id").alias("subject_id"), F.col("_first").alias("matched_id"))
    if find is not None:
        firsts = asked.where("turn_id = _first").select("tenant", F.col("turn_id").alias("subject_id"), "at", "text")
        found = find(firsts, policy.near_duplicates.threshold)
        near = found.select("tenant", F.col("subject_id").alias("matched_id"), F.col("matched_id").alias("_near"))
        alike = alike.join(near, ["tenant", "matched_id"], how="left")
        alike = alike.withColumn("matched_id", F.coalesce("_near", "matched_id")).drop("_near")
    return liked_and_disliked(labels.join(asked.select(*TURN, "at"), TURN), alike)
