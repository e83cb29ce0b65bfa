"""What was changed although it is about no person."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_scores.leaks import percent
from privacy_scores.outcome import Outcome, covered
from privacy_sets.labelled import Sample


def over_redaction(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    """Return shares in percent: characters outside of all labels that were changed, and texts touched there.

    ``clean_texts_touched_percent`` counts only texts without any label (nothing where there are none),
    ``texts_touched_percent`` texts with a replaced part that touches no label. ``parts_lost`` counts the parts that
    the set wants kept and that are gone.
    """
    changed = outside = touched = clean = clean_touched = wanted = lost = 0
    for sample, outcome in zip(samples, outcomes, strict=True):
        if outcome.text is None:
            continue
        labels = covered(len(sample.text), ((one.start, one.end, "") for one in sample.gold))
        marks = covered(len(sample.text), outcome.replaced)
        places = [place for place, label in enumerate(labels) if not label and not sample.text[place].isspace()]
        outside += len(places)
        changed += sum(marks[place] for place in places)
        touched += any(not any(labels[start:end]) for start, end, _ in outcome.replaced)
        if not sample.gold:
            clean += 1
            clean_touched += bool(outcome.replaced)
        wanted += len(sample.must_keep)
        lost += sum(part not in outcome.text for part in sample.must_keep)
    return {
        "characters_percent": percent(changed, outside),
        "texts_touched_percent": percent(touched, len(samples)),
        "clean_texts": clean,
        "clean_texts_touched_percent": percent(clean_touched, clean) if clean else None,
        "parts_wanted": wanted,
        "parts_lost": lost,
    }
