"""Examples against the index: how much of an item is there, in how long a stretch, and which of its names are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.decontamination.grams import SIZES, grams
from pipelines.decontamination.index import KIND_STEP, BenchmarkIndex
from pipelines.decontamination.words import Words, whole_keys, words
from pipelines.duplicates.ragged import Ints, Ragged, starts_of

PIECE = re.compile(r"[\n.!?:;。！？：]+\s*")
"""Ends a line or sentence: "Question: What is 2+2?" holds the item "What is 2+2?"."""

LONGEST_PIECE = 400
"""Characters of a piece that may equal a short item."""

_PLACES_A_PAIR = KIND_STEP * len(SIZES)


@dataclass(frozen=True)
class Overlaps:
    """Pairs of example and item that have something in common, as columns of one length, in ascending order.

    ``cover``: share of the item's weight, 0 to 1; ``stretch``: words of the longest stretch in common; ``own_stretch``
    the same, of runs that no other item has; ``particulars``: share of the item's numbers and names that the example
    has, 1 where there are none; ``whole``: 2 where a message equals the item, 1 where a line or sentence does, else 0.
    """

    examples: Ints
    items: Ints
    cover: NDArray[np.float64]
    stretch: Ints
    own_stretch: Ints
    particulars: NDArray[np.float64]
    whole: Ints

    def __len__(self) -> int:
        return len(self.examples)


def overlaps(
    index: BenchmarkIndex, examples: Sequence[Sequence[str]], least_cover: float, least_words: int
) -> Overlaps:
    """Return all pairs with a cover of ``least_cover``, a stretch of ``least_words``, or an item that is there whole.

    An example is the texts of its messages; runs of words do not cross from one into the next.
    """
    texts = [text for example in examples for text in example]
    owners = np.repeat(np.arange(len(examples)), [len(example) for example in examples])
    cut = words(texts)
    pairs, cover, stretch, own = _by_runs(index, cut, owners)
    wanted = (cover >= least_cover) | (own >= least_words)
    pairs, cover, stretch, own = pairs[wanted], cover[wanted], stretch[wanted], own[wanted]
    whole_pairs, whole = _by_whole(index, texts, cut, owners)
    all_pairs = np.union1d(pairs, whole_pairs)
    at, at_whole = np.searchsorted(all_pairs, pairs), np.searchsorted(all_pairs, whole_pairs)
    found, items = np.divmod(all_pairs, len(index.refs))
    return Overlaps(
        found,
        items,
        _filled(len(all_pairs), at, cover, np.float64),
        _filled(len(all_pairs), at, stretch, np.int64),
        _filled(len(all_pairs), at, own, np.int64),
        _particulars(index, cut, owners, found, items),
        _filled(len(all_pairs), at_whole, whole, np.int64),
    )


def _filled(size: int, at: Ints, values: NDArray[Any], kind: type) -> NDArray[Any]:
    out: NDArray[Any] = np.zeros(size, kind)
    out[at] = values
    return out


def _by_runs(index: BenchmarkIndex, cut: Words, owners: Ints) -> tuple[Ints, NDArray[np.float64], Ints, Ints]:
    """Return pairs, their covers, and their longest stretches, all and own."""
    postings = index.postings
    hits = []
    for one in grams(cut):
        run = postings.found(one.hashes)
        there = run >= 0
        hits.append(owners[one.owners[there]] * len(postings.runs) + run[there])
    example, run = np.divmod(np.unique(np.concatenate(hits)), max(len(postings.runs), 1))
    sizes = postings.starts[run + 1] - postings.starts[run]
    rows = np.arange(sizes.sum()) + np.repeat(postings.starts[run] - starts_of(sizes)[:-1], sizes)
    pair = np.repeat(example, sizes) * len(index.refs) + postings.items[rows]
    pairs, number = np.unique(pair, return_inverse=True)
    keys = number * _PLACES_A_PAIR + postings.places[rows]
    own = np.repeat(postings.n_items[run] == 1, sizes)
    return (
        pairs,
        _cover(index, np.sort(keys), pairs % len(index.refs)),
        _longest(np.sort(keys), len(pairs)),
        _longest(np.sort(keys[own]), len(pairs)),
    )


def _cover(index: BenchmarkIndex, keys: Ints, items: Ints) -> NDArray[np.float64]:
    """Return which share of the weight of each pair's item lies in runs; ``keys`` are pair and place, ascending."""
    pair, place = np.divmod(keys, _PLACES_A_PAIR)
    kind, place = np.divmod(place, KIND_STEP)
    size = np.array(SIZES)[kind]
    first = index.weights.starts[items[pair]] + place
    last = first + size
    # A word in two runs that follow each other counts once.
    seen = np.concatenate(([0], last[:-1]))
    same = np.concatenate(([False], (pair[1:] == pair[:-1]) & (kind[1:] == kind[:-1])))
    gained = index.weights_before[last] - index.weights_before[np.where(same, np.maximum(first, seen), first)]
    return np.minimum(np.bincount(pair, gained, len(items)) / np.maximum(index.totals[items], 1e-12), 1.0)


