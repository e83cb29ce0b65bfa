"""MinHash (Broder 1997): the share of equal places in two signatures estimates the Jaccard index of two sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.mixing import U32, high_half, sequence
from pipelines.duplicates.ragged import Ints, Ragged

PERMUTATIONS = 256
EMPTY = np.uint32(0xFFFFFFFF)
"""Every place of the signature of an empty set."""

LONG_SET = 2048
"""A larger set is handled alone, its values at once; smaller ones together, a value of each at once."""

_SEED = 0x5475726E
_SETS_AT_ONCE = 512


def signatures(sets: Ragged, permutations: int = PERMUTATIONS) -> U32:
    """Return an array of shape (sets, permutations): the least value of each set under each permutation.

    Permutations are x -> a x + b modulo 2^32 with odd a, over 32-bit hashes that are mixed already. They are fixed:
    signatures of different runs compare.
    """
    factors, shifts = _permutations(permutations)
    out = np.full((len(sets), permutations), EMPTY)
    sizes = sets.sizes
    for row in np.flatnonzero(sizes > LONG_SET).tolist():
        values = sets.row(row)
        parts = [values[at : at + LONG_SET] for at in range(0, len(values), LONG_SET)]
        out[row] = np.minimum.reduce([(part[:, None] * factors + shifts).min(axis=0) for part in parts])
    # The largest first, so that those which still have a value stand at the head.
    order = np.argsort(-sizes, kind="stable")
    order = order[(sizes[order] > 0) & (sizes[order] <= LONG_SET)]
    room = np.empty((_SETS_AT_ONCE, permutations), np.uint32)
    for low in range(0, len(order), _SETS_AT_ONCE):
        rows = order[low : low + _SETS_AT_ONCE]
        out[rows] = _least(sets.values, sets.starts[rows], sizes[rows], factors, shifts, room)
    return out


def _least(values: U32, starts: Ints, sizes: Ints, factors: U32, shifts: U32, room: U32) -> U32:
    """Return the least values of sets in order of falling size: the n-th value of all sets, one n after the other."""
    least = np.full((len(starts), len(factors)), EMPTY)
    holding = np.searchsorted(-sizes, -np.arange(sizes[0]), side="left").tolist()
    for nth, count in enumerate(holding):
        permuted = np.multiply(values[starts[:count] + nth][:, None], factors, out=room[:count])
        permuted += shifts
        np.minimum(least[:count], permuted, out=least[:count])
    return least


def _permutations(count: int) -> tuple[U32, U32]:
    drawn = high_half(sequence(_SEED, 2 * count))
    return drawn[:count] | np.uint32(1), drawn[count:]


def low_bytes(signature: U32) -> NDArray[np.uint8]:
    """Return the last byte of each place: what ``estimates`` needs, in a quarter of the room (Li, König 2010)."""
    return signature.astype(np.uint8)


def estimates(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Estimate the Jaccard index of row ``i`` of both sides from the last bytes of their signatures.

    One in 256 places is equal by chance; that is taken off, so that a result may lie a little below 0.
    """
    equal = np.count_nonzero(left == right, axis=1) / left.shape[1]
    return (equal - 1 / 256) / (1 - 1 / 256)
