"""Torch on a machine that others use too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def polite_threads() -> Iterator[None]:
    """Leave one core free: OpenMP threads that share a core with others spin, and a step takes 8 times as long."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(max(1, min(before, (os.cpu_count() or 1) - 1)))
    try:
        yield
    finally:
        torch.set_num_threads(before)
