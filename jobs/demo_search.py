"""What the demo asks of its index: one question, and whether its logs changed in meaning from half to half."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import orjson

from jobs.options import Settings, UserError
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.index.analysis.drift import Drift, drift
from pipelines.index.analysis.window import read_window
from pipelines.index.by_model import active_choice
from pipelines.index.filters import EVERYTHING
from pipelines.index.standing import read_standing

QUESTION = "how do I get a refund"
TENANT = "default"
SECONDS = 120.0


@contextmanager
def asking(settings: Settings, question: str = QUESTION) -> Iterator[Callable[[], dict[str, Any] | None]]:
    """Ask beside whatever runs in the block, in a process of its own: Lance must not share one that forks.

    What it gives waits for the best answer, with its question; None where nothing is indexed.
    """
    command = [sys.executable, "-m", "jobs.index_search", question, "--k", "1", "--tenant", TENANT, "--json"]
    folders = ["--lake", str(Lake(settings.lake).path), "--keys", str(settings.keys)]
    asked = subprocess.Popen([*command, *folders], stdout=subprocess.PIPE)

    def answer() -> dict[str, Any] | None:
        told, _ = asked.communicate(timeout=SECONDS)
        if asked.returncode != 0:
            raise UserError(f"the search ended with exit code {asked.returncode}; try it: turnmill search")
        return {"question": question, **orjson.loads(told.splitlines()[0])} if told.strip() else None

    try:
        yield answer
    finally:
        if asked.poll() is None:
            asked.kill()
            asked.wait()


def drift_of_halves(lake: Lake) -> Drift | None:
    """Compare the earlier half of the indexed turns with the later one; None where there are too few."""
    choice = active_choice(lake.index)
    standing = read_standing(lake.index / choice.name) if choice else None
    if standing is None:
        return None
    with connect(lake, versions=standing.versions) as connection:
        window = read_window(connection, TENANT, standing.model_fingerprint, EVERYTHING)
    if window.turns.num_rows < 4:
        return None
    columns = (window.turns[name].to_pylist() for name in ("created_at", "landed_at", "turn_id"))
    times = [(made or landed, turn_id) for made, landed, turn_id in zip(*columns, strict=True)]
    order = np.array(sorted(range(len(times)), key=times.__getitem__))
    half = len(order) // 2
    return drift(window.vectors[order[:half]], window.vectors[order[half:]])
