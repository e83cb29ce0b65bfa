"""A line every few steps that tells how each process of a run fares; shares move by it, stragglers are told of."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import torch
import torch.distributed as dist
from transformers import TrainerCallback

from pipelines.training.distributed.global_steps import GlobalSteps
from pipelines.training.distributed.rank_lines import StepTally, rank_line
from pipelines.training.distributed.stragglers import ScoreBoard, alert
from pipelines.training.process_group import ProcessGroup

_log = logging.getLogger(__name__)


class RankReports(TrainerCallback):  # type: ignore[misc]  # transformers is not typed
    """Every ``every`` steps: measures of all processes exchanged, scored and written; shares moved if asked."""

    def __init__(self, steps: GlobalSteps, group: ProcessGroup, path: Path, *, adaptive: bool, every: int) -> None:
        self.steps, self.group, self.path, self.adaptive, self.every = steps, group, path, adaptive, every
        self.board = ScoreBoard(_hosts(group))
        self.begun = 0.0
        self.is_warm = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock."""
        self.begun = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report when it is time; the first step of a process allocates and compiles, and measures nothing."""
        if not self.is_warm:
            self.is_warm = True
            self._restart()
        elif self.steps.tally.steps >= self.every or state.global_step == state.max_steps:
            self._report(state.global_step)

    def _report(self, step: int) -> None:
        mine, seconds = self.steps.tally, time.perf_counter() - self.begun
        told = _gathered(mine, self.group)
        # Parts of one model wait for each other inside a call, so that no one's own time is known.
        own = [one.compute_seconds if self.steps.is_whole else 0.0 for one in told]
        scores = self.board.score([one.rows for one in told], own)
        counts = list(self.steps.shares.counts)
        counts *= len(told) // len(counts)
        if self.adaptive:
            self.steps.shares.tell([score.rows_per_second for score in scores])
        if self.group.is_first:
            line = rank_line(step, told, scores, counts, seconds)
            with self.path.open("ab") as file:
                file.write(orjson.dumps(line) + b"\n")
            for score in scores:
                if score.is_straggler:
                    _log.warning("step %d: %s", step, alert(score))
        self._restart()

    def _restart(self) -> None:
        self.steps.tally = StepTally()
        self.begun = time.perf_counter()


def _gathered(mine: StepTally, group: ProcessGroup) -> list[StepTally]:
    """Return the tallies of all processes, in the order of their ranks."""
    if group.world == 1:
        return [mine]
    numbers = torch.tensor(list(asdict(mine).values()), dtype=torch.float64, device=group.device)
    rows = [torch.empty_like(numbers) for _ in range(group.world)]
    dist.all_gather(rows, numbers)
    whole = ("steps", "rows", "tokens", "bytes_sent")
    names = list(asdict(mine))
    told = [dict(zip(names, row.tolist(), strict=True)) for row in rows]
    return [StepTally(**{name: int(v) if name in whole else v for name, v in one.items()}) for one in told]


def _hosts(group: ProcessGroup) -> list[str]:
    """Return the machine of each process."""
    hosts: list[str | None] = [socket.gethostname()]
    if group.world > 1:
        hosts *= group.world
        dist.all_gather_object(hosts, socket.gethostname())
    return [str(host) for host in hosts]
