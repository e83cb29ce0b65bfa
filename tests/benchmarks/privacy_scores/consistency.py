"""Whether one value has one replacement over turns and talks, and different values have different ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from unicodedata import decimal

from privacy_scores.leaks import folded, percent
from privacy_scores.outcome import Outcome
from privacy_sets.labelled import Gold, Sample

Found = tuple[Sample, Gold, str, str]
"""Sample, label, folded value, and what stands in its place."""


def consistency(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    """Return shares in percent over values that were replaced whole.

    Of the values that occur in several turns: those with one replacement within each talk, and over all talks. Of all
    different values of a kind: those that share a replacement with another one. Of the names in part (a first name
    alone): those whose replacement is a part of the full name's. Nothing where there is no such value.
    """
    found = list(replacements(samples, outcomes))
    in_talk = _groups(found, lambda one: (one[0].conversation, one[1].kind, one[2]))
    everywhere = _groups(found, lambda one: (one[1].kind, one[2]))
    same, repeated = _agreeing(in_talk)
    same_all, repeated_all = _agreeing(everywhere)
    shared, different = _shared(everywhere)
    linked, parts = _linked(found)
    return {
        "repeated_in_talk": repeated,
        "same_in_talk_percent": percent(same, repeated) if repeated else None,
        "repeated_over_talks": repeated_all,
        "same_over_talks_percent": percent(same_all, repeated_all) if repeated_all else None,
        "different_values": different,
        "sharing_percent": percent(shared, different) if different else None,
        "names_in_part": parts,
        "linked_percent": percent(linked, parts) if parts else None,
    }


def replacements(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> Iterator[Found]:
    """Yield every label that was replaced whole, with what stands in its place now."""
    for sample, outcome in zip(samples, outcomes, strict=True):
        for one in sample.gold:
            touching = [part for part in outcome.replaced if part.start < one.end and part.end > one.start]
            # A replaced part that reaches far beyond the value speaks of more than this value.
            if touching and touching[0].start == one.start and touching[-1].end == one.end:
                text = sample.text[one.start : one.end]
                yield sample, one, folded(text), " ".join(part.replacement for part in touching)


def _groups(found: Sequence[Found], key: Callable[[Found], Hashable]) -> dict[Hashable, list[str]]:
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for one in found:
        groups[key(one)].append(one[3].casefold())
    return groups


def _agreeing(groups: dict[Hashable, list[str]]) -> tuple[int, int]:
    repeated = [texts for texts in groups.values() if len(texts) > 1]
    return sum(len(set(texts)) == 1 for texts in repeated), len(repeated)


def _shared(groups: dict[Hashable, list[str]]) -> tuple[int, int]:
    """Count the values whose replacement another value of the kind has too; two forms of one value are one."""
    owners: dict[tuple[object, str], set[object]] = defaultdict(set)
    for key, texts in groups.items():
        kind, value = key  # type: ignore[misc]
        for text in texts:
            owners[kind, text].add(canonical(kind, value))
    shared = {(kind, value) for (kind, _), values in owners.items() if len(values) > 1 for value in values}
    return len(shared), len({(kind, value) for (kind, _), values in owners.items() for value in values})


def canonical(kind: str, value: str) -> str:
    """Return what different written forms of one value share: letters and digits, of a phone number the last nine."""
    if kind == "PERSON":
        return value
    bare = "".join(str(decimal(letter, letter)) for letter in value if letter.isalnum())
    return bare[-9:] if kind == "PHONE" else bare


def _linked(found: Sequence[Found]) -> tuple[int, int]:
    """Count names in part whose replacement is a part of the same person's full replacement, or equal to it."""
    full: dict[str, set[str]] = defaultdict(set)
    for _, gold, value, text in found:
        if gold.entity and " " in value:
            full[gold.entity].add(text.casefold())
    linked = parts = 0
    for _, gold, value, text in found:
        if gold.entity in full and " " not in value:
            parts += 1
            linked += any(text.casefold() in (whole, *whole.split()) for whole in full[gold.entity])
    return linked, parts
