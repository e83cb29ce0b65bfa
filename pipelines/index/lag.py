"""How far the index is behind its tables: commits that it does not hold, and for how long the oldest has waited."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pipelines.index.feeds import SOURCES, TablePath, commit_time, pin_sources
from pipelines.index.standing import Standing


@dataclass(frozen=True)
class Lag:
    """``versions`` by table, its commits after the one that the index stands at; ``seconds`` since the oldest of them.

    A commit that was cleaned out of a table's log counts as a version, not in ``seconds``.
    """

    versions: dict[str, int]
    seconds: float


def index_lag(table_path: TablePath, standing: Standing | None) -> Lag:
    """Compare what the index stands at (None: nothing) with the newest versions of its tables."""
    held = standing.versions if standing else {}
    newest = pin_sources(table_path).versions
    versions = {name: max(newest[name] - held.get(name, -1), 0) for name in SOURCES}
    waiting = [at for name in SOURCES for at in _times(table_path, name, held.get(name, -1) + 1, newest[name])]
    seconds = time.time() - min(waiting) if waiting else 0.0
    return Lag(versions, round(max(seconds, 0.0), 3))


def _times(table_path: TablePath, name: str, first: int, last: int) -> list[float]:
    """Return the time of the oldest commit from ``first`` to ``last`` that the log still has, if any."""
    for version in range(first, last + 1):
        if (at := commit_time(table_path(name), version)) is not None:
            return [at]
    return []
