"""Read a text that is longer than the model: windows that overlap, their vectors pooled by what each has read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

LongTexts = Literal["windows", "head"]
"""``windows``: read all of a long text in pieces and pool them; ``head``: read only its first tokens."""

OVERLAP_TOKENS = 32
"""Tokens that two neighbouring windows share, so that a sentence at a border is read whole once."""

MOST_WINDOWS = 64
"""Windows of one text: about 16,000 tokens for a model of 256. What lies beyond is not read, and the row says so."""


@dataclass(frozen=True)
class Windows:
    """Pieces of one text as character spans [start, end), the tokens of each, and whether they reach its end."""

    spans: tuple[tuple[int, int], ...]
    n_tokens: tuple[int, ...]
    whole: bool


def cut_windows(offsets: Sequence[tuple[int, int]], room: int) -> Windows:
    """Cut a text by its token offsets into windows of at most ``room`` tokens.

    ``offsets`` are the character spans of its tokens, without special tokens; ``room`` is at least 1. The overlap
    shrinks to a quarter of ``room`` where a model reads very little. Together the windows cover every token up to
    the end of the last one.
    """
    if room < 1:
        raise ValueError(f"wanted room for at least 1 token beside the prompt, found {room}; shorten the prompt")
    step = room - min(OVERLAP_TOKENS, room // 4)
    starts = [0]
    while starts[-1] + room < len(offsets) and len(starts) < MOST_WINDOWS:
        starts.append(starts[-1] + step)
    ends = [min(start + room, len(offsets)) for start in starts]
    spans = tuple((offsets[start][0], offsets[end - 1][1]) for start, end in zip(starts, ends, strict=True))
    counts = tuple(end - start for start, end in zip(starts, ends, strict=True))
    return Windows(spans, counts, ends[-1] == len(offsets))


def pool_windows(
    vectors: npt.NDArray[np.float32], weights: npt.NDArray[np.int32], owners: npt.NDArray[np.intp], n_texts: int
) -> npt.NDArray[np.float32]:
    """Return the weighted sum of each text's windows, float32 [n_texts, d], not yet of unit length.

    ``vectors`` [w, d] of unit length, ``weights`` [w] their tokens, ``owners`` [w] the text of each, in any order.
    """
    pooled = np.zeros((n_texts, vectors.shape[1]), dtype=np.float64)
    np.add.at(pooled, owners, vectors * weights[:, None])
    return pooled.astype(np.float32)
