"""Whether turns of two windows differ in meaning, how sure that is, and which topics grew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.index.analysis.topics import Labels
from pipelines.index.rows import Vector

FEATURES, PERMUTATIONS, PAIRS_FOR_SCALE = 512, 500, 2000


@dataclass(frozen=True)
class Drift:
    """``score`` is the maximum mean discrepancy of the windows, 0 for equal ones, below the square root of 2.

    ``p_value`` is the share of random splits of the same turns that differ at least as much; with few turns it cannot
    be small.
    """

    score: float
    p_value: float
    turns_before: int
    turns_after: int


def drift(before: Vector, after: Vector, *, permutations: int = PERMUTATIONS, seed: int = 0) -> Drift:
    """Compare unit vectors [n, d] and [m, d] of two windows by a kernel two-sample test.

    Gretton et al., JMLR 13 (2012), with a Gaussian kernel of median width, in random Fourier features (Rahimi, Recht
    2007), so that time is linear in the turns. Raises ``ValueError`` for a window of fewer than two turns.
    """
    if min(len(before), len(after)) < 2:
        raise ValueError(f"wanted two turns or more in each window, found {len(before)} and {len(after)}")
    random = np.random.default_rng(seed)
    features = _features(np.concatenate([before, after]), random)
    n, total = len(before), len(features)
    everything = features.sum(axis=0)

    def differ(inside: np.ndarray) -> float:
        left = features[inside].sum(axis=0)
        return float(np.linalg.norm(left / n - (everything - left) / (total - n)))

    seen = differ(np.arange(n))
    as_far = sum(differ(random.permutation(total)[:n]) >= seen - 1e-12 for _ in range(permutations))
    return Drift(seen, (as_far + 1) / (permutations + 1), n, total - n)


def _features(vectors: Vector, random: np.random.Generator) -> Vector:
    pairs = random.integers(len(vectors), size=(PAIRS_FOR_SCALE, 2))
    apart = np.linalg.norm(vectors[pairs[:, 0]] - vectors[pairs[:, 1]], axis=1)
    width = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    directions = random.normal(scale=1 / width, size=(vectors.shape[1], FEATURES // 2)).astype(np.float32)
    angles = vectors @ directions
    features = np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(FEATURES // 2)
    return features.astype(np.float32)


@dataclass(frozen=True)
class TopicChange:
    """Share of a topic's turns in each window; ``z`` is the difference in standard errors (two-proportion test)."""

    topic: int
    share_before: float
    share_after: float
    z: float


def topic_changes(before: Labels, after: Labels, n_topics: int) -> list[TopicChange]:
    """Return all topics, the ones that grew most surely first."""
    counts = [np.bincount(labels, minlength=n_topics) for labels in (before, after)]
    n, m = max(len(before), 1), max(len(after), 1)
    pooled = (counts[0] + counts[1]) / (n + m)
    error = np.sqrt(np.maximum(pooled * (1 - pooled) * (1 / n + 1 / m), 1e-12))
    z = (counts[1] / m - counts[0] / n) / error
    return [
        TopicChange(int(t), float(counts[0][t] / n), float(counts[1][t] / m), float(z[t]))
        for t in np.argsort(-z, kind="stable")
    ]
