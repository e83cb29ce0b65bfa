"""Whether a training run starts: a policy looks at counts, answers with a verdict and a sentence. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["start", "hold"]


@dataclass(frozen=True)
class TriggerInputs:
    """What is known when a decision is taken. ``dataset_version`` is the newest that passed the gate, if any.

    ``n_new`` counts its examples, by example_id, that the dataset of the last run (succeeded or running) lacks.
    """

    dataset_version: str | None
    n_examples: int = 0
    n_new: int = 0
    last_run_id: str | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """The counts by name, as ``trigger_decisions.inputs`` holds them."""
        return {"n_examples": float(self.n_examples), "n_new": float(self.n_new)}


@dataclass(frozen=True)
class Decision:
    """Start or hold, and why, in one sentence."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class NewExamples:
    """Start when at least ``at_least`` examples are new since the last run. Raises ``ValueError`` below 1."""

    at_least: int
    name: str = "new_examples"

    def __post_init__(self) -> None:
        if self.at_least < 1:
            raise ValueError(f"at_least: wanted 1 or more, found {self.at_least}")

    def decide(self, inputs: TriggerInputs) -> Decision:
        """Return the same decision for the same inputs."""
        if inputs.dataset_version is None:
            return Decision("hold", "No dataset version has passed the gate yet.")
        since = "no run yet" if inputs.last_run_id is None else f"since {inputs.last_run_id}"
        found = f"{inputs.n_new:,} new {'example' if inputs.n_new == 1 else 'examples'} ({since})"
        if inputs.n_new >= self.at_least:
            return Decision("start", f"{found}, at least {self.at_least:,} wanted: start.")
        return Decision("hold", f"{found}, at least {self.at_least:,} wanted: {self.at_least - inputs.n_new:,} to go.")