def _longest(keys: Ints, n_pairs: int) -> Ints:
    """Return the words of the longest stretch of neighbouring runs for each pair."""
    if not len(keys):
        return np.zeros(n_pairs, np.int64)
    begins = np.concatenate(([True], np.diff(keys) != 1))
    first = np.flatnonzero(begins)
    lengths = np.diff(np.concatenate((first, [len(keys)])))
    pair, start = np.divmod(keys[first], _PLACES_A_PAIR)
    longest = np.zeros(n_pairs, np.int64)
    np.maximum.at(longest, pair, lengths + np.array(SIZES)[start // KIND_STEP] - 1)
    return longest


def _by_whole(index: BenchmarkIndex, texts: Sequence[str], cut: Words, owners: Ints) -> tuple[Ints, Ints]:
    """Return pairs of example and short item where a message, or a line or sentence of it, is the item."""
    short = np.flatnonzero(index.is_short)
    order = np.argsort(index.keys[short])
    keys = Ragged(index.keys[short][order], np.array([0, len(short)]))
    message = _equal(keys, whole_keys(cut.hashes), owners, short[order], len(index.refs))
    pieces = [
        (row, piece)
        for row, text in enumerate(texts)
        for piece in PIECE.split(text)
        if 0 < len(piece) <= LONGEST_PIECE and len(piece) < len(text)
    ]
    rows = np.array([row for row, _ in pieces], np.int64)
    piece_keys = whole_keys(words([piece for _, piece in pieces]).hashes)
    partly = np.setdiff1d(_equal(keys, piece_keys, owners[rows], short[order], len(index.refs)), message)
    pairs = np.concatenate((message, partly))
    kinds = np.concatenate((np.full(len(message), 2), np.full(len(partly), 1)))
    order = np.argsort(pairs)
    return pairs[order], kinds[order]


def _equal(keys: Ragged, found: NDArray[np.uint64], owners: Ints, items: Ints, n_items: int) -> Ints:
    if not len(keys.values) or not len(found):
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(keys.values, found), len(keys.values) - 1)
    equal = (keys.values[at] == found) & (found != 0)
    return np.unique(owners[equal] * n_items + items[at[equal]])


def _particulars(index: BenchmarkIndex, cut: Words, owners: Ints, found: Ints, items: Ints) -> NDArray[np.float64]:
    """Return which share of an item's numbers and names each pair's example has among its words."""
    sizes = cut.hashes.sizes
    bounds = starts_of(np.bincount(owners, sizes, minlength=int(owners[-1]) + 1 if len(owners) else 0).astype(np.int64))
    pairs = zip(found.tolist(), items.tolist(), strict=True)
    said = ((item, cut.hashes.values[bounds[example] : bounds[example + 1]]) for example, item in pairs)
    return np.array([index.particulars_said(item, words) for item, words in said])
