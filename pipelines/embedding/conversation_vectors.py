"""Make the vector of a conversation from those of its turns, without the model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def conversation_vectors(
    vectors: npt.NDArray[np.float32], n_tokens: npt.NDArray[np.int32], n_turns: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32]:
    """Return the mean of each conversation's turns weighted by their tokens, float32 [c, d] of unit length.

    ``vectors`` [t, d] and ``n_tokens`` [t] are those of all turns, conversation after conversation; ``n_turns`` [c]
    says how many belong to each. A conversation without a vector to take (no turn, no token, or turns that cancel
    out) gets zeros. Raises ValueError where the three do not fit together.
    """
    if len(vectors) != len(n_tokens) or int(n_turns.sum()) != len(vectors) or (n_turns < 0).any():
        raise ValueError(
            f"wanted one vector and one count a turn, found {len(vectors)} vectors, {len(n_tokens)} counts and "
            f"{int(n_turns.sum())} turns in {len(n_turns)} conversations"
        )
    owners = np.repeat(np.arange(len(n_turns)), n_turns)
    sums = np.zeros((len(n_turns), vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, owners, vectors.astype(np.float64) * n_tokens[:, None])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # A sum that rounding alone keeps from zero has no direction worth telling.
    floor = 1e-6 * np.bincount(owners, weights=n_tokens, minlength=len(n_turns))[:, None]
    return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > floor).astype(np.float32)
