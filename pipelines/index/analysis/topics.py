"""Topics: clusters of turns by meaning, named by the words that set them apart, keeping their numbers over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipelines.index.resident import blocks_of
from pipelines.index.rows import Vector
from pipelines.index.terms import words

ITERATIONS, TOLERANCE = 50, 1e-4
TRIES, CANDIDATES = 3, 4
"""Runs of which the best is taken, and turns of which each further seed is the best."""

NAME_WORDS = 4
SHORTEST_WORD = 3

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Topics:
    """``centres`` float32 [t, d] of unit length; ``labels`` int64 [n], the topic of each turn."""

    centres: Vector
    labels: Labels

    def counts(self) -> Labels:
        """Return the number of turns of each topic."""
        return np.bincount(self.labels, minlength=len(self.centres))


def find_topics(vectors: Vector, n_topics: int, *, before: Vector | None = None, seed: int = 0) -> Topics:
    """Cluster unit vectors [n, d] by spherical k-means (Dhillon, Modha 2001), into at most ``n_topics``.

    ``before`` are the centres of an earlier run: clusters start there, so that a topic keeps its number; where they are
    fewer than ``n_topics``, the rest is drawn from the turns far from all of them (k-means++).
    """
    if not len(vectors):
        return Topics(np.empty((0, vectors.shape[1]), np.float32), np.empty(0, np.int64))
    random = np.random.default_rng(seed)
    tries = (_clustered(vectors, _seeds(vectors, min(n_topics, len(vectors)), before, random)) for _ in range(TRIES))
    return max(tries, key=lambda found: found[1])[0]


def _clustered(vectors: Vector, centres: Vector) -> tuple[Topics, float]:
    labels, near = assign(vectors, centres)
    for _ in range(ITERATIONS):
        centres = _means(vectors, labels, centres)
        labels, now = assign(vectors, centres)
        if now.mean() - near.mean() < TOLERANCE:
            break
        near = now
    return Topics(centres, labels), float(now.mean())


def assign(vectors: Vector, centres: Vector) -> tuple[Labels, Vector]:
    """Return the nearest centre of each vector and its cosine."""
    labels, near = [], []
    for block in blocks_of(vectors):
        scores = block @ centres.T
        best = scores.argmax(axis=1)
        labels.append(best)
        near.append(scores[np.arange(len(best)), best])
    return np.concatenate(labels).astype(np.int64), np.concatenate(near)


def _seeds(vectors: Vector, n: int, before: Vector | None, random: np.random.Generator) -> Vector:
    first = vectors[random.integers(len(vectors))][None]
    centres = first if before is None or not len(before) else before[:n]
    far = 1 - assign(vectors, centres)[1]
    while len(centres) < n:
        weights = np.clip(far, 0, None).astype(np.float64) + 1e-12
        places = random.choice(len(vectors), size=CANDIDATES, p=weights / weights.sum())
        nearer = np.minimum(far[:, None], 1 - vectors @ vectors[places].T)
        best = int(nearer.sum(axis=0).argmin())
        centres, far = np.concatenate([centres, vectors[places[best]][None]]), nearer[:, best]
    return centres.astype(np.float32)


def _means(vectors: Vector, labels: Labels, centres: Vector) -> Vector:
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(centres)))
    filled = np.bincount(labels, minlength=len(centres)) > 0
    sums = centres.copy()
    sums[filled] = np.add.reduceat(vectors[order], starts[filled], axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres).astype(np.float32)


def topic_names(texts: Sequence[str], labels: Labels, n_topics: int) -> list[str]:
    """Name each topic by the words that are frequent in it and rare elsewhere (c-TF-IDF; Grootendorst 2022)."""
    inside: list[Counter[str]] = [Counter() for _ in range(n_topics)]
    for text, label in zip(texts, labels.tolist(), strict=True):
        inside[label].update(word for word in set(words(text)) if len(word) >= SHORTEST_WORD and not word.isdigit())
    everywhere: Counter[str] = Counter()
    for counts in inside:
        everywhere.update(counts)
    mean = sum(everywhere.values()) / max(n_topics, 1)
    return [" ".join(_best(counts, everywhere, mean)) or "-" for counts in inside]


def _best(counts: Counter[str], everywhere: Counter[str], mean: float) -> list[str]:
    total = max(sum(counts.values()), 1)
    weights = {word: n / total * np.log1p(mean / everywhere[word]) for word, n in counts.items()}
    return sorted(weights, key=lambda word: (-weights[word], word))[:NAME_WORDS]
