"""All pairs of vectors whose cosine reaches a threshold: exact, by products of blocks; clusters rule blocks out.

Clusters make it faster and change no answer. A vector lies nearer to the centre of its own cluster than to any other,
so that one whose distance to the plane between two centres is too large has no partner behind it (the bound of Hamerly
2010 for k-means); and none in a cluster whose farthest member is too far away by the triangle inequality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.mixing import sequence
from pipelines.duplicates.ragged import Ints

Vectors = NDArray[np.float32]

BLOCK_ROWS = 4096
"""Rows of both sides of one product: 64 MB of cosines."""

CLUSTER_ROWS = 2048
"""Mean rows of a cluster; fewer rule out more blocks and make products too small to be fast."""

WHOLE_ROWS = 16_384
"""Up to so many rows one cluster is made: the products cost less than the centres."""

GPU_WORK = 1e11
"""Multiplications above which a GPU is worth loading torch for (seconds)."""

_SAMPLE_A_CLUSTER, _ROUNDS, _SEED = 32, 4, 0x5345
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Clustered:
    """Unit vectors in clusters: rows of ``members[i]`` lie nearest to ``centres[i]``, at most ``reach[i]`` away.

    ``reach`` is an angle in radians.
    """

    vectors: Vectors
    centres: Vectors
    members: list[Ints]
    reach: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Vectors, cluster_rows: int = CLUSTER_ROWS, whole_rows: int = WHOLE_ROWS) -> Clustered:
        """Cluster vectors of unit length, [n, d] float32; raises ``ValueError`` for others."""
        unit = checked(vectors)
        count = 1 if len(unit) <= whole_rows else -(-len(unit) // cluster_rows)
        centres = _centres(unit, count)
        nearest = np.concatenate([(unit[part] @ centres.T).argmax(axis=1) for part in _parts(len(unit))] or [[]])
        order = np.argsort(nearest, kind="stable")
        used, first = np.unique(nearest[order].astype(np.int64), return_index=True)
        members = np.split(order, first[1:]) if len(used) else []
        reach = [_angles(unit[rows] @ centres[one]).max() for one, rows in zip(used, members, strict=True)]
        return cls(unit, centres[used], members, np.array(reach, np.float32))

    def pairs(
        self, asked: Vectors, threshold: float, *, most: int | None = None, device: str | None = None
    ) -> tuple[Ints, Ints, NDArray[np.float64]]:
        """Return all pairs (row of ``asked``, row here) of at least this cosine, sorted, and their cosines.

        ``most`` bounds the pairs of one row, the first ones stay: without it many vectors of one direction make the
        square of their number. Cosines are in float64 and depend on the two vectors alone. ``device`` names a device
        of torch; without it CUDA is taken where torch finds one and the work is large, numpy elsewhere.
        """
        unit = checked(asked)
        if not len(unit) or not len(self.vectors):
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        if unit.shape[1] != self.vectors.shape[1]:
            raise ValueError(f"wanted vectors of {self.vectors.shape[1]} numbers, found {unit.shape[1]}")
        above = _product(device, unit.size * len(self.vectors))
        found: list[tuple[Ints, Ints]] = []
        near = self._near(unit, threshold)
        for cluster, own in enumerate(self.members):
            rows = np.flatnonzero(near[:, cluster])
            for left, right in _blocks(unit, rows, self.vectors, own, threshold - _ROUNDING, above):
                kept = _first_of_each(left, most)
                found.append((left[kept], right[kept]))
        left = np.concatenate([np.zeros(0, np.int64), *(left for left, _ in found)])
        right = np.concatenate([np.zeros(0, np.int64), *(right for _, right in found)])
        order = np.lexsort((right, left))
        order = order[_first_of_each(left[order], most)]
        cosines = cosines_of(unit, self.vectors, (left[order], right[order]))
        kept = np.flatnonzero(cosines >= threshold)
        return left[order][kept], right[order][kept], cosines[kept]

    def _near(self, unit: Vectors, threshold: float) -> NDArray[np.bool_]:
        """Tell which clusters may hold a partner of each row, [rows, clusters]."""
        out = np.ones((len(unit), len(self.centres)), bool)
        if len(self.centres) < 2:
            return out
        chord, angle = np.sqrt(max(2 - 2 * threshold, 0)), np.arccos(np.clip(threshold, -1, 1))
        apart = np.sqrt(np.maximum(2 - 2 * (self.centres @ self.centres.T), 1e-12))
        for part in _parts(len(unit)):
            cosines = unit[part] @ self.centres.T
            nearest = cosines.argmax(axis=1)
            beyond = cosines.max(axis=1)[:, None] - cosines
            out[part] = beyond <= (chord + _ROUNDING) * apart[nearest] + _ROUNDING
            # The cosine of a small angle is flat, so that rounding moves the angle by its root.
            out[part] &= _angles(cosines) <= self.reach + angle + np.sqrt(_ROUNDING)
        return out


def cosines_of(left: Vectors, right: Vectors, pairs: tuple[Ints, Ints]) -> NDArray[np.float64]:
    """Return the cosine of each pair (row of ``left``, row of ``right``) of unit vectors, in float64."""
    parts = [
        np.einsum("ij,ij->i", left[pairs[0][part]].astype(np.float64), right[pairs[1][part]].astype(np.float64))
        for part in _parts(len(pairs[0]))
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def checked(vectors: Vectors) -> Vectors:
    """Return vectors as float32; raises ``ValueError`` unless they are [n, d] and of unit length."""
    out = np.ascontiguousarray(vectors, np.float32)
    if out.ndim != 2:
        raise ValueError(f"wanted vectors in two dimensions, found {out.ndim}")
    bad = int(np.count_nonzero(~(np.abs(np.einsum("ij,ij->i", out, out) - 1) < 1e-3)))
    if bad:
        raise ValueError(f"wanted vectors of unit length, found {bad} of {len(out)} that are not: divide by their norm")
    return out


def _centres(unit: Vectors, count: int) -> Vectors:
    """Return ``count`` unit vectors, found by some rounds of spherical k-means over a fixed sample."""
    if count < 2:
        return unit[:1]
    order = np.argsort(sequence(_SEED, len(unit)), kind="stable")
    sample = unit[np.sort(order[: count * _SAMPLE_A_CLUSTER])]
    centres = unit[order[:count]].copy()
    for _ in range(_ROUNDS):
        nearest = np.concatenate([(sample[part] @ centres.T).argmax(axis=1) for part in _parts(len(sample))])
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, sample)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-12), centres)
    return centres


def _first_of_each(rows: Ints, most: int | None) -> Ints:
    """Return the places of the first ``most`` of each run of equal rows."""
    if most is None or not len(rows):
        return np.arange(len(rows))
    begins = np.concatenate(([True], rows[1:] != rows[:-1]))
    first = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    return np.flatnonzero(np.arange(len(rows)) - first < most)


def _angles(cosines: Any) -> Any:
    return np.arccos(np.clip(cosines, -1, 1))


def _parts(rows: int) -> Iterator[slice]:
    return (slice(low, min(low + BLOCK_ROWS, rows)) for low in range(0, rows, BLOCK_ROWS))


Above = Callable[[Vectors, Vectors, float], tuple[Ints, Ints]]


def _blocks(
    left: Vectors, rows: Ints, right: Vectors, own: Ints, least: float, above: Above
) -> Iterator[tuple[Ints, Ints]]:
    for low in range(0, len(own), BLOCK_ROWS):
        here = own[low : low + BLOCK_ROWS]
        block = right[here]
        for part in _parts(len(rows)):
            first, second = above(left[rows[part]], block, least)
            if len(first):
                yield rows[part][first], here[second]


def _product(device: str | None, work: float) -> Above:
    found = device or (_cuda() if work >= GPU_WORK else None)
    return _on_torch(found) if found else _on_numpy


def _on_numpy(left: Vectors, right: Vectors, least: float) -> tuple[Ints, Ints]:
    first, second = np.nonzero(left @ right.T >= least)
    return first, second


def _on_torch(device: str) -> Above:
    import torch

    def above(left: Vectors, right: Vectors, least: float) -> tuple[Ints, Ints]:
        with torch.inference_mode():
            cosines = torch.from_numpy(left).to(device) @ torch.from_numpy(right).to(device).T
            found = (cosines >= least).nonzero().cpu().numpy()
        return found[:, 0], found[:, 1]

    return above


@cache
def _cuda() -> str | None:
    """Name the first CUDA device that torch finds, where torch is installed."""
    try:
        import torch
    except ImportError:
        return None
    return "cuda" if torch.cuda.is_available() else None
