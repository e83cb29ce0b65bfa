"""How the examples of a version spread over languages, log formats and lengths, and how far two versions are apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.datasets.version import SIDES

LENGTHS = (32, 128, 512, 2_048, 8_192)
"""Upper ends, in characters of the target, of the classes of length; what is longer is a class of its own."""
LONGER = f"above {LENGTHS[-1]}"
UNKNOWN_LANGUAGE = "und"

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Shape:
    """Examples by language, log format, length of the target, evidence and label."""

    languages: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    lengths: Counter[str] = field(default_factory=Counter)
    evidence: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row of ``training_examples``."""
        self.languages[row["language"] or UNKNOWN_LANGUAGE] += 1
        self.sources[row["source"] or ""] += 1
        self.lengths[length_class(row)] += 1
        if row.get("evidence"):
            self.evidence[row["evidence"]] += 1
        if row.get("label") is not None:
            self.labels["liked" if row["label"] else "disliked"] += 1

    @property
    def n(self) -> int:
        """Examples in all."""
        return self.languages.total()

    def told(self) -> dict[str, dict[str, int]]:
        """Return the counts for the manifest, names in order, without those that have none."""
        counts = {name: dict(sorted(getattr(self, name).items())) for name in self.__dataclass_fields__}
        return {name: each for name, each in counts.items() if each}


def shape_of(told: Mapping[str, Counts]) -> Shape:
    """Return the shape that a manifest tells."""
    return Shape(**{name: Counter(counts) for name, counts in told.items() if name in Shape.__dataclass_fields__})


def length_class(row: Mapping[str, Any]) -> str:
    """Return the class of length of the target: completion or chosen side, all of its messages together."""
    target = row[SIDES.get(row["kind"], ("completion",))[0]] or []
    n = sum(len(message["text"] or "") for message in target)
    return next((f"to {end}" for end in LENGTHS if n <= end), LONGER)


def drift(before: Counts, after: Counts) -> float:
    """Return how much of the shares moved, from 0 to 1: total variation distance. 0 where one side has no counts."""
    n_before, n_after = sum(before.values()), sum(after.values())
    if not n_before or not n_after:
        return 0.0
    names = before.keys() | after.keys()
    return sum(abs(before.get(name, 0) / n_before - after.get(name, 0) / n_after) for name in names) / 2


def share(counts: Counts, name: str) -> float:
    """Return the share of one name, 0 where nothing is counted."""
    total = sum(counts.values())
    return counts.get(name, 0) / total if total else 0.0
