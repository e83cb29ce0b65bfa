"""Whether two texts that look alike are near duplicates: by their real sets, and by what must not differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.bands import Bands, bands_for
from pipelines.duplicates.minhash import PERMUTATIONS, estimates
from pipelines.duplicates.ragged import Ints, sizes_in_common
from pipelines.duplicates.sketches import SHORT_WORDS, Sketches

WORDS_A_CONFLICT = 200
"""A number or name that differs keeps texts apart where it is one in so many words or fewer (own choice): a form letter
says something else to everybody, a page with another date at its end is the same page."""

ESTIMATE_SLACK = 0.12
"""Four standard deviations of an estimate from 256 places (0.03 at a Jaccard index of 0.5)."""

ORDER_SLACK = 0.7
"""How much fewer pairs may survive than edits spread over the text leave: threshold^2 of them (own choice)."""

LIKE_SPELLED = 0.4
"""Share of letter pairs that a slip of the pen leaves: swapped neighbours in a word of six leave 4 of 10."""

CHUNK_PAIRS = 20_000
_FIRST_LETTER = 58


@dataclass(frozen=True)
class Likeness:
    """How alike texts must be. ``threshold`` is the share of their distinct words that both have (Sørensen-Dice).

    Raises ``ValueError`` unless the threshold lies above 0.3 and is at most 1: below, most texts are alike.
    """

    threshold: float = 0.8

    def __post_init__(self) -> None:
        if not 0.3 < self.threshold <= 1:
            raise ValueError(f"threshold: wanted more than 0.3 and at most 1, found {self.threshold}")

    @property
    def pairs(self) -> float:
        """Share of word pairs that must be in both: the same words in another order say something else."""
        return ORDER_SLACK * self.threshold**2

    @property
    def jaccard(self) -> float:
        """Jaccard index of words and pairs together, where edits that leave ``threshold`` are spread over the text."""
        return _jaccard(self.threshold, self.threshold**2)

    @property
    def least_jaccard(self) -> float:
        """Jaccard index of words and pairs that no pair of near duplicates is below."""
        return _jaccard(self.threshold, self.pairs)

    def cut(self) -> Bands:
        """Return the bands that find such pairs."""
        return bands_for(self.jaccard, PERMUTATIONS)


def _jaccard(words: float, pairs: float) -> float:
    """Jaccard index of two sets of equal size that share so much of their words and of their pairs."""
    return (words + pairs) / (4 - words - pairs)


def near_duplicates(
    left: Sketches, right: Sketches, pairs: tuple[Ints, Ints], likeness: Likeness
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Tell which pairs (row of ``left``, row of ``right``) are near duplicates, and each pair's share of common words.

    The share is 0 where a cheaper test has ruled the pair out already.
    """
    scores = np.zeros(len(pairs[0]))
    found = np.zeros(len(pairs[0]), bool)
    for low in range(0, len(scores), CHUNK_PAIRS):
        part = slice(low, low + CHUNK_PAIRS)
        rows = np.flatnonzero(_promising(left, right, (pairs[0][part], pairs[1][part]), likeness)) + low
        if not len(rows):
            continue
        a, b = left.take(pairs[0][rows]), right.take(pairs[1][rows])
        scores[rows] = shared(a, b, "words")
        alike = np.flatnonzero((scores[rows] >= likeness.threshold) & (shared(a, b, "pairs") >= likeness.pairs))
        found[rows[alike]] = [not says_otherwise(a, b, int(row)) for row in alike]
    return found, scores


def worded_alike(a: Sketches, b: Sketches, likeness: Likeness) -> NDArray[np.bool_]:
    """Tell whether row ``i`` of both sides has nearly the same words, in any order; those of few words are told too.

    Equal texts are. What a short text may not have, another word, value or "not", counts from five words on.
    """
    alike = shared(a, b, "words") >= likeness.threshold
    comparable = a.comparable & b.comparable
    for row in np.flatnonzero(alike & comparable).tolist():
        alike[row] = not says_otherwise(a, b, row)
    return alike | (a.exact == b.exact)


