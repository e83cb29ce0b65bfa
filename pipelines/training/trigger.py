"""Whether a training run starts: declared policies and limits over what is known. No I/O, no clock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from pipelines.training.trigger_policy import Limits, TriggerPolicy

Verdict = Literal["start", "hold"]


@dataclass(frozen=True)
class PastRun:
    """A run of the tenant, as limits count it."""

    run_id: str
    started_at: dt.datetime
    state: str


@dataclass(frozen=True)
class TriggerInputs:
    """What is known when a decision is taken. ``dataset_version`` is the newest that passed the gate, if any.

    ``n_new`` counts its examples, by example_id, that the dataset of the last run (succeeded or running) lacks.
    ``drift``: distance between the mean embeddings of its examples and of the last run's, from 0 to 2; None where it
    cannot be told. ``feedback`` and ``feedback_before``: share of good ratings in the window and before it.
    """

    dataset_version: str | None
    n_examples: int = 0
    n_new: int = 0
    last_run_id: str | None = None
    dataset_at: dt.datetime | None = None
    drift: float | None = None
    feedback: float | None = None
    feedback_before: float | None = None
    n_ratings: int = 0
    runs: tuple[PastRun, ...] = ()
    asked: str | None = None
    """Who asks by hand; None for nobody."""
    event: str | None = None
    """Id of an event that asks for a run; None for none."""

    @property
    def numbers(self) -> dict[str, float]:
        """The figures by name, as ``trigger_decisions.inputs`` holds them."""
        told = {"n_examples": self.n_examples, "n_new": self.n_new, "n_ratings": self.n_ratings}
        measured = {"drift": self.drift, "feedback": self.feedback, "feedback_before": self.feedback_before}
        return {name: float(value) for name, value in {**told, **measured}.items() if value is not None}


@dataclass(frozen=True)
class Decision:
    """Start or hold, why in one sentence, and the policy or limit that decided."""

    verdict: Verdict
    reason: str
    policy: str = "new_examples"


@dataclass(frozen=True)
class Asked:
    """One policy's answer."""

    policy: str
    wants: bool
    words: str
    skips_limits: bool = field(default=False)


def decide(inputs: TriggerInputs, policy: TriggerPolicy, now: dt.datetime) -> Decision:
    """Return the same decision for the same inputs and time.

    A run starts when any declared policy wants one and no limit holds it: a dataset that passed the gate, no run in
    flight, a rest after the last run, a dataset that has lain still, and the budget of a week. What is asked for by
    hand passes rest and quiet, never the gate, the run in flight, or the budget.
    """
    if inputs.dataset_version is None:
        return Decision("hold", "No dataset version has passed the gate yet.", "gate")
    answers = list(_answers(inputs, policy, now))
    wanting = [answer for answer in answers if answer.wants]
    if not wanting:
        return Decision("hold", " ".join(f"{a.words}." for a in answers), answers[0].policy if answers else "none")
    first = next((answer for answer in wanting if answer.skips_limits), wanting[0])
    held = next(_held(inputs, policy.limits, now, skips=first.skips_limits), None)
    if held is not None:
        return Decision("hold", f"{first.words}, but {held[1]}.", held[0])
    return Decision("start", f"{first.words}: start.", first.policy)


def _answers(inputs: TriggerInputs, policy: TriggerPolicy, now: dt.datetime) -> Iterator[Asked]:
    if inputs.asked is not None:
        yield Asked("manual", True, f"Asked for by hand ({inputs.asked})", skips_limits=True)
    if inputs.event is not None and policy.on_events:
        yield Asked("event", True, f"Event {inputs.event} asks for a run")
    if policy.new_examples is not None:
        yield _new_examples(inputs, policy.new_examples)
    if policy.drift is not None:
        yield _drift(inputs, policy.drift)
    if policy.feedback_drop is not None:
        yield _feedback(inputs, policy.feedback_drop, policy.least_ratings)
    if policy.every_hours is not None:
        yield _schedule(inputs, policy.every_hours, now)


def _new_examples(inputs: TriggerInputs, wanted: int) -> Asked:
    since = "no run yet" if inputs.last_run_id is None else f"since {inputs.last_run_id}"
    what = "example" if inputs.n_new == 1 else "examples"
    found = f"{inputs.n_new:,} new {what} ({since}), at least {wanted:,} wanted"
    if inputs.n_new >= wanted:
        return Asked("new_examples", True, found)
    return Asked("new_examples", False, f"{found}: {wanted - inputs.n_new:,} to go")


def _drift(inputs: TriggerInputs, wanted: float) -> Asked:
    if inputs.drift is None:
        return Asked("drift", False, "Drift cannot be told: no run yet, or no embeddings")
    found = f"The examples moved by {inputs.drift:.3f} in embedding space, {wanted:g} wanted"
    return Asked("drift", inputs.drift >= wanted and inputs.n_new > 0, found)


def _feedback(inputs: TriggerInputs, wanted: float, least: int) -> Asked:
    if inputs.feedback is None or inputs.feedback_before is None or inputs.n_ratings < least:
        return Asked("feedback_drop", False, f"{inputs.n_ratings:,} ratings, at least {least:,} wanted to tell a drop")
    drop = inputs.feedback_before - inputs.feedback
    found = f"Good ratings went from {inputs.feedback_before:.0%} to {inputs.feedback:.0%}, {wanted:.0%} less wanted"
    return Asked("feedback_drop", drop >= wanted and inputs.n_new > 0, found)


def _schedule(inputs: TriggerInputs, every: float, now: dt.datetime) -> Asked:
    last = max((run.started_at for run in inputs.runs), default=None)
    if last is None:
        return Asked("schedule", inputs.n_new > 0, f"No run yet, one every {every:g} h wanted")
    hours = (now - last).total_seconds() / 3600
    due = hours >= every and inputs.n_new > 0
    return Asked("schedule", due, f"{hours:.1f} h since the last run, one every {every:g} h wanted")


def _held(inputs: TriggerInputs, limits: Limits, now: dt.datetime, *, skips: bool) -> Iterator[tuple[str, str]]:
    """Yield the limits that hold a run, the strictest first."""
    running = [run for run in inputs.runs if run.state == "running"]
    if running:
        yield "single_flight", f"{running[0].run_id} still runs"
    week = [run for run in inputs.runs if now - run.started_at < dt.timedelta(days=7)]
    if limits.runs_a_week is not None and len(week) >= limits.runs_a_week:
        yield "budget", f"{len(week)} runs started in seven days, {limits.runs_a_week} allowed"
    if skips:
        return
    last = max((run.started_at for run in inputs.runs), default=None)
    rested = None if last is None else (now - last).total_seconds() / 60
    if rested is not None and rested < limits.cooldown_minutes:
        yield "cooldown", f"the last run began {rested:.0f} min ago, {limits.cooldown_minutes:g} min of rest wanted"
    if inputs.dataset_at is not None:
        quiet = (now - inputs.dataset_at).total_seconds() / 60
        if quiet < limits.debounce_minutes:
            told = f"the dataset is {quiet:.0f} min old, {limits.debounce_minutes:g} min of quiet wanted"
            yield "debounce", told
