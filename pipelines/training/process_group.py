"""The processes of one run: joined once, agreed on what they train, and parted at the end."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist

COLLECTIVE_SECONDS = 600.0
"""A collective that waits longer ends the run: one process hangs or is gone."""


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
    """Processes of one run were given different specifications, so that no step of theirs would mean anything."""

    safe_to_show = True


@contextmanager
def joined_processes(digest: str, timeout_seconds: float = COLLECTIVE_SECONDS) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; alone where it started none. NCCL where there is a GPU, else gloo.

    ``digest`` is that of the specification: all processes must have the same, else ``RanksDisagree``.
    """
    has_gpu = torch.cuda.is_available()
    rank, world = 0, 1
    if dist.is_torchelastic_launched():
        dist.init_process_group("nccl" if has_gpu else "gloo", timeout=dt.timedelta(seconds=timeout_seconds))
        rank, world = dist.get_rank(), dist.get_world_size()
        _agree(digest, world)
    device = torch.device("cuda", dist.get_node_local_rank(fallback_rank=0)) if has_gpu else torch.device("cpu")
    try:
        yield ProcessGroup(rank, world, device)
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


def _agree(digest: str, world: int) -> None:
    told: list[str | None] = [None] * world
    dist.all_gather_object(told, digest)
    others = [rank for rank, found in enumerate(told) if found != told[0]]
    if others:
        raise RanksDisagree(
            f"wanted one specification for all {world} processes, found another one at rank "
            f"{', '.join(map(str, others))}; start all of them from the same spec.json"
        )
