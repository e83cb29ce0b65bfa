"""Rows of different lengths in two flat arrays, so that a batch is handled without a loop and mapped from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ragged:
    """Row ``i`` is ``values[starts[i]:starts[i + 1]]``; ``starts`` has one entry more than there are rows."""

    values: NDArray[Any]
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """Length of each row."""
        return np.diff(self.starts)

    def row(self, number: int) -> NDArray[Any]:
        """Return one row."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    def take(self, rows: Ints) -> Ragged:
        """Return the rows asked for, in the order asked for."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        starts = starts_of(sizes)
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], sizes)
        return Ragged(self.values[places], starts)


def starts_of(sizes: Ints) -> Ints:
    """Return where rows of such sizes begin, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def stacked(parts: Sequence[Ragged]) -> Ragged:
    """Return the rows of all parts, one part after the other."""
    sizes = np.concatenate([part.sizes for part in parts])
    cut = [part.values[part.starts[0] : part.starts[-1]] for part in parts]
    return Ragged(np.concatenate(cut), starts_of(sizes))


def distinct(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the distinct values in ascending order; sorts what it is given."""
    values.sort()
    return values[np.concatenate(([True], values[1:] != values[:-1]))] if len(values) else values


def as_sets(values: NDArray[np.uint32], owners: Ints, rows: int) -> Ragged:
    """Return the distinct values of each owner 0 to ``rows - 1`` in ascending order."""
    keyed = distinct((owners.astype(np.uint64) << np.uint64(32)) | values)
    sizes = np.bincount((keyed >> np.uint64(32)).astype(np.int64), minlength=rows)
    return Ragged(keyed.astype(np.uint32), starts_of(sizes))


def sizes_in_common(left: Ragged, right: Ragged) -> Ints:
    """Return how many values row ``i`` of both sides share; rows are sets of 32-bit values."""
    keyed = [
        (np.repeat(np.arange(len(side), dtype=np.uint64), side.sizes) << np.uint64(32)) | side.values
        for side in (left, right)
    ]
    together = np.concatenate(keyed)
    together.sort()
    twice = together[1:][together[1:] == together[:-1]]
    return np.bincount((twice >> np.uint64(32)).astype(np.int64), minlength=len(left))
