"""What to look for: the items of all benchmarks, each run of words weighted by how many items share it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipelines.decontamination.grams import SIZES, Grams, grams
from pipelines.decontamination.items import BenchmarkError, BenchmarkItem, Side
from pipelines.decontamination.words import particulars, whole_keys, words
from pipelines.duplicates.mixing import U64
from pipelines.duplicates.ragged import Ints, Ragged, starts_of

MOST_SHARED = 200
"""A run in more items than this is an instruction of the benchmark; it weighs nothing and is not looked for."""


KIND_STEP = np.int64(1) << 32
"""Between places of runs of words and of characters, so that no stretch is made of both."""


@dataclass(frozen=True, slots=True)
class ItemRef:
    """Which side of which item of which benchmark."""

    benchmark: str
    item_id: str
    side: Side


@dataclass(frozen=True)
class Postings:
    """Runs of words that are looked for, ascending, and where they stand: rows ``(items, places)`` of ``starts``."""

    runs: U64
    starts: Ints
    items: Ints
    places: Ints
    n_items: Ints

    def found(self, hashes: U64) -> Ints:
        """Return the number of the run that each hash is, -1 where it is none."""
        if not len(self.runs):
            return np.full(len(hashes), -1, np.int64)
        number = np.minimum(np.searchsorted(self.runs, hashes), len(self.runs) - 1)
        return np.where(self.runs[number] == hashes, number, -1)


@dataclass(frozen=True)
class BenchmarkIndex:
    """Items as hashes, picklable, without their texts. An item's number counts distinct texts; equal ones share it.

    ``refs`` name the items of each number; ``keys`` (of the whole text) are one an item; ``weights`` one a word, in
    order; ``particulars`` the numbers and names of an item, ascending.

    A word weighs 1 / n², n being the most items that share a run with the word in it: words of an instruction that ten
    items share weigh a hundredth of those that are an item's own. A word without a run weighs nothing.
    """

    refs: tuple[tuple[ItemRef, ...], ...]
    keys: U64
    weights: Ragged
    particulars: Ragged
    postings: Postings
    digest: str

    @property
    def n_words(self) -> Ints:
        """Words of each item."""
        return self.weights.sizes

    @cached_property
    def weights_before(self) -> NDArray[np.float64]:
        """Sum of the weights of all words before each, and of all."""
        return np.concatenate(([0.0], np.cumsum(self.weights.values)))

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """Weight of all words of each item, 0 for an item without a run."""
        return np.diff(self.weights_before[self.weights.starts])

    @property
    def is_short(self) -> NDArray[np.bool_]:
        """Tell which items have no run of words: they are found where a text, or a line of it, equals."""
        return np.bincount(self.postings.items, minlength=len(self.refs)) == 0

    def particulars_said(self, item: int, said: U64) -> float:
        """Return which share of an item's numbers and names is among words, 1 where it has none."""
        wanted = self.particulars.row(item)
        return float(np.isin(wanted, said).mean()) if len(wanted) else 1.0

    def too_short(self) -> tuple[ItemRef, ...]:
        """Return the items that are compared as a whole only."""
        return tuple(ref for number in np.flatnonzero(self.is_short) for ref in self.refs[number])


def build_index(items: Iterable[BenchmarkItem]) -> tuple[BenchmarkIndex, tuple[str, ...]]:
    """Return the index and the distinct texts in the order of their numbers, for canaries and embeddings.

    Raises ``BenchmarkError`` where no item has a word.
    """
    listed = sorted(items, key=lambda one: (one.benchmark, one.item_id, one.side, one.text))
    cut = words([one.text for one in listed])
    keys = whole_keys(cut.hashes)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    kept = np.sort(first[keys[first] != 0])
    if not len(kept):
        raise BenchmarkError("benchmarks: wanted items with words, found none; check the files and their fields")
    number = {int(keys[row]): rank for rank, row in enumerate(kept)}
    refs: list[list[ItemRef]] = [[] for _ in kept]
    for one, key in zip(listed, keys, strict=True):
        if key:
            refs[number[int(key)]].append(ItemRef(one.benchmark, one.item_id, one.side))
    texts = tuple(listed[row].text for row in kept)
    chosen = words(texts)
    postings = _postings(grams(chosen))
    index = BenchmarkIndex(
        refs=tuple(tuple(dict.fromkeys(one)) for one in refs),
        keys=keys[kept],
        weights=Ragged(_weights(postings, chosen.hashes.starts), chosen.hashes.starts),
        particulars=particulars(texts),
        postings=postings,
        digest=_digest(listed),
    )
    return index, texts


def _postings(found: Sequence[Grams]) -> Postings:
    hashes = np.concatenate([one.hashes for one in found])
    owners = np.concatenate([one.owners for one in found])
    places = np.concatenate([one.places + SIZES.index(one.size) * KIND_STEP for one in found])
    order = np.lexsort((places, owners, hashes))
    hashes, owners, places = hashes[order], owners[order], places[order]
    runs, starts, sizes = np.unique(hashes, return_index=True, return_counts=True)
    is_new = np.ones(len(hashes), bool)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
    n_items = np.add.reduceat(is_new.astype(np.int64), starts) if len(starts) else np.zeros(0, np.int64)
    kept = n_items <= MOST_SHARED
    rows = np.repeat(kept, sizes)
    return Postings(runs[kept], starts_of(sizes[kept]), owners[rows], places[rows], n_items[kept])


def _weights(postings: Postings, starts: Ints) -> NDArray[np.float64]:
    """Return the weight of each word of all items; words of item ``i`` begin at ``starts[i]``."""
    most = np.zeros(starts[-1], np.int64)
    n_items = np.repeat(postings.n_items, np.diff(postings.starts))
    kind, place = np.divmod(postings.places, KIND_STEP)
    for number, size in enumerate(SIZES):
        there = kind == number
        first = starts[postings.items[there]] + place[there]
        for offset in range(size):
            most[first + offset] = np.maximum(most[first + offset], n_items[there])
    return np.divide(1.0, most.astype(np.float64) ** 2, out=np.zeros(len(most)), where=most > 0)


def _digest(items: Sequence[BenchmarkItem]) -> str:
    """Return SHA-256 over all items in their order, hex: the version of the list."""
    digest = hashlib.sha256()
    for one in items:
        for value in (one.benchmark, one.item_id, one.side, one.text):
            content = value.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