def shared(a: Sketches, b: Sketches, name: str) -> NDArray[np.float64]:
    """Return the Dice index of the ``words`` or ``pairs`` of row ``i`` of both sides: common by mean size."""
    left, right = getattr(a, name), getattr(b, name)
    return 2 * sizes_in_common(left, right) / np.maximum(left.sizes + right.sizes, 1)


def says_otherwise(a: Sketches, b: Sketches, row: int) -> bool:
    """Tell whether two texts that look alike differ in a value (``differs_in_value``) or, being short, in a word.

    A short text may have no word in another one's place unless it is spelled alike.
    """
    if differs_in_value(a, b, row):
        return True
    return _is_short(a, b, row) and _other_word(
        (a.words.row(row), b.words.row(row)), (a.spelled.row(row), b.spelled.row(row))
    )


def differs_in_value(a: Sketches, b: Sketches, row: int) -> bool:
    """Tell whether two texts differ in a number, sign or name, or in how often they say "not".

    Numbers and names conflict where each text has one that the other lacks or has less often; too few conflicts for
    the length of the text count as none. A short text must have the same ones in the same order.
    """
    marks = (a.marks.row(row).tolist(), b.marks.row(row).tolist())
    names = (a.names.row(row).tolist(), b.names.row(row).tolist())
    words = (a.words.row(row).tolist(), b.words.row(row).tolist())
    others = [set(side).difference(words[1 - place]) for place, side in enumerate(names)]
    counts = [Counter(side) for side in marks]
    lost = [(counts[place] - counts[1 - place]).total() for place in (0, 1)]
    turned = abs(int(a.negations[row]) - int(b.negations[row]))
    conflicts = min(lost) + min(map(len, others)) + turned
    if conflicts * WORDS_A_CONFLICT >= min(a.n_words[row], b.n_words[row]) and conflicts:
        return True
    if not _is_short(a, b, row):
        return False
    return marks[0] != marks[1] or any(others) or _common(names[0], names[1]) != _common(names[1], names[0])


def _is_short(a: Sketches, b: Sketches, row: int) -> bool:
    return bool(max(a.n_words[row], b.n_words[row]) <= SHORT_WORDS)


def _promising(left: Sketches, right: Sketches, pairs: tuple[Ints, Ints], likeness: Likeness) -> NDArray[np.bool_]:
    """Rule out pairs by length and by the estimate, without their sets."""
    sizes = (left.words.sizes[pairs[0]], right.words.sizes[pairs[1]])
    fits = 2 * np.minimum(*sizes) >= likeness.threshold * (sizes[0] + sizes[1])
    fits &= left.comparable[pairs[0]] & right.comparable[pairs[1]]
    rows = np.flatnonzero(fits)
    guessed = estimates(left.bytes[pairs[0][rows]], right.bytes[pairs[1][rows]])
    fits[rows] = guessed >= likeness.least_jaccard - ESTIMATE_SLACK
    return fits


def _common(those: list[int], there: list[int]) -> list[int]:
    return [one for one in those if one in there]


def _other_word(words: tuple[Any, Any], spelled: tuple[Any, Any]) -> bool:
    """Tell whether a word stands in the place of another: each side has words of its own, one of them unlike all."""
    sides = [spelled[at][~np.isin(words[at], words[1 - at])].tolist() for at in (0, 1)]
    few, many = sorted(sides, key=len)
    return any(not any(_alike(one, other) for other in many) for one in few)


def _alike(one: int, other: int) -> bool:
    if one >> _FIRST_LETTER != other >> _FIRST_LETTER:
        return False
    letters = (1 << _FIRST_LETTER) - 1
    either, both = (one | other) & letters, one & other & letters
    return both.bit_count() >= max(LIKE_SPELLED * either.bit_count(), 3)
