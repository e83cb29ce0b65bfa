"""Promote, hold or reject: a declared rule over measured evidence. No I/O, no clock."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pipelines.promotion.evidence import Evidence
from pipelines.promotion.paired_bootstrap import Interval

Verdict = Literal["promote", "hold", "reject"]


class PromotionRuleError(ValueError):
    """A rule that cannot be used. The message says what was wanted and found."""

    safe_to_show = True


@dataclass(frozen=True)
class PromotionRule:
    """What a candidate must show. A bound is broken only when the whole interval breaks it, kept when all keeps it.

    Between the two the candidate is held: more held-out rows would tell. Every finding has a sentence.
    """

    least_gain: float = 0.0
    """Nats by which the held-out objective must be better than the base's and the champion's."""
    least_prompt_gain: float = 0.01
    """Nats a token that the right prompt must be worth: about 0 where answers and prompts were mixed up."""
    most_prompt_gain_lost: float = 0.05
    """Nats a token by which prompts may be worth less than they are to the base."""
    most_regression: float = 0.05
    """Relative rise of the loss on the fixed set."""
    most_task_loss: float = 0.05
    """Points of a check (0.05 = 5 of 100 answers) by which the candidate may be worse than its reference."""
    most_refusal_rise: float = 0.05
    least_judged: float = -0.1
    """Least of wins less losses, where a judge is used."""
    most_canaries: int = 0
    """Canaries planted once that may come out."""

    @classmethod
    def declared(cls, values: Mapping[str, Any], where: str = "promotion rule") -> PromotionRule:
        """Return the rule that a mapping declares, defaults for the rest; raises ``PromotionRuleError``."""
        known = {f.name: int if isinstance(f.default, int) else float for f in fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise PromotionRuleError(f"{where}: wanted keys out of {', '.join(known)}, found {', '.join(unknown)}")
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int if known[name] is int else (int, float)):
                raise PromotionRuleError(f"{where}: wanted {name} as a number, found {type(value).__name__}")
        numbers: dict[str, Any] = {name: known[name](value) for name, value in values.items()}
        return cls(**numbers)

    @classmethod
    def read(cls, path: Path) -> PromotionRule:
        """Read the rule of a TOML file, from its table ``promotion`` where it has one."""
        try:
            declared = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PromotionRuleError(f"{path}: wanted a readable TOML file, found {type(error).__name__}") from None
        return cls.declared(declared.get("promotion", declared), str(path))


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it came out, in one sentence."""

    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class Judgement:
    """The verdict of all findings together: one reject rejects, one hold holds, else the model is promoted."""

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The strictest verdict of all findings."""
        order: tuple[Verdict, ...] = ("reject", "hold", "promote")
        return next((one for one in order if any(f.verdict == one for f in self.findings)), "hold")

    @property
    def reason(self) -> str:
        """The sentences that decided, the strictest findings alone."""
        return " ".join(f.sentence for f in self.findings if f.verdict == self.verdict)


def judge(evidence: Evidence, rule: PromotionRule = PromotionRule()) -> Judgement:  # noqa: B008 - frozen
    """Return the same judgement for the same evidence and rule."""
    return Judgement(tuple(_findings(evidence, rule)))


def _findings(evidence: Evidence, rule: PromotionRule) -> Iterator[Finding]:
    yield _below(evidence.objective_base, -rule.least_gain, "Held-out loss against the base", "nats")
    if evidence.objective_champion is not None:
        yield _below(evidence.objective_champion, -rule.least_gain, "Held-out loss against the champion", "nats")
    if evidence.prompt_gain is not None:
        yield _prompt_used(evidence.prompt_gain, rule.least_prompt_gain)
    if evidence.prompt_gain_base is not None:
        told = "Worth of the right prompt against the base"
        yield _above(evidence.prompt_gain_base, -rule.most_prompt_gain_lost, told, "nats")
    if evidence.regression is not None:
        yield _below(evidence.regression, rule.most_regression, "Loss on the fixed regression set", "relative")
    for name, found in sorted(evidence.tasks.items()):
        yield from _task(name, found, rule)
    if evidence.judged is not None:
        yield _above(evidence.judged, rule.least_judged, "Wins less losses before the judge", "a comparison")
    yield _canaries(evidence, rule)


def _task(name: str, found: Interval, rule: PromotionRule) -> Iterator[Finding]:
    """A check rejects when it is surely worse; few generated answers leave wide intervals, which hold nothing up."""
    if name == "length_ratio":
        return
    is_refusal = name == "refused"
    bound = rule.most_refusal_rise if is_refusal else rule.most_task_loss
    low, high = (found.low, found.high) if is_refusal else (-found.high, -found.low)
    told = "Refusals" if is_refusal else f"Check {name}"
    words = f"{told}: {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}] on {found.n} answers, {bound:g} allowed"
    if low > bound:
        yield Finding("reject", f"{words}: worse.")
    else:
        yield Finding("promote", f"{words}: {'kept' if high <= bound else 'not surely worse'}.")


def _prompt_used(gain: Interval, least: float) -> Finding:
    told = f"The right prompt is worth {gain.mean:.3f} nats [{gain.low:.3f}, {gain.high:.3f}], {least:g} wanted"
    if gain.high < least:
        return Finding("reject", f"{told}: answers do not depend on their prompts, as after training on mixed-up rows.")
    if gain.low < least:
        return Finding("hold", f"{told}: not sure.")
    return Finding("promote", f"{told}: used.")


def _canaries(evidence: Evidence, rule: PromotionRule) -> Finding:
    found = evidence.canaries
    if found.planted == 0:
        return Finding("promote", "No canaries were planted.")
    told = f"{found.extracted} of {found.planted} canaries planted once came out, {rule.most_canaries} allowed"
    return Finding("promote" if found.extracted <= rule.most_canaries else "reject", f"{told}.")


def _below(found: Interval, bound: float, told: str, unit: str) -> Finding:
    words = f"{told}: {found.mean:+.3f} {unit} [{found.low:+.3f}, {found.high:+.3f}] on {found.n} rows, "
    words += f"below {bound:g} wanted"
    if found.high < bound:
        return Finding("promote", f"{words}: kept.")
    if found.low > bound:
        return Finding("reject", f"{words}: broken.")
    return Finding("hold", f"{words}: not sure.")


def _above(found: Interval, bound: float, told: str, unit: str) -> Finding:
    words = f"{told}: {found.mean:+.3f} {unit} [{found.low:+.3f}, {found.high:+.3f}] on {found.n} rows, "
    words += f"above {bound:g} wanted"
    if found.low > bound:
        return Finding("promote", f"{words}: kept.")
    if found.high < bound:
        return Finding("reject", f"{words}: broken.")
    return Finding("hold", f"{words}: not sure.")
