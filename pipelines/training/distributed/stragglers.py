"""Which process holds the others up: scores of NVIDIA's resiliency extension, from what each measures of itself.

Relative score: speed of a process over that of the fastest one. Individual score: its speed over its own best. Both lie
in 0 to 1, 1 being good (nvidia-resiliency-ext, "Straggler Detection", usage guide). Time spent waiting for others is no
part of a speed, else all would look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

LEAST_SCORE = 0.75
"""A process below it is told of: it takes a third longer than the fastest, or than it once did."""


@dataclass(frozen=True)
class RankScore:
    """Speed of a process, rows a second of its own work, and its two scores; None where it did no work yet."""

    rank: int
    host: str
    rows_per_second: float
    relative: float | None
    individual: float | None

    @property
    def is_straggler(self) -> bool:
        """One of the scores is below the threshold."""
        return any(score is not None and score < LEAST_SCORE for score in (self.relative, self.individual))


@dataclass
class ScoreBoard:
    """Scores the processes of a run window by window; ``hosts`` names the machine of each."""

    hosts: Sequence[str]
    best: dict[int, float] = field(default_factory=dict)

    def score(self, rows: Sequence[float], seconds: Sequence[float]) -> list[RankScore]:
        """Return the scores for ``rows`` that each process worked through in ``seconds`` of its own time."""
        speeds = [n / s if n > 0 and s > 0 else 0.0 for n, s in zip(rows, seconds, strict=True)]
        for rank, speed in enumerate(speeds):
            self.best[rank] = max(speed, self.best.get(rank, 0.0))
        fastest = max(speeds, default=0.0)
        return [
            RankScore(
                rank,
                self.hosts[rank],
                speed,
                speed / fastest if speed > 0 else None,
                speed / self.best[rank] if speed > 0 else None,
            )
            for rank, speed in enumerate(speeds)
        ]


def alert(score: RankScore) -> str:
    """Return the sentence that tells of a straggler: which process, where, and how slow."""
    parts = [
        f"{value:.2f} of {what}"
        for value, what in ((score.relative, "the fastest"), (score.individual, "its own best"))
        if value is not None and value < LEAST_SCORE
    ]
    return f"rank {score.rank} on {score.host} works at {' and '.join(parts)} ({score.rows_per_second:.3g} rows/s)"
