"""Topics of questions: clusters of their vectors, named by the words that are frequent in one and rare in the others.

Pure numpy: spherical k-means with a seeded start (Dhillon and Modha, Machine Learning 42, 2001; k-means++, Arthur and
Vassilvitskii, SODA 2007). The same input and seed give the same topics.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

QUESTIONS_A_TOPIC = 20
"""With fewer a cluster says more about its questions than about a topic."""
OWNERS_A_TERM = 5
"""Users whose questions must have a word before it may name a topic: a name is no place for one person's words."""
TERMS_A_NAME = 3

_WORD = re.compile(r"[^\W\d_]{3,}")
_REPLACED = re.compile(r"<[A-Z][A-Z_]*_[A-Z0-9]+>|\[[A-Z][A-Z_]*\]")


def find_centroids(vectors: Vectors, count: int, seed: int, *, rounds: int = 25) -> Vectors:
    """Return at most ``count`` unit vectors (n_topics, n_dimensions) that the rows of ``vectors`` gather around.

    ``vectors`` has rows of unit length. Fewer than 20 rows a topic make fewer topics; fewer than 40 rows make none.
    """
    n_topics = min(count, len(vectors) // QUESTIONS_A_TOPIC)
    if n_topics < 2:
        return vectors[:0]
    centroids = _far_starts(vectors, n_topics, np.random.default_rng(seed))
    labels = nearest(vectors, centroids)
    for _ in range(rounds):
        sums = np.zeros((n_topics, vectors.shape[1]), np.float64)
        np.add.at(sums, labels, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # A cluster that lost its last row stays where it was.
        centroids = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centroids).astype(np.float32)
        moved = nearest(vectors, centroids)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return centroids


def nearest(vectors: Vectors, centroids: Vectors) -> Labels:
    """Return for each row of ``vectors`` the number of the centroid with the highest cosine; the lowest of equals."""
    return np.asarray(np.argmax(vectors @ centroids.T, axis=1), dtype=np.int64)


def _far_starts(vectors: Vectors, n_topics: int, chance: np.random.Generator) -> Vectors:
    chosen = [int(chance.integers(len(vectors)))]
    distance = 1 - vectors @ vectors[chosen[0]]
    for _ in range(n_topics - 1):
        weight = np.maximum(distance.astype(np.float64), 0) ** 2
        total = weight.sum()
        share = weight / total if total > 0 else None
        chosen.append(int(chance.choice(len(vectors), p=share)))
        distance = np.minimum(distance, 1 - vectors @ vectors[chosen[-1]])
    return vectors[chosen]


def topic_names(texts: Sequence[str], owners: Sequence[str], labels: Labels, n_topics: int) -> list[str]:
    """Return a name a topic: up to three words by class-based TF-IDF (Grootendorst, arXiv 2203.05794).

    A word counts once a text. Only words of at least five owners name anything; without one the name is ``topic N``.
    """
    counts = [Counter[str]() for _ in range(n_topics)]
    seen: dict[str, set[str]] = {}
    for text, owner, label in zip(texts, owners, labels, strict=True):
        words = set(_WORD.findall(_REPLACED.sub(" ", text).lower()))
        counts[label].update(words)
        for word in words:
            seen.setdefault(word, set()).add(owner)
    shared = {word for word, who in seen.items() if len(who) >= OWNERS_A_TERM}
    overall = sum(counts, Counter[str]())
    mean = sum(overall.values()) / max(n_topics, 1)
    return [_name(nth, count, shared, overall, mean) for nth, count in enumerate(counts)]


def _name(nth: int, count: Counter[str], shared: set[str], overall: Counter[str], mean: float) -> str:
    weights = {word: n * math.log(1 + mean / overall[word]) for word, n in count.items() if word in shared}
    best = sorted(weights, key=lambda word: (-weights[word], word))[:TERMS_A_NAME]
    return ", ".join(best) or f"topic {nth}"
