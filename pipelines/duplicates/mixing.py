"""Spread 64-bit integers evenly: the finaliser of SplitMix64 (Steele, Lea, Flood 2014; Stafford's mix 13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
U32 = NDArray[np.uint32]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(values: U64) -> U64:
    """Return a 64-bit value for each, such that every bit in depends on every bit out; one-to-one."""
    out = values ^ (values >> np.uint64(30))
    out *= _FIRST
    out ^= out >> np.uint64(27)
    out *= _SECOND
    out ^= out >> np.uint64(31)
    return out


def sequence(seed: int, size: int) -> U64:
    """Return ``size`` values that are the same in every process and version."""
    return mixed((np.arange(1, size + 1, dtype=np.uint64) + np.uint64(seed)) * _STEP)


def high_half(values: U64) -> U32:
    """Return the upper 32 bits of each value."""
    return (values >> np.uint64(32)).astype(np.uint32)
