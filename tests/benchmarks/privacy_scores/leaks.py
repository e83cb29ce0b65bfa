"""How much of the personal values is left, by kind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from privacy_scores.outcome import Outcome, covered
from privacy_sets.labelled import Gold, Sample

MIN_COPY = 6
"""Shorter values, and single words, also stand in texts by chance; only where they were labelled are they counted."""


@dataclass(slots=True)
class Leak:
    """Counts of one kind. Characters are code points that are no white space.

    ``entities_left`` survive whole, in their place or as a copy; ``entities_in_part`` with at least one character.
    """

    entities: int = 0
    entities_left: int = 0
    entities_in_part: int = 0
    characters: int = 0
    characters_left: int = 0

    def add(self, other: Leak) -> None:
        """Add the counts of another kind or text."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def rates(self) -> dict[str, float | int]:
        """Return the counts and their shares in percent."""
        return {
            "entities": self.entities,
            "entities_left_percent": percent(self.entities_left, self.entities),
            "entities_in_part_percent": percent(self.entities_in_part, self.entities),
            "characters": self.characters,
            "characters_left_percent": percent(self.characters_left, self.characters),
        }


def percent(part: float, whole: float) -> float:
    """Return a share in percent, two digits after the point; 0 of nothing is 0."""
    return round(100 * part / whole, 2) if whole else 0.0


def leaks(samples: Iterable[Sample], outcomes: Iterable[Outcome]) -> dict[str, Leak]:
    """Count by kind what is left of the labelled values; refused texts leave nothing and are not counted."""
    found: dict[str, Leak] = {}
    for sample, outcome in zip(samples, outcomes, strict=True):
        if outcome.text is None:
            continue
        marks = covered(len(sample.text), outcome.replaced)
        after = folded(outcome.text) if sample.gold else ""
        for one in sample.gold:
            found.setdefault(one.kind, Leak()).add(leak_of(sample.text, one, marks, after))
    return found


def leak_of(text: str, gold: Gold, marks: bytearray, after: str) -> Leak:
    """Count one value; ``marks`` say what was replaced, ``after`` is the folded text after the edit."""
    places = [place for place in range(gold.start, gold.end) if not text[place].isspace()]
    left = sum(not marks[place] for place in places)
    value = text[gold.start : gold.end]
    is_left = left == len(places) or has_copy(value, after)
    return Leak(1, int(is_left), int(left > 0 or is_left), len(places), left)


def has_copy(value: str, after: str) -> bool:
    """Tell whether a value that does not stand in texts by chance is in a folded text, as a whole word."""
    bare = folded(value)
    if len(bare) < MIN_COPY or bare.isalpha():
        return False
    return bare in after and re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", after) is not None


def folded(text: str) -> str:
    """Return a text without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def total(leaks: Iterable[Leak]) -> Leak:
    """Return the sum of several kinds."""
    whole = Leak()
    for one in leaks:
        whole.add(one)
    return whole
