"""Candidate against base and champion: measured on the same rows, turned into differences with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.promotion.evidence import CanaryFigures, Evidence
from pipelines.promotion.held_out import JudgedRow
from pipelines.promotion.measure import Measured
from pipelines.promotion.paired_bootstrap import Interval, paired_bootstrap, seed_of
from pipelines.training.encoded_rows import RowLosses
from pipelines.training.objectives import Method

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """The models of one evaluation, measured on one set of rows. ``reference`` is the champion, else the base."""

    candidate: Measured
    base: Measured
    champion: Measured | None = None

    @property
    def reference(self) -> Measured:
        """What must not get worse."""
        return self.champion or self.base


def evidence_of(
    compared: Compared,
    held_out: Sequence[JudgedRow],
    method: Method,
    *,
    canaries: CanaryFigures = CanaryFigures(),  # noqa: B008 - frozen
    judged: Interval | None = None,
    name: str = "",
) -> Evidence:
    """Return the evidence about the candidate; the same for the same measurements and ``name``, which seeds the draws.

    Nats of supervised rows are counted per token of the reference, so that models with other tokenizers, whose nats are
    of the same text, can be compared.
    """
    owners = [row.owner for row in held_out]
    good_owners = [row.owner for row in held_out if row.good is not None]
    candidate, base, champion = compared.candidate, compared.base, compared.champion
    seed = seed_of(name)
    gain, base_gain = _prompt_gain(candidate), _prompt_gain(base)
    against_base = _objective(candidate, base, owners, method, seed)
    if against_base is None:
        raise ValueError("trial: wanted held-out rows that fit the length, found none that all models can take")
    return Evidence(
        objective_base=against_base,
        objective_champion=_objective(candidate, champion, owners, method, seed) if champion else None,
        prompt_gain=_interval(gain, good_owners, seed),
        prompt_gain_base=_interval(_less(gain, base_gain), good_owners, seed),
        regression=_regression(candidate, compared.reference, seed),
        tasks=_tasks(candidate, compared.reference, good_owners, seed),
        judged=judged,
        canaries=canaries,
        levels=_levels(compared),
    )


@dataclass(frozen=True)
class _Placed:
    """Values by the place of their row, with weights."""

    places: list[int]
    values: Floats
    weights: Floats


def _objective(one: Measured, other: Measured, owners: list[str], method: Method, seed: int) -> Interval | None:
    if method == "sft":
        first = _Placed(one.places, one.objective.values * one.objective.weights, one.objective.weights)
        second = _Placed(other.places, other.objective.values * other.objective.weights, other.objective.weights)
        return _interval(_per_token(first, second), owners, seed)
    first = _Placed(one.places, one.objective.values, one.objective.weights)
    return _interval(_less(first, _Placed(other.places, other.objective.values, other.objective.weights)), owners, seed)


def _per_token(first: _Placed, second: _Placed) -> _Placed:
    """Return the difference of summed nats per token of the second, weighted by those tokens."""
    places, i, j = _common(first, second)
    return _Placed(places, (first.values[i] - second.values[j]) / second.weights[j], second.weights[j])


def _less(first: _Placed, second: _Placed) -> _Placed:
    places, i, j = _common(first, second)
    return _Placed(places, first.values[i] - second.values[j], second.weights[j])


def _common(first: _Placed, second: _Placed) -> tuple[list[int], list[int], list[int]]:
    """Return the places that both have, and where they stand in each."""
    in_second = {place: j for j, place in enumerate(second.places)}
    both = [(place, i, in_second[place]) for i, place in enumerate(first.places) if place in in_second]
    return [place for place, _, _ in both], [i for _, i, _ in both], [j for _, _, j in both]


def _interval(found: _Placed, owners: Sequence[str] | None, seed: int) -> Interval | None:
    if not found.places:
        return None
    drawn = None if owners is None else [owners[place] for place in found.places]
    return paired_bootstrap(found.values, found.weights, drawn, seed=seed)


def _prompt_gain(model: Measured) -> _Placed:
    """Return what each row loses per token when another row's prompt stands before its answer."""
    right, other = model.right_prompt, model.other_prompt
    return _Placed(model.prompt_places, (other.nats - right.nats) / np.maximum(right.tokens, 1.0), right.tokens)


def _regression(candidate: Measured, reference: Measured, seed: int) -> Interval | None:
    if candidate.regression is None or reference.regression is None:
        return None
    found = _interval(
        _per_token(
            _losses(candidate.regression, candidate.regression_places),
            _losses(reference.regression, reference.regression_places),
        ),
        None,
        seed,
    )
    level = reference.regression.mean
    if found is None or level <= 0:
        return found
    return Interval(found.mean / level, found.low / level, found.high / level, found.n, found.n_owners)


def _losses(losses: RowLosses, places: list[int]) -> _Placed:
    return _Placed(places, losses.nats, losses.tokens)


def _tasks(candidate: Measured, reference: Measured, owners: list[str], seed: int) -> dict[str, Interval]:
    """Return the differences of each check, over the answers that it applies to."""
    found: dict[str, list[tuple[float, str]]] = {}
    for place, (ours, theirs) in enumerate(zip(candidate.checks, reference.checks, strict=True)):
        scores, others = ours.scores(), theirs.scores()
        for name in scores.keys() & others.keys():
            found.setdefault(name, []).append((scores[name] - others[name], owners[place]))
    return {
        name: paired_bootstrap([d for d, _ in rows], owners=[o for _, o in rows], seed=seed)
        for name, rows in sorted(found.items())
    }


def _levels(compared: Compared) -> Mapping[str, float]:
    told: dict[str, float] = {}
    models = {"": compared.candidate, "_base": compared.base, "_champion": compared.champion}
    for suffix, model in models.items():
        if model is None:
            continue
        told[f"loss{suffix}"] = model.objective.mean
        if model.regression is not None:
            told[f"regression_loss{suffix}"] = model.regression.mean
        for name in sorted({name for check in model.checks for name in check.scores()}):
            values = [check.scores()[name] for check in model.checks if name in check.scores()]
            told[f"{name}{suffix}"] = float(np.mean(values))
    return told
