"""The processes of one run: joined once, agreed on what they train, and parted at the end."""

from __future__ import annotations

import datetime as dt
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from pipelines.training.pinned_inputs import disagreements


@dataclass(frozen=True)
class ProcessGroup:
    """Where this process stands among those of the run."""

    rank: int
    world: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """This process writes what is written once."""
        return self.rank == 0

    def wait_for_all(self) -> None:
        """Return when all processes have come here."""
        if self.world > 1:
            dist.barrier()


class RanksDisagree(RuntimeError):
    """Processes of one run were given different things to train on, so that no step of theirs would mean anything."""

    safe_to_show = True


@contextmanager
def joined_processes(pinned: Mapping[str, str], timeout_seconds: float) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; alone where it started none. NCCL where there is a GPU, else gloo.

    A collective that waits longer than ``timeout_seconds`` ends the process. ``pinned`` are the digests of what the run
    is made of, by name: all processes must have the same, else ``RanksDisagree``.
    """
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", dist.get_node_local_rank(fallback_rank=0)) if has_gpu else torch.device("cpu")
    rank, world = 0, 1
    if dist.is_torchelastic_launched():
        if has_gpu:
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if has_gpu else "gloo", timeout=dt.timedelta(seconds=timeout_seconds))
        rank, world = dist.get_rank(), dist.get_world_size()
    try:
        if world > 1:
            _agree(pinned, world)
        yield ProcessGroup(rank, world, device)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _agree(pinned: Mapping[str, str], world: int) -> None:
    told: list[Any] = [None] * world
    dist.all_gather_object(told, (socket.gethostname(), dict(pinned)))
    wrong = disagreements(told)
    if wrong:
        raise RanksDisagree(
            f"wanted the same {', '.join(sorted(pinned))} for all {world} processes, found that {'; '.join(wrong)}; "
            "start all of them from one spec.json on a folder that all machines share"
        )
