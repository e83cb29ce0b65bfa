"""Locality-sensitive hashing: signatures cut into bands; rows that agree in a whole band are candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipelines.duplicates.minhash import PERMUTATIONS
from pipelines.duplicates.mixing import U32, U64, high_half, mixed
from pipelines.duplicates.ragged import Ints, distinct, starts_of

RECALL = 0.9
"""Share of the pairs right at the threshold that become candidates; pairs above it are found more often."""

MAX_BUCKET = 64
"""So many rows of a bucket are compared, the earliest ones. A bucket that holds more is a template or scaffold."""


@dataclass(frozen=True)
class Bands:
    """How signatures are cut: ``count`` bands of ``rows`` places each."""

    count: int
    rows: int

    def chance(self, jaccard: float) -> float:
        """Return the chance that two sets with this Jaccard index agree in a band."""
        return float(1 - (1 - max(jaccard, 0.0) ** self.rows) ** self.count)


def bands_for(jaccard: float, permutations: int = PERMUTATIONS, recall: float = RECALL) -> Bands:
    """Return the longest bands that still find pairs of this Jaccard index with chance ``recall``.

    Longer bands make fewer false candidates. Below about 0.02 even bands of one place find fewer.
    """
    cuts = [Bands(permutations // rows, rows) for rows in range(1, permutations + 1)]
    return max((cut for cut in cuts if cut.chance(jaccard) >= recall), key=lambda cut: cut.rows, default=cuts[0])


def band_keys(signature: U32, cut: Bands) -> U32:
    """Return an array of shape (bands, sets): the key of each band. Keys of different bands do not compare."""
    keys = np.zeros((cut.count, len(signature)), np.uint64)
    for place in range(cut.rows):
        part: U64 = signature[:, place : cut.count * cut.rows : cut.rows].T.astype(np.uint64)
        keys = mixed(keys ^ (part + np.uint64(place << 32)))
    return high_half(keys)


@dataclass(frozen=True)
class Buckets:
    """Band keys of many rows, each band sorted by key and then row: ``keys`` and ``rows`` have shape (bands, rows)."""

    keys: U32
    rows: U32

    @classmethod
    def of(cls, keys: U32) -> Buckets:
        """Sort the keys of each band; among equal keys the earliest row is first."""
        order = np.stack([np.argsort(band, kind="stable") for band in keys]).astype(np.uint32)
        return cls(np.take_along_axis(keys, order.astype(np.int64), axis=1), order)

    def candidates(self, keys: U32) -> tuple[Ints, Ints, int]:
        """Return pairs (column of ``keys``, row here) that agree in a band, each once, and how many look-ups were cut.

        At most ``MAX_BUCKET`` rows of a bucket are returned, the earliest.
        """
        pairs: list[U64] = []
        cut = 0
        for band, own, rows in zip(keys, self.keys, self.rows, strict=True):
            asked = np.argsort(band)
            first = np.searchsorted(own, band[asked], side="left")
            sizes = np.searchsorted(own, band[asked], side="right") - first
            cut += int(np.count_nonzero(sizes > MAX_BUCKET))
            pairs.append(_spread(asked, first, np.minimum(sizes, MAX_BUCKET), rows))
        found = distinct(np.concatenate(pairs)) if pairs else np.zeros(0, np.uint64)
        return (found >> np.uint64(32)).astype(np.int64), (found & np.uint64(0xFFFFFFFF)).astype(np.int64), cut


def _spread(asked: Ints, first: Ints, sizes: Ints, rows: U32) -> U64:
    starts = starts_of(sizes)
    places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
    return (np.repeat(asked, sizes).astype(np.uint64) << np.uint64(32)) | rows[places]
