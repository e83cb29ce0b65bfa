"""The trial of a candidate: base, champion and candidate are loaded one after the other, measured and judged."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.promotion.evaluation import Compared, evidence_of
from pipelines.promotion.evidence import CanaryFigures, Evidence
from pipelines.promotion.judge import Judge, compare_answers
from pipelines.promotion.measure import Measured, Plan, RowSet, measure, measure_canaries
from pipelines.promotion.paired_bootstrap import seed_of
from pipelines.promotion.rule import Judgement, PromotionRule, judge
from pipelines.training.model_folder import load_base, load_model
from pipelines.training.objectives import method_of
from pipelines.training.polite_threads import polite_threads

Loaded = tuple[Any, Any]


@dataclass(frozen=True)
class Contenders:
    """Folders of the models. ``base`` is the base's own folder; ``champion_base`` that of the champion's base."""

    candidate: Path
    base: Path
    champion: Path | None = None
    champion_base: Path | None = None


@dataclass(frozen=True)
class Trial:
    """What was measured and how it was judged."""

    evidence: Evidence
    judgement: Judgement


def try_candidate(
    name: str,
    contenders: Contenders,
    rows: RowSet,
    plan: Plan = Plan(),  # noqa: B008 - frozen
    rule: PromotionRule = PromotionRule(),  # noqa: B008
    judge_model: Judge | None = None,
    judged_at_once: int = 1,
) -> Trial:
    """Measure and judge the candidate ``name``; one model is in memory at a time.

    ``judge_model`` is asked about ``judged_at_once`` pairs of answers at a time. A trial whose judge decides nothing
    holds the candidate.

    Raises ``ValueError`` for a set without held-out rows, or of which none fits.
    """
    if not rows.held_out:
        raise ValueError("trial: wanted held-out rows to judge on, found none")
    base, _ = _measured(lambda: load_base(contenders.base), rows, plan)
    champion = None
    if contenders.champion is not None:
        folder = contenders.champion
        champion, _ = _measured(lambda: load_model(folder, contenders.champion_base), rows, plan)
    candidate, canaries = _measured(
        lambda: load_model(contenders.candidate, contenders.base), rows, plan, ask_for_canaries=True
    )
    compared = Compared(candidate, base, champion)
    judged = None
    if judge_model is not None:
        judged = compare_answers(judge_model, rows.held_out, compared, seed_of(name), judged_at_once)
    method = method_of(rows.held_out[0].row)
    evidence = evidence_of(compared, rows.held_out, method, canaries=canaries, judged=judged, name=name)
    return Trial(evidence, judge(evidence, rule))


def _measured(
    load: Callable[[], Loaded], rows: RowSet, plan: Plan, *, ask_for_canaries: bool = False
) -> tuple[Measured, CanaryFigures]:
    """Load a model, measure it and let it go."""
    import torch

    model, tokenizer = load()
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    canaries = CanaryFigures()
    with polite_threads():
        measured = measure(model, tokenizer, rows, plan)
        if ask_for_canaries:
            canaries = measure_canaries(model, tokenizer, rows.canaries, plan, seed_of("canaries"))
    del model
    gc.collect()
    return measured, canaries
