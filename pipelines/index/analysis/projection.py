"""A map of turns in two dimensions, by principal components."""

from __future__ import annotations

import numpy as np

from pipelines.index.rows import Vector


def project(vectors: Vector) -> tuple[Vector, float]:
    """Return float32 [n, 2] along the two directions of most variance, and the share of variance that they keep.

    The sign of each axis is fixed by its largest coordinate, so that the same turns give the same map.
    """
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2), np.float32), 0.0
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    axes = directions[:, [-1, -2]]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    kept = float(values[-2:].sum() / max(values.sum(), 1e-12))
    return (centred @ axes).astype(np.float32), kept
