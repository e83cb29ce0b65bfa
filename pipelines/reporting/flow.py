"""The flow of rows, from what was read to what is trained on, with what was left out at each step and why."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from pipelines.datasets.rules import meaning
from pipelines.reporting.chart import BAD, GOOD, QUIET, REST, Chart, largest, name, words_of
from pipelines.reporting.figures import Figures, total

MOST_REASONS = 8
"""Reasons shown of one step; the others are one link."""

READ, TURNS = "items read", "turns"
ANSWERS, CONTEXT = "kept answers", "kept questions, context"
OUTCOMES = {"feedback": "feedback", "fragment": "pieces of answers", "tombstone": "erasures and empty records"}


@dataclass(frozen=True, slots=True)
class Step:
    """A link of the flow: ``n`` rows go from one place to another; ``why`` explains a loss."""

    source: str
    target: str
    n: int
    colour: str = QUIET
    why: str = ""


def flow_steps(figures: Figures) -> list[Step]:
    """Return the links with rows; what leaves a place equals what came in, as long as no table was cut."""
    steps = [*_read(figures), *_settled(figures), *_filtered(figures), *_curated(figures)]
    return [step for step in steps if step.n > 0]


def _read(figures: Figures) -> list[Step]:
    by_outcome: dict[str, int] = {}
    for row in figures.items:
        by_outcome[row["outcome"]] = by_outcome.get(row["outcome"], 0) + row["n"]
    steps = [Step(READ, words, by_outcome.get(outcome, 0)) for outcome, words in OUTCOMES.items()]
    dead = {row["reason"]: row["n"] for row in figures.items if row["outcome"] == "dead"}
    return steps + _losses(READ, "dead letter", dead)


def _settled(figures: Figures) -> list[Step]:
    if not figures.settled:
        return []
    (counts,) = figures.settled
    logged = total(row for row in figures.items if row["outcome"] == "turn")
    return [
        Step(READ, TURNS, counts["n_turns"], GOOD),
        Step(READ, "repeats", logged - counts["n_turns"] - counts["n_waiting"], why="The turn was logged before."),
        Step(READ, "waiting for settle", counts["n_waiting"]),
    ]


def _filtered(figures: Figures) -> list[Step]:
    kept = [row for row in figures.verdicts if row["keep"]]
    left_out: dict[str, int] = {}
    for row in figures.verdicts:
        if row["is_tagged"] and not row["keep"]:
            left_out[row["reason"]] = left_out.get(row["reason"], 0) + row["n"]
    return [
        Step(TURNS, ANSWERS, total(row for row in kept if row["is_answer"]), GOOD),
        Step(TURNS, CONTEXT, total(row for row in kept if not row["is_answer"]), GOOD),
        *_losses(TURNS, "filtered", left_out),
        Step(TURNS, "waiting for filter", total(row for row in figures.verdicts if not row["is_tagged"])),
    ]


def _curated(figures: Figures) -> list[Step]:
    version = next((row["dataset_version"] for row in figures.fates), None)
    if version is None:
        return [Step(ANSWERS, "in no version yet", total(figures.fates))]
    dropped = {row["rule"]: row["n"] for row in figures.fates if row["rule"] is not None}
    unseen = [row for row in figures.fates if row["rule"] is None and not row["is_chosen"]]
    return [
        Step(ANSWERS, f"in examples of {version}", total(row for row in figures.fates if row["is_chosen"]), GOOD),
        *_losses(ANSWERS, "dropped", dropped),
        Step(ANSWERS, "not in that version", total(unseen), why="Neither in an example nor dropped by a rule."),
    ]


def _losses(source: str, word: str, by_reason: dict[Any, int]) -> list[Step]:
    return [
        Step(source, f"{word}: {reason if reason == REST else words_of(reason)}", n, BAD, meaning(str(reason)))
        for reason, n in largest(by_reason, MOST_REASONS)
    ]


def flow_chart(figures: Figures) -> Chart:
    """Return the Sankey diagram of the flow."""
    steps = flow_steps(figures)
    places = list(dict.fromkeys(place for step in steps for place in (step.source, step.target)))
    if not steps:
        return Chart("flow", TITLE, SAYS, MISSING, is_wide=True)
    arriving = {place: sum(s.n for s in steps if s.target == place) for place in places}
    leaving = {place: sum(s.n for s in steps if s.source == place) for place in places}
    sizes = {place: arriving[place] or leaving[place] for place in places}
    colours = {step.target: step.colour for step in steps}
    trace = {
        "type": "sankey",
        "arrangement": "snap",
        "textfont": {"size": 12},
        "node": {
            "label": [f"{name(place)} · {sizes[place]:,}" for place in places],
            "color": [colours.get(place, GOOD) for place in places],
            "align": "left",
            "pad": 14,
            "thickness": 14,
            "hovertemplate": "%{label}<extra></extra>",
        },
        "link": {
            "source": [places.index(step.source) for step in steps],
            "target": [places.index(step.target) for step in steps],
            "value": [step.n for step in steps],
            "color": [step.colour + "66" for step in steps],
            "customdata": [html.escape(step.why) for step in steps],
            "hovertemplate": "%{target.label}<br>%{customdata}<extra></extra>",
        },
    }
    n_ends = sum(1 for place in places if not leaving[place])
    layout = {"height": max(420, 120 + 30 * n_ends), "margin": {"l": 8, "r": 8, "t": 36, "b": 16}}
    rows = [(step.source, step.target, step.n, step.why) for step in steps]
    return Chart("flow", TITLE, SAYS, MISSING, [trace], layout, ("from", "to", "rows", "why"), rows, is_wide=True)


TITLE = "Flow of rows"
SAYS = (
    "From what was read to the newest dataset version. Blue goes on, red is left out by a reason; an answer that "
    "several rules drop is counted under the first by name."
)
MISSING = "No rows yet: turnmill ingest --available-now, then settle, filter and curate."
