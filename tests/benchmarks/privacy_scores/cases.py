"""Which of the open cases a system passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privacy_scores.leaks import leaks, total
from privacy_scores.outcome import Outcome
from privacy_scores.structure import keeps_json
from privacy_sets.open_cases import Case


def passes(case: Case, outcome: Outcome) -> bool:
    """Tell whether every value is gone whole, every part that must stay is there, JSON parses, who is who is kept."""
    if outcome.text is None:
        return False
    sample = case.sample
    if total(leaks([sample], [outcome]).values()).entities_in_part:
        return False
    if any(part not in outcome.text for part in sample.must_keep):
        return False
    if sample.structure == "json" and not keeps_json(sample.text, outcome.text):
        return False
    return _identities(case, outcome)


def failed(cases: Sequence[Case], outcomes: Iterable[Outcome]) -> list[str]:
    """Return the ids of the cases that are not passed."""
    return [case.id for case, outcome in zip(cases, outcomes, strict=True) if not passes(case, outcome)]


def _identities(case: Case, outcome: Outcome) -> bool:
    named = {
        case.sample.text[one.start : one.end]: _standing_in(outcome, one.start, one.end) for one in case.sample.gold
    }
    for group in case.same:
        if len({_person(named[value]) for value in group}) > 1 and not _share_a_part([named[value] for value in group]):
            return False
    return all(len({_person(named[value]) for value in group}) == len(group) for group in case.different)


def _standing_in(outcome: Outcome, start: int, end: int) -> str:
    return " ".join(one.replacement for one in outcome.replaced if one.start < end and one.end > start)


def _person(replacement: str) -> str:
    return replacement.casefold().lstrip("@")


def _share_a_part(replacements: Sequence[str]) -> bool:
    """Tell whether realistic stand-ins are of one person: a handle holds the family name that the names share."""
    families = [text.split()[-1].casefold() for text in replacements if text and not text.startswith("@")]
    handles = [_person(text) for text in replacements if text.startswith("@")]
    return len(set(families)) == 1 and all(families[0] in handle for handle in handles)
