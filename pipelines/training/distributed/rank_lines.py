"""What is told of the processes of a run: a line of JSON for every few steps, and figures summed up from all lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from pipelines.training.distributed.stragglers import RankScore

RANKS_FILE = "ranks.jsonl"
RANK_FIGURES = ("share", "relative", "individual", "rows_per_second")
"""What ``training_runs`` holds of a process, each as the metric ``rankN_NAME``."""
MOST_RANKS_TOLD = 16
"""Processes whose figures go into ``training_runs`` one by one; the file tells of all."""


@dataclass
class StepTally:
    """What this process did since it was last asked: rows of its own, seconds by section, bytes sent.

    ``compute_seconds`` end when the last gradient is there: waiting for others is no part of them.
    """

    steps: int = 0
    rows: int = 0
    tokens: int = 0
    data_seconds: float = 0.0
    compute_seconds: float = 0.0
    step_seconds: float = 0.0
    bytes_sent: int = 0

    def add(self, rows: int, tokens: int, data: float, compute: float, step: float, sent: int) -> None:
        """Count one step; ``tokens`` are those of all processes."""
        self.steps += 1
        self.rows += rows
        self.tokens += tokens
        self.data_seconds += data
        self.compute_seconds += compute
        self.step_seconds += step
        self.bytes_sent += sent


def rank_line(
    step: int, told: Sequence[StepTally], scores: Sequence[RankScore], counts: Sequence[int], seconds: float
) -> dict[str, Any]:
    """Return the line of a report: the window that ends at ``step`` and lasted ``seconds``."""
    steps = max(1, told[0].steps)
    ranks = [
        asdict(score) | {
            "share": share,
            "rows": one.rows,
            "data_seconds": round(one.data_seconds / steps, 6),
            "compute_seconds": round(one.compute_seconds / steps, 6),
            "wait_seconds": round((one.step_seconds - one.data_seconds - one.compute_seconds) / steps, 6),
            "gradient_bytes": one.bytes_sent // steps,
        }
        for score, one, share in zip(scores, told, counts, strict=True)
    ]  # fmt: skip
    return {
        "step": step,
        "steps": told[0].steps,
        "seconds": round(seconds, 6),
        "tokens_per_second": round(told[0].tokens / seconds, 1) if seconds > 0 else 0.0,
        "stragglers": [score.rank for score in scores if score.is_straggler],
        "ranks": ranks,
    }


def read_reports(folder: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a run's reports; none before the first, and a torn last line does not count."""
    path = folder / RANKS_FILE
    if not path.is_file():
        return []
    lines = path.read_bytes().rpartition(b"\n")[0].split(b"\n")
    return [orjson.loads(line) for line in lines if line]


def summed_reports(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return figures of a run as ``training_runs.metrics`` holds them: of the last report, alerts over all of them."""
    if not lines:
        return {}
    last = lines[-1]
    seconds = sum(line["seconds"] for line in lines)
    figures = {
        "tokens_per_second": sum(line["tokens_per_second"] * line["seconds"] for line in lines) / max(seconds, 1e-9),
        "gradient_bytes_a_step": float(max(rank["gradient_bytes"] for rank in last["ranks"])),
        "straggler_reports": float(sum(bool(line["stragglers"]) for line in lines)),
    }
    for rank in last["ranks"][:MOST_RANKS_TOLD]:
        for name in RANK_FIGURES:
            if rank[name] is not None:
                figures[f"rank{rank['rank']}_{name}"] = float(rank[name])
    return figures
