"""Keep, wait or roll back: what people say of a promoted model against what they said of the one before. No I/O."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipelines.promotion.paired_bootstrap import Interval, seed_of
from pipelines.promotion.unpaired_bootstrap import unpaired_bootstrap

WatchVerdict = Literal["keep", "wait", "roll_back"]


@dataclass(frozen=True)
class Rating:
    """One opinion of one answer: good or not, and the keyed reference of who gave it (else of the talk)."""

    is_good: bool
    owner: str


@dataclass(frozen=True)
class WatchRule:
    """When a promoted model goes: its share of good ratings is lower by more than ``most_drop``, surely.

    Surely: the whole confidence interval lies beyond it, as in the rule of promotion. Fewer ratings or owners on either
    side decide nothing.
    """

    most_drop: float = 0.05
    """Points of the share (0.05 = 5 of 100 ratings)."""
    least_ratings: int = 50
    least_owners: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.most_drop < 1:
            raise ValueError(f"most_drop: wanted 0 to below 1, found {self.most_drop}")
        for name in ("least_ratings", "least_owners"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name}: wanted 2 or more, found {getattr(self, name)}")


@dataclass(frozen=True)
class WatchDecision:
    """A verdict with its sentence, and the figures that it rests on by name."""

    verdict: WatchVerdict
    reason: str
    numbers: dict[str, float]


def judge_feedback(
    champion: Sequence[Rating], before: Sequence[Rating], names: tuple[str, str], rule: WatchRule
) -> WatchDecision:
    """Return the same decision for the same ratings, names of the two models, and rule."""
    name, other = names
    numbers = _counted(champion, "feedback") | _counted(before, "feedback_before")
    for side, whose in ((champion, name), (before, other)):
        owners = len({rating.owner for rating in side})
        if len(side) < rule.least_ratings or owners < rule.least_owners:
            words = (
                f"{whose} has {len(side)} ratings of {owners} people, {rule.least_ratings} of "
                f"{rule.least_owners} wanted: too few to judge."
            )
            return WatchDecision("wait", words, numbers)
    found = unpaired_bootstrap(
        [float(rating.is_good) for rating in champion],
        [float(rating.is_good) for rating in before],
        [rating.owner for rating in champion],
        [rating.owner for rating in before],
        seed=seed_of(*names),
    )
    interval = {"mean": found.mean, "low": found.low, "high": found.high}
    numbers |= {f"feedback_change_{k}": v for k, v in interval.items() if math.isfinite(v)}
    verdict: WatchVerdict = "roll_back" if found.high < -rule.most_drop else "keep"
    return WatchDecision(verdict, _sentence(found, numbers, names, rule, verdict), numbers)


def _counted(ratings: Sequence[Rating], name: str) -> dict[str, float]:
    told = {f"{name}_n": float(len(ratings)), f"{name}_owners": float(len({rating.owner for rating in ratings}))}
    return told | ({name: sum(rating.is_good for rating in ratings) / len(ratings)} if ratings else {})


def _sentence(
    found: Interval, numbers: dict[str, float], names: tuple[str, str], rule: WatchRule, verdict: WatchVerdict
) -> str:
    words = (
        f"{numbers['feedback']:.1%} of {numbers['feedback_n']:.0f} ratings of {names[0]} are good, "
        f"{numbers['feedback_before']:.1%} of {numbers['feedback_before_n']:.0f} of {names[1]}: "
        f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}], a fall of {rule.most_drop:g} allowed"
    )
    return f"{words}: {'surely worse' if verdict == 'roll_back' else 'not surely worse'}."
