"""Gradients in fewer bytes: torch's communication hooks, tried before they are used, with the bytes that they send.

What a hook sends is counted as elements handed to ``all_reduce`` times their size, each process its own.
"""

# Annotations stay objects here: DDP compares those of a hook with its own classes.
import logging
import time
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook

from pipelines.training.run_spec import Compression

LEAST_WARMUP = 2
"""PowerSGD with error feedback cannot start earlier: DDP rebuilds its buckets after the first step."""
_HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}
_log = logging.getLogger(__name__)


def usable_compression(wanted: Compression, device: torch.device) -> Compression:
    """Return ``wanted``, or ``none`` with one line in the log where this back end cannot reduce its type.

    A collective: all processes call it.
    """
    if wanted not in _HALVES:
        return wanted
    try:
        probe = torch.ones(2, dtype=_HALVES[wanted], device=device)
        dist.all_reduce(probe)
        if bool((probe == dist.get_world_size()).all()):
            return wanted
    except RuntimeError:
        pass
    _log.warning("%s cannot be reduced by %s here; gradients are sent as they are", wanted, dist.get_backend())
    return "none"


@dataclass
class GradientReducer:
    """The communication hook of a run: how gradients are summed, how many bytes that took, when the last were ready."""

    kind: Compression = "none"
    matrix_rank: int = 1
    warmup_steps: int = LEAST_WARMUP
    bytes_sent: int = 0
    """Since the start; a process's own."""
    last_ready: float = 0.0
    """``time.perf_counter`` at which the gradients of the newest step were all there, before waiting for others."""
    ready_on_gpu: Any = None
    """The same as an event of the stream that computed them; None on a CPU."""
    _state: Any = field(default=None, repr=False)
    _waited: float = 0.0

    def begin_step(self) -> None:
        """Forget what the last step waited for."""
        self._waited, self.ready_on_gpu = 0.0, None

    def register(self, model: Any) -> None:
        """Make ``model``, which DDP wrapped, reduce its gradients this way; once a model."""
        if self.kind == "powersgd":
            self._state = PowerSGDState(
                process_group=None,
                matrix_approximation_rank=self.matrix_rank,
                start_powerSGD_iter=max(LEAST_WARMUP, self.warmup_steps),
            )
        model.register_comm_hook(None, self.reduce)

    def reduce(self, state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        """Reduce one bucket; DDP calls it as soon as all gradients in the bucket are there."""
        self.last_ready = time.perf_counter() - self._waited
        if bucket.buffer().is_cuda and bucket.is_last():
            self.ready_on_gpu = torch.cuda.Event(enable_timing=True)
            self.ready_on_gpu.record()
        if self.kind == "powersgd":
            return self._reduce_low_rank(bucket)
        buffer = bucket.buffer()
        sent = _HALVES.get(self.kind, buffer.dtype)
        self.bytes_sent += buffer.numel() * sent.itemsize
        hook = {"fp16": default_hooks.fp16_compress_hook, "bf16": default_hooks.bf16_compress_hook}.get(
            self.kind, default_hooks.allreduce_hook
        )
        return hook(dist.group.WORLD, bucket)

    def _reduce_low_rank(self, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        size, counted = bucket.buffer().element_size(), self._state.total_numel_after_compression
        is_warm = self._state.iter >= self._state.start_powerSGD_iter
        whole = bucket.buffer().numel()
        future = powerSGD_hook(self._state, bucket)
        self.bytes_sent += size * (self._state.total_numel_after_compression - counted if is_warm else whole)
        if dist.get_backend() == "gloo":
            # Its callbacks run in any order: those of two buckets would meet each other's on another process.
            begun = time.perf_counter()
            future.wait()
            self._waited += time.perf_counter() - begun
        return future
