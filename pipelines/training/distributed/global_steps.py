"""TRL's step over the batch of all processes: each works through its share, and their sum is the mean of the batch.

A loss is weighted by what its rows are of the whole batch, so that the gradient does not depend on who got how many:
for supervised rows the mean over all completion tokens, for preference pairs that over all pairs. A process that gets
no row of a short batch takes part with a row of weight 0, so that none waits for another.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.distributed.fsdp import FSDPModule
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, Sampler

from pipelines.training.distributed.compression import GradientReducer
from pipelines.training.distributed.rank_lines import StepTally
from pipelines.training.distributed.sharding import StepPlan, dealt_by_shares, micro_batches
from pipelines.training.distributed.shares import ShareController

TrainerClass = type[Any]


@dataclass
class GlobalSteps:
    """What the trainers of a run share: the plan of its steps, who gets what of them, and how they are reduced.

    ``weighted`` holds the completion tokens of each row where the loss is a mean over tokens, and is None where it is
    one over rows. Where processes hold parts of one model (not ``is_whole``), all make the same number of calls.
    """

    plan: StepPlan
    weighted: Sequence[int] | None
    micro_batch: int
    rank: int
    shares: ShareController
    reducer: GradientReducer
    is_whole: bool = True
    tally: StepTally = field(default_factory=StepTally)

    def part(self, epoch: int, step: int) -> SharePart:
        """Return what this process does in a step."""
        rows = self.plan.batch(epoch, step)
        dealt = dealt_by_shares(rows, self.shares.counts)
        counted = sum(self.weighted[row] for row in rows) if self.weighted is not None else len(rows)
        tokens = sum(self.plan.lengths[row] for row in rows)
        mine = micro_batches(dealt[self.rank], self.micro_batch)
        if not self.is_whole:
            calls = max(len(micro_batches(one, self.micro_batch)) for one in dealt)
            mine += [[] for _ in range(calls - len(mine))]
        return SharePart(mine or [[]], rows[0], counted, tokens)


@dataclass(frozen=True)
class SharePart:
    """Rows of one process in a step, by micro-batch; one without rows is worked through with ``stand_in``, weight 0.

    ``counted`` are the tokens or rows that the step's loss is the mean of, ``tokens`` all tokens of the step.
    """

    micro: list[list[int]]
    stand_in: int
    counted: int
    tokens: int


def shared_steps(steps: GlobalSteps) -> Any:
    """Return what makes a trainer of TRL take its steps by ``steps`` (``build_trainer``'s ``wrap``)."""

    def wrap(trainer: TrainerClass) -> TrainerClass:
        return type(f"Shared{trainer.__name__}", (SharedSteps, trainer), {"steps": steps})

    return wrap


class SharedSteps:
    """Derives from a trainer of TRL: batches, weights and the reduction of gradients come from ``steps``."""

    steps: GlobalSteps
    _weight = 1.0
    _has_hook = False

    def get_train_dataloader(self) -> Any:
        """Return the steps of an epoch, each as the micro-batches of this process."""
        rows = ShareRows(self.train_dataset, self.data_collator, self.steps)  # type: ignore[attr-defined]
        return StepLoader(rows, batch_sampler=EpochSteps(self.steps.plan.steps), collate_fn=_only)

    def training_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
        """Run one step: backward of all micro-batches, gradients reduced with the last of them."""
        clock, sent = StepClock(self.args.device), self.steps.reducer.bytes_sent  # type: ignore[attr-defined]
        part: SharePart = inputs["part"]
        is_parallel = isinstance(model, DistributedDataParallel)
        self.steps.reducer.begin_step()
        _drop_gathered(model)
        if is_parallel and not self._has_hook:
            self.steps.reducer.register(model)
            self._has_hook = True
        loss = torch.zeros((), device=self.args.device)  # type: ignore[attr-defined]
        with own_figures(self.accelerator):  # type: ignore[attr-defined]
            for nth, (batch, rows) in enumerate(inputs["batches"], start=1):
                if is_parallel and nth < len(inputs["batches"]):
                    with model.no_sync():
                        loss += self._micro_step(model, batch, rows, part)
                else:
                    loss += self._micro_step(model, batch, rows, part)
        whole = clock.whole()
        compute = clock.until_ready(self.steps.reducer) if is_parallel else whole
        self.steps.tally.add(
            sum(map(len, part.micro)), part.tokens, inputs["seconds"], compute, whole + inputs["seconds"],
            self.steps.reducer.bytes_sent - sent,
        )  # fmt: skip
        return loss

    def _micro_step(self, model: Any, batch: dict[str, Any], rows: int, part: SharePart) -> Any:
        """Run forward and backward of one micro-batch of ``rows`` rows; returns its loss, weighted."""
        args = self.args  # type: ignore[attr-defined]
        if self.steps.weighted is None:
            self._weight = rows * self.steps.shares.world / part.counted
            return super().training_step(model, batch)  # type: ignore[misc]
        self._weight = 1.0 if rows else 0.0
        counted = torch.tensor(part.counted, device=args.device)
        return super().training_step(model, batch, counted)  # type: ignore[misc]

    def compute_loss(self, model: Any, inputs: Any, *rest: Any, **named: Any) -> Any:
        """Return the trainer's loss times the weight of the micro-batch."""
        return super().compute_loss(model, inputs, *rest, **named) * self._weight  # type: ignore[misc]


class StepClock:
    """Seconds of a step; on a GPU those of its stream, which runs behind the processor."""

    def __init__(self, device: torch.device) -> None:
        self.begun = time.perf_counter()
        self.on_gpu = torch.cuda.Event(enable_timing=True) if device.type == "cuda" else None
        if self.on_gpu:
            self.on_gpu.record()

    def whole(self) -> float:
        """Return the seconds since the step began, all of its work done."""
        if self.on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - self.begun

    def until_ready(self, reducer: GradientReducer) -> float:
        """Return the seconds until the last gradient was there; after ``whole``."""
        if self.on_gpu and reducer.ready_on_gpu:
            return float(self.on_gpu.elapsed_time(reducer.ready_on_gpu)) / 1000
        return reducer.last_ready - self.begun


class EpochSteps(Sampler):  # type: ignore[misc]  # torch is not typed here
    """The steps of an epoch in order, as (epoch, step)."""

    def __init__(self, steps: int) -> None:
        self.steps, self.epoch = steps, 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        return iter([[(self.epoch, step)] for step in range(self.steps)])


class StepLoader(DataLoader):  # type: ignore[misc]
    """A loader that hands the epoch on to its steps."""

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.batch_sampler.set_epoch(epoch)


class ShareRows(Dataset):  # type: ignore[misc]
    """Rows under their (epoch, step): the micro-batches of this process by the shares of that moment."""

    def __init__(self, rows: Any, collate: Any, steps: GlobalSteps) -> None:
        self.rows, self.collate, self.steps = rows, collate, steps

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: tuple[int, int]) -> dict[str, Any]:
        begun = time.perf_counter()
        part = self.steps.part(*place)
        batches = [(self._collated(rows or [part.stand_in]), len(rows)) for rows in part.micro]
        return {"part": part, "batches": batches, "seconds": time.perf_counter() - begun}

    def _collated(self, rows: list[int]) -> dict[str, Any]:
        return dict(self.collate([self.rows[row] for row in rows]))


def _drop_gathered(model: Any) -> None:
    """Let go of whole weights that FSDP kept from the last step: TRL's outputs hide from it that the step is over."""
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()


@contextmanager
def own_figures(accelerator: Any) -> Iterator[None]:
    """Keep the figures that TRL logs beside the loss those of this process.

    Gathering them takes a collective each, of equal sizes, and the same number on all processes.
    """
    accelerator.gather = accelerator.gather_for_metrics = _as_it_is
    try:
        yield
    finally:
        del accelerator.gather, accelerator.gather_for_metrics


def _as_it_is(figures: Any, *_: Any, **__: Any) -> Any:
    return figures


def _only(batch: list[Any]) -> Any:
    return batch[0]
