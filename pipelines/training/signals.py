"""What the trigger looks at beside counts: how far the examples moved, and what people say of the answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mean_drift(before: NDArray[np.float32], after: NDArray[np.float32]) -> float | None:
    """Return 1 less the cosine of the mean vectors of two sets (rows are vectors), from 0 to 2; None for an empty set.

    The mean embedding moves with topics and language, and costs one pass; it tells that something moved, not what.
    """
    if len(before) == 0 or len(after) == 0:
        return None
    first, second = before.mean(axis=0, dtype=np.float64), after.mean(axis=0, dtype=np.float64)
    norm = float(np.linalg.norm(first) * np.linalg.norm(second))
    if norm == 0.0:
        return None
    return float(np.clip(1.0 - first @ second / norm, 0.0, 2.0))


def is_good(kind: str, value: float | None) -> bool | None:
    """Tell whether a rating is good; None where its kind or value does not say.

    Thumbs are 1 and -1; stars are good from 4 of 5 on; an edit, a retry or a flag says that the answer was not.
    """
    if kind in ("edit", "regenerate", "retry", "flag"):
        return False
    if kind == "copy":
        return True
    if value is None:
        return None
    if kind == "thumb":
        return value > 0
    return value >= 4 if kind == "stars" else None
