"""What was accepted so far, and new rows against it and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.bands import Buckets
from pipelines.duplicates.cluster import NONE, clusters
from pipelines.duplicates.mixing import U64
from pipelines.duplicates.ragged import Ints
from pipelines.duplicates.sketches import Sketches, joined, sketches
from pipelines.duplicates.verify import Likeness, near_duplicates

EXACT, NEAR = "exact_duplicate", "near_duplicate"
MERGE_RATIO = 2
"""A segment is joined with the next when that is less than so many times as large: few segments, little copied."""

CHUNK_ROWS = 10_000
"""New rows that are looked up together; bounds the memory of their candidates."""


@dataclass(frozen=True)
class Verdict:
    """What became of a row: ``rule`` is None where it stays, else why it goes; ``matched_id`` is the row it repeats."""

    rule: str | None = None
    matched_id: str | None = None
    score: float | None = None

    @property
    def dropped(self) -> bool:
        """Whether the row repeats another one."""
        return self.rule is not None


@dataclass(frozen=True)
class Batch:
    """New rows: their ids, all different, and the sketch of each.

    Rows are decided, and those that stay accepted, by ascending ``ranks`` and then ids; by ids without ranks.
    """

    ids: Sequence[str]
    rows: Sketches
    ranks: Sequence[float] | None = None

    def take(self, rows: Ints) -> Batch:
        """Return the rows asked for, in the order asked for, without ranks."""
        return Batch([self.ids[row] for row in rows.tolist()], self.rows.take(rows))

    def order(self) -> Ints:
        """Return the rows in the order in which they are decided."""
        ranks = self.ranks or [0.0] * len(self.ids)
        return np.array(sorted(range(len(self.ids)), key=lambda row: (ranks[row], self.ids[row])), np.int64)


class Segment:
    """Accepted rows that were joined at one time, in order of acceptance, with their keys sorted."""

    def __init__(self, batch: Batch, alive: NDArray[np.bool_] | None = None) -> None:
        self.batch = batch
        self.alive = np.ones(len(batch.rows), bool) if alive is None else alive
        self._comparable = np.flatnonzero(batch.rows.comparable)
        self._buckets = Buckets.of(np.ascontiguousarray(batch.rows.bands[self._comparable].T))
        self._by_exact = np.argsort(batch.rows.exact, kind="stable")
        self._exact = batch.rows.exact[self._by_exact]

    def __len__(self) -> int:
        return len(self.alive)

    def equal(self, keys: U64) -> Ints:
        """Return the first living row with each key, ``NONE`` where there is none."""
        found = np.full(len(keys), NONE, np.int64)
        low, high = (np.searchsorted(self._exact, keys, side=side) for side in ("left", "right"))
        for place in np.flatnonzero(high > low).tolist():
            rows = self._by_exact[low[place] : high[place]]
            living = rows[self.alive[rows]]
            found[place] = living[0] if len(living) else NONE
        return found

    def near(
        self, rows: Sketches, likeness: Likeness, *, earlier: bool = False
    ) -> tuple[Ints, Ints, NDArray[np.float64], int]:
        """Return pairs (row of ``rows``, living row here) that are near duplicates, their scores, and cut look-ups.

        With ``earlier`` only pairs whose second row has the lower number: ``rows`` are those of this segment.
        """
        asked = np.flatnonzero(rows.comparable)
        new, own, cut = self._buckets.candidates(np.ascontiguousarray(rows.bands[asked].T))
        new, own = asked[new], self._comparable[own]
        wanted = self.alive[own] & (own < new) if earlier else self.alive[own]
        new, own = new[wanted], own[wanted]
        found, scores = near_duplicates(rows, self.batch.rows, (new, own), likeness)
        return new[found], own[found], scores[found], cut

    def living(self) -> Batch:
        """Return the rows that are not forgotten."""
        return self.batch if self.alive.all() else self.batch.take(np.flatnonzero(self.alive))


@dataclass
class AcceptedIndex:
    """Rows of one tenant that were accepted, by id; finds what repeats them.

    ``crowded`` counts look-ups in buckets that were full, where a match may have been missed. Memory grows with the
    accepted rows: 4 bytes for each of their distinct words and pairs, 256 of the signature, 12 a band, and their ids.
    """

    likeness: Likeness = Likeness()
    segments: list[Segment] = field(default_factory=list)
    crowded: int = 0
    _places: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._places

    def batch(
        self,
        ids: Sequence[str],
        texts: Sequence[str],
        *,
        exact_texts: Sequence[str] | None = None,
        ranks: Sequence[float] | None = None,
    ) -> Batch:
        """Return rows as this index compares them.

        ``exact_texts`` tell which rows are equal, where that is more than the text that is compared. Raises
        ``ValueError`` where an id comes twice.
        """
        if len(set(ids)) != len(ids):
            raise ValueError(f"wanted an id a row, found {len(ids)} rows with {len(set(ids))} ids")
        return Batch(ids, sketches(texts, self.likeness.cut(), exact_texts=exact_texts), ranks)

    def take(self, batch: Batch) -> list[Verdict]:
        """Decide new rows in their order and accept those that stay; return a verdict a row, in the order of the ids.

        A row goes when it equals or nearly equals a row that was accepted before, or one before it in the batch that
        stays; it is matched to the earliest such row, equal ones first. A row whose id was accepted already stays and
        is compared with nothing: a batch that is taken again gets the same answers and adds nothing.
        """
        verdicts = self.decide(batch)
        order = batch.order().tolist()
        fresh = [row for row in order if not verdicts[row].dropped and batch.ids[row] not in self._places]
        self.accept(batch.take(np.array(fresh, np.int64)))
        return verdicts

    def decide(self, batch: Batch) -> list[Verdict]:
        """Decide new rows as ``take`` does, without accepting any."""
        verdicts = [Verdict()] * len(batch.ids)
        unknown = np.array([row for row in batch.order().tolist() if batch.ids[row] not in self._places], np.int64)
        leaders, followed = _first_of_equal(batch.rows.exact[unknown])
        rows = batch.take(unknown[leaders])
        decided = self._against_accepted(rows)
        self._among_each_other(rows, decided)
        for row, verdict in zip(unknown[leaders].tolist(), decided, strict=True):
            verdicts[row] = verdict or Verdict()
        for row, first in zip(unknown.tolist(), unknown[followed].tolist(), strict=True):
            if row != first:
                told = verdicts[first]
                verdicts[row] = told if told.dropped else Verdict(EXACT, batch.ids[first], 1.0)
        return verdicts

    def accept(self, batch: Batch) -> None:
        """Add rows as they are, in the order of the batch. Raises ``ValueError`` where an id is there already."""
        if any(one in self._places for one in batch.ids):
            raise ValueError("wanted ids that were not accepted yet, found one that was")
        if not len(batch.rows):
            return
        start = sum(map(len, self.segments))
        self._places.update(zip(batch.ids, range(start, start + len(batch.ids)), strict=True))
        batches, alive, size = [batch], [np.ones(len(batch.rows), bool)], len(batch.rows)
        while self.segments and len(self.segments[-1]) < MERGE_RATIO * size:
            last = self.segments.pop()
            batches.insert(0, last.batch)
            alive.insert(0, last.alive)
            size += len(last)
        self.segments.append(Segment(_joined(batches), np.concatenate(alive)))

    def forget(self, ids: Sequence[str]) -> int:
        """Leave accepted rows out of all later answers (erased, withdrawn); return how many were there."""
        found = sorted(self._places.pop(one) for one in set(ids) if one in self._places)
        start = 0
        for segment in self.segments:
            own = [row - start for row in found if start <= row < start + len(segment)]
            segment.alive[own] = False
            start += len(segment)
        return len(found)

    def accepted(self) -> Batch:
        """Return all rows that are not forgotten, in order of acceptance: what is stored and accepted again later."""
        return _joined([segment.living() for segment in self.segments]) if self.segments else self.batch([], [])

    def _against_accepted(self, batch: Batch) -> list[Verdict | None]:
        decided: list[Verdict | None] = [None] * len(batch.ids)
        for segment in self.segments:
            for row, own in enumerate(segment.equal(batch.rows.exact).tolist()):
                if own != NONE and decided[row] is None:
                    decided[row] = Verdict(EXACT, segment.batch.ids[own], 1.0)
        for segment in self.segments:
            left = np.array([row for row, one in enumerate(decided) if one is None], np.int64)
            for low in range(0, len(left), CHUNK_ROWS):
                self._near_in(segment, batch, left[low : low + CHUNK_ROWS], decided)
        return decided

    def _near_in(self, segment: Segment, batch: Batch, rows: Ints, decided: list[Any]) -> None:
        new, own, scores, cut = segment.near(batch.rows.take(rows), self.likeness)
        self.crowded += cut
        for place in np.lexsort((own, new)).tolist():
            row = int(rows[new[place]])
            if decided[row] is None:
                decided[row] = Verdict(NEAR, segment.batch.ids[int(own[place])], float(scores[place]))

    def _among_each_other(self, batch: Batch, decided: list[Verdict | None]) -> None:
        left = np.array([row for row, one in enumerate(decided) if one is None], np.int64)
        if len(left) < 2:
            return
        rows = batch.take(left)
        new, own, scores, cut = Segment(rows).near(rows.rows, self.likeness, earlier=True)
        self.crowded += cut
        found = clusters(len(left), (new, own), scores)
        for row in np.flatnonzero(found.matched != NONE).tolist():
            matched = rows.ids[int(found.matched[row])]
            decided[int(left[row])] = Verdict(NEAR, matched, float(found.scores[row]))


def _first_of_equal(keys: U64) -> tuple[Ints, Ints]:
    """Return the first row of each key in order of rows, and for each row the first one with its key."""
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return np.sort(first), first[place]


def _joined(parts: Sequence[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    return Batch([one for part in parts for one in part.ids], joined([part.rows for part in parts]))
