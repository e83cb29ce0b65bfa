"""Verdicts: why a row is dropped, by which measure and because of which other. Rules in order; the first one counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipelines.datasets import rules
from pipelines.datasets.answers import TURN
from pipelines.datasets.policy import CurationPolicy, Place
from schemas.shared_columns import CONSENTS

PLACES: tuple[Place, ...] = get_args(Place)
VERDICT = "struct<rule:string,score:double,threshold:double,matched_id:string>"


def verdict(
    rule: str | Column,
    *,
    score: float | Column | None = None,
    threshold: float | Column | None = None,
    matched_id: Column | None = None,
) -> Column:
    """Return a drop's rule, what was measured, what is allowed and the row that it repeats, as one struct."""
    parts = (rule, score, threshold, matched_id)
    return F.struct(*(part if isinstance(part, Column) else F.lit(part) for part in parts)).cast(VERDICT)


def no_verdict() -> Column:
    """Return the verdict of a row that is kept so far."""
    return F.lit(None).cast(VERDICT)


def judged(rows: DataFrame, broken: Column, why: Column) -> DataFrame:
    """Give the verdict ``why`` to rows that have none yet and where ``broken`` is true. Removes no row."""
    return rows.withColumn("verdict", F.coalesce("verdict", F.when(broken, why)))


def first_rule(answers: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Add ``verdict``: the first rule that the answer breaks, null for one worth training on. Removes no row."""
    quality = F.concat(F.lit(rules.QUALITY_PREFIX), F.coalesce("quality_reason", F.lit("unknown")))
    own = [(~F.col("keep"), verdict(quality))]
    return _first_of(answers, [*_barred(), *own, *_broken_talk(policy), *broken_bounds(policy)])


def first_rule_of_rejected(answers: DataFrame, policy: CurationPolicy) -> DataFrame:
    """Add ``verdict`` to answers that nobody is to learn from: they may be bad, but must be whole and permitted."""
    bounds = broken_bounds(policy, ("prompt", "conversation"))
    return _first_of(answers, [*_barred(), *_broken_talk(policy), *bounds])


Rule = tuple[Column, Column]


def _first_of(answers: DataFrame, ordered: Sequence[Rule]) -> DataFrame:
    return answers.withColumn("verdict", F.coalesce(*(F.when(broken, why) for broken, why in ordered)))


def _barred() -> list[Rule]:
    """Return the rules that do not look at what was said."""
    withheld = (
        F.col("path_withheld")
        | (F.col("conversation_consent") != CONSENTS[0])
        | (F.coalesce("system_consent", F.lit(CONSENTS[0])) != CONSENTS[0])
    )
    return [
        (~F.col("is_active"), verdict(rules.INACTIVE_BRANCH)),
        (F.col("is_sent_back"), verdict(rules.SENT_BACK)),
        (F.col("is_withdrawn"), verdict(rules.CONSENT_WITHDRAWN)),
        (withheld, verdict(rules.CONSENT)),
        (F.col("keep").isNull(), verdict(rules.NOT_TAGGED)),
    ]


def _broken_talk(policy: CurationPolicy) -> list[Rule]:
    """Return the rules for answers that are not whole, or whose talk is not."""
    system_lost = F.col("system_turn_id").isNotNull() & F.col("system_message").isNull()
    history_lost = F.col("has_gap") | (F.col("head_parent_id") != F.col("root_id")) | system_lost
    flag = F.least("path_flag", "system_barring_flag")
    blank = F.trim(F.regexp_replace("message.text", r"\s+", " ")) == ""
    return [
        (history_lost, verdict(rules.HISTORY_MISSING)),
        (~F.col("has_user"), verdict(rules.NO_USER_TURN)),
        (flag.isNotNull(), verdict(F.concat(F.lit(rules.FLAG_PREFIX), flag))),
        (F.lower("finish_reason").isin(*policy.cut_finishes), verdict(rules.FINISH_REASON)),
        (blank & (F.size("message.tool_calls") == 0), verdict(rules.EMPTY_REPLY)),
    ]


def broken_bounds(policy: CurationPolicy, places: Sequence[Place] = PLACES) -> list[Rule]:
    """Return for each bound of the policy when it is broken, and the verdict with the value that was measured."""
    told = []
    for nth, bound in enumerate(policy.bounds):
        if bound.place not in places:
            continue
        value = F.col(f"measure_{nth}")
        limit, threshold = bound.limit
        broken = {"above": value > threshold, "at_least": value >= threshold, "below": value < threshold}[limit]
        why = verdict(f"{rules.SIGNAL_PREFIX}{bound.name}", score=value, threshold=threshold)
        told.append((broken, why))
    return told


def once_per_turn(answers: DataFrame) -> DataFrame:
    """Keep one row per answer: paths that part later share their first turns; a path that may train comes first."""
    order = (F.col("verdict").isNotNull(), F.desc("is_active"), "started_at", "conversation_id")
    nth = F.row_number().over(Window.partitionBy(*TURN).orderBy(*order))
    return answers.withColumn("_nth", nth).where("_nth = 1").drop("_nth")
