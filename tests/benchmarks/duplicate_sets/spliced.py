"""Millions of texts in little time, spliced from spans of other texts; seeded."""

from __future__ import annotations

import random
from collections.abc import Iterator

SPAN_WORDS = (5, 14)
MEAN_SPANS, SPREAD, MAX_SPANS = 4.0, 0.7, 40


def spliced(pool: list[list[str]], count: int, seed: int) -> Iterator[str]:
    """Yield texts of spans from the texts of ``pool`` (lists of words), about 40 words each, log-normal.

    Two of them share a span by chance alone, so that none nearly repeats another.
    """
    draw = random.Random(seed)
    chance, whole = draw.random, len(pool)
    for _ in range(count):
        spans = max(1, min(MAX_SPANS, round(draw.lognormvariate(0, SPREAD) * MEAN_SPANS)))
        words: list[str] = []
        for _ in range(spans):
            one = pool[int(chance() * whole)]
            size = SPAN_WORDS[0] + int(chance() * (SPAN_WORDS[1] - SPAN_WORDS[0] + 1))
            start = int(chance() * max(1, len(one) - size))
            words += one[start : start + size]
        yield " ".join(words)
