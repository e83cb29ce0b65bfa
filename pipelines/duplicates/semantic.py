"""Semantic duplicates: texts that say the same in other words, told by their embeddings and checked by their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.bands import MAX_BUCKET
from pipelines.duplicates.cluster import NONE, clusters
from pipelines.duplicates.index import Batch, Verdict
from pipelines.duplicates.ragged import Ints
from pipelines.duplicates.sketches import Sketches
from pipelines.duplicates.vector_pairs import Clustered, Vectors, checked, cosines_of
from pipelines.duplicates.verify import differs_in_value, says_otherwise, shared

SEMANTIC = "semantic_duplicate"

THRESHOLD = 0.95
"""Least cosine of two texts that say the same (own measurement, all-MiniLM-L6-v2, 750 captions of STS-B: all pairs from
0.94 on are rated 4 or more of 5, which is true of 95 % from 0.9 on, the threshold of semhash 0.5.0)."""

SAME_WORDING = 0.5
"""From this share of common words the words decide: embeddings hardly see which word is another one (own choice)."""


@dataclass(frozen=True)
class Accepted:
    """Accepted rows, earliest first, with their vectors in clusters; built once and asked for every batch."""

    batch: Batch
    vectors: Clustered

    @classmethod
    def of(cls, batch: Batch, vectors: Vectors) -> Accepted:
        """Cluster the vectors, [rows, d] float32 of unit length. Raises ``ValueError`` where a row has none."""
        return cls(batch, Clustered.of(_one_a_row(batch, vectors)))


def semantic_duplicates(
    accepted: Accepted, batch: Batch, vectors: Vectors, threshold: float = THRESHOLD, device: str | None = None
) -> list[Verdict]:
    """Decide new rows by their vectors, [rows, d] float32 of unit length; return a verdict a row, in order of the ids.

    A row goes when an accepted row, or a new one before it that stays, has a cosine of at least ``threshold`` to it and
    differs from it in no number, name, sign or negation; where both share most words, in no word either. It is matched
    to the earliest such row. A row whose id was accepted already stays and is compared with nothing. Batches are
    decided in the order of ``Batch.order``; a row is compared with the first ``MAX_BUCKET`` that are near it. All
    vectors must come from one model. Raises ``ValueError`` for vectors
    that are not of unit length or not one a row, and for a threshold that is no cosine above 0.
    """
    _require_cosine(threshold)
    unit = _one_a_row(batch, vectors)
    known = set(accepted.batch.ids)
    order = np.array([row for row in batch.order().tolist() if batch.ids[row] not in known], np.int64)
    verdicts = [Verdict()] * len(batch.ids)
    if not len(order):
        return verdicts
    new, fresh = batch.take(order), unit[order]
    pairs, cosines = _pairs(accepted, new, fresh, threshold, device)
    found = clusters(len(known) + len(order), pairs, cosines)
    ids = [*accepted.batch.ids, *new.ids]
    for place, row in enumerate(order.tolist(), len(known)):
        if found.matched[place] != NONE:
            verdicts[row] = Verdict(SEMANTIC, ids[int(found.matched[place])], float(found.scores[place]))
    return verdicts


def semantic_exchanges(
    batch: Batch, questions: Vectors, answers: Vectors, threshold: float = THRESHOLD, device: str | None = None
) -> list[Verdict]:
    """Decide rows of a question and its answer, each with a vector of unit length; return a verdict a row.

    A row goes with an earlier one that stays when both cosines reach the threshold, the lower one being the score:
    another answer to the same question is worth having, and so is the same answer to another question. The texts of the
    batch are question and answer together; values, order and errors are those of ``semantic_duplicates``.
    """
    _require_cosine(threshold)
    order = batch.order()
    new, sides = batch.take(order), [_one_a_row(batch, side)[order] for side in (questions, answers)]
    both = np.concatenate(sides, axis=1) / np.float32(np.sqrt(2))
    left, right, _ = Clustered.of(both).pairs(both, threshold, most=MAX_BUCKET, device=device)
    earlier = right < left
    left, right = left[earlier], right[earlier]
    lower = np.minimum(*(cosines_of(side, side, (left, right)) for side in sides))
    near = np.flatnonzero(lower >= threshold)
    near = near[_agree(new.rows.take(left[near]), new.rows.take(right[near]))]
    found = clusters(len(order), (left[near], right[near]), lower[near])
    verdicts = [Verdict()] * len(order)
    for place in np.flatnonzero(found.matched != NONE).tolist():
        matched = new.ids[int(found.matched[place])]
        verdicts[int(order[place])] = Verdict(SEMANTIC, matched, float(found.scores[place]))
    return verdicts


def _require_cosine(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold: wanted a cosine above 0 and at most 1, found {threshold}")


def _pairs(
    accepted: Accepted, new: Batch, vectors: Vectors, threshold: float, device: str | None
) -> tuple[tuple[Ints, Ints], NDArray[np.float64]]:
    """Return pairs (new row, earlier row), accepted rows counted first, that say the same, and their cosines."""
    start = len(accepted.batch.ids)
    left, right, cosines = accepted.vectors.pairs(vectors, threshold, most=MAX_BUCKET, device=device)
    agree = _agree(new.rows.take(left), accepted.batch.rows.take(right))
    own_left, own_right, own = Clustered.of(vectors).pairs(vectors, threshold, most=MAX_BUCKET, device=device)
    earlier = np.flatnonzero(own_right < own_left)
    earlier = earlier[_agree(new.rows.take(own_left[earlier]), new.rows.take(own_right[earlier]))]
    return (
        np.concatenate((left[agree], own_left[earlier])) + np.int64(start),
        np.concatenate((right[agree], own_right[earlier] + np.int64(start))),
    ), np.concatenate((cosines[agree], own[earlier]))


def _agree(a: Sketches, b: Sketches) -> Ints:
    """Return the rows in which the texts of both sides do not contradict each other.

    Texts of mostly the same words contradict each other by any other word, too; where one has too few words to be a
    near duplicate at all, unless they are equal.
    """
    alike = shared(a, b, "words") >= SAME_WORDING
    equal, comparable = a.exact == b.exact, a.comparable & b.comparable
    agree = equal.copy()
    for row in np.flatnonzero(~equal & (comparable | ~alike)).tolist():
        agree[row] = not (says_otherwise if alike[row] else differs_in_value)(a, b, row)
    return np.flatnonzero(agree)


def _one_a_row(batch: Batch, vectors: Vectors) -> Vectors:
    unit = checked(vectors)
    if len(unit) != len(batch.ids):
        raise ValueError(f"wanted a vector a row, found {len(batch.ids)} rows and {len(unit)} vectors")
    return unit
