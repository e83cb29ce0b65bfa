"""Group texts into forward passes of about equal cost: by tokens, longest first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def batches_by_tokens(n_tokens: npt.NDArray[np.int32], budget: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield row numbers, longest texts first, so that rows x longest of each batch stays within ``budget`` tokens.

    Longest first: memory that is too small shows in the first batch. A text above the budget goes alone.
    """
    order = np.argsort(-n_tokens, kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(n_tokens[order[start]]))
        end = start + max(1, budget // longest)
        yield order[start:end]
        start = end
