"""Measures of a pair -> contaminated, flag_for_review, or nothing; the thresholds as data, with their sources."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

Verdict = Literal["contaminated", "flag_for_review"]
How = Literal["whole", "words", "figures", "meaning"]


@dataclass(frozen=True)
class LeakThresholds:
    """From when on an item counts as leaked."""

    cover: float = 0.5
    """Weighted share of the item that is in the example (Tulu 3, arXiv 2411.15124: more than half of the tokens)."""
    stretch: int = 13
    """Words in a row that prove a leak (GPT-3, arXiv 2005.14165, appendix C); of a shorter item all of its words."""
    nearly_all: float = 0.8
    """Cover that proves a leak without such a stretch: a copy with single words changed (Llama 2, arXiv 2307.09288,
    section A.6, calls a sample dirty from this share on)."""
    particulars: float = 0.9
    """Share of its numbers and names; below it another item of the same template may be meant (own measurement)."""
    excerpt: int = 40
    """Words in a row, of no other item, from which a template with other values, or a part of a long item, is for
    review (own measurement)."""
    fewest_words: int = 3
    """An item of fewer words that is there as a whole is for review: "Hello" is nobody's (own choice)."""
    cosine: float = 0.85
    """Similarity from which an item told in other words is for review (own measurement, all-MiniLM-L6-v2, STS-B dev
    captions: 35 of 40 pairs rated 4.5 or more reach it, 2 of 212 rated below 3)."""

    def __post_init__(self) -> None:
        for name in ("cover", "nearly_all", "particulars", "cosine"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name}: wanted a share above 0, at most 1, found {getattr(self, name)}")
        for one in fields(self):
            if isinstance(one.default, int) and getattr(self, one.name) < 1:
                raise ValueError(f"{one.name}: wanted at least 1, found {getattr(self, one.name)}")


def verdict_by_words(
    limits: LeakThresholds, *, cover: float, stretch: int, own_stretch: int, particulars: float, n_words: int
) -> Verdict | None:
    """Judge an item by the words that it shares with an example.

    Most of it, in a long stretch, with its numbers and names: contaminated. Most of it without a long stretch, or with
    some other numbers and names, or a long excerpt: for review. A template filled with other values is nothing.
    """
    if cover < limits.cover:
        return "flag_for_review" if own_stretch >= limits.excerpt else None
    if particulars >= limits.particulars:
        is_proof = stretch >= min(limits.stretch, n_words) or cover >= limits.nearly_all
        return "contaminated" if is_proof else "flag_for_review"
    return "flag_for_review" if particulars > 0 or own_stretch >= limits.excerpt else None


def verdict_by_whole(limits: LeakThresholds, *, is_message: bool, n_words: int) -> Verdict | None:
    """Judge a short item that an example has as a whole message, or as a line or sentence of one."""
    if is_message:
        return "contaminated" if n_words >= limits.fewest_words else "flag_for_review"
    return "contaminated" if n_words > limits.fewest_words else None
