"""A second look by a larger model, at the texts where it helps: declared in a policy, beside the shipped tagger."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipelines.privacy.span_source import DEFAULT_SCORE, SpanSource, TaggedSpan


class LookAt(StrEnum):
    """Which texts the larger model reads."""

    DOUBTED = "doubted"
    """Those where the tagger is unsure, and those in scripts that it was not trained on."""
    ALL = "all"


@dataclass(frozen=True)
class SecondLook:
    """A Hugging Face token classifier by name or folder, and which texts it reads.

    ``labels`` are (label of the model, type), beside the usual ones (``token_classifier.USUAL_LABELS``). The weights
    behind a name may change without the policy's digest doing so: name a folder, or a revision's folder, to pin them.
    """

    model: str
    texts: LookAt = LookAt.DOUBTED
    labels: tuple[tuple[str, str], ...] = ()


class DoubtingSource(SpanSource, Protocol):
    """A source that also says of which texts it is not sure."""

    def tag_doubting(self, texts: Sequence[str]) -> tuple[Sequence[Sequence[TaggedSpan]], Sequence[bool]]:
        """Return the spans of each text, and whether a closer look is worth its cost."""
        ...


_OTHER_SCRIPT = re.compile(r"[\u0370-\u1cff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters that are not Latin: Greek to Vedic, Georgian to Ethiopic, kana, Han, Hangul."""


@dataclass(frozen=True)
class TwoSources:
    """Spans of a quick source, and of a larger one for the texts that it is to look at. Pickles where both do."""

    first: DoubtingSource
    second: SpanSource
    texts: LookAt = LookAt.DOUBTED

    def tag(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        """Return the spans of each text, disjoint and in order; where two overlap they are one, of the first's type."""
        found, doubts = self.first.tag_doubting(texts)
        looked_at = [
            place
            for place, text in enumerate(texts)
            if self.texts is LookAt.ALL or doubts[place] or _OTHER_SCRIPT.search(text)
        ]
        spans = [list(of_text) for of_text in found]
        for place, more in zip(looked_at, self.second.tag([texts[place] for place in looked_at]), strict=True):
            spans[place] = joined(spans[place], more)
        return spans


def joined(first: Iterable[TaggedSpan], second: Iterable[TaggedSpan]) -> list[TaggedSpan]:
    """Return both, sorted; spans that overlap become one, of the type of the earliest in ``first``, else ``second``."""
    ranked = [(span, 0) for span in first] + [(span, 1) for span in second]
    ranked.sort(key=lambda entry: (entry[0][0], entry[0][1]))
    return [_one(group) for group in _overlapping(ranked)]


def _overlapping(ranked: Sequence[tuple[TaggedSpan, int]]) -> Iterator[list[tuple[TaggedSpan, int]]]:
    group: list[tuple[TaggedSpan, int]] = []
    end = 0
    for entry in ranked:
        if group and entry[0][0] >= end:
            yield group
            group = []
        end = max(end, entry[0][1]) if group else entry[0][1]
        group.append(entry)
    if group:
        yield group


def _one(group: Sequence[tuple[TaggedSpan, int]]) -> TaggedSpan:
    if len(group) == 1:
        return group[0][0]
    kind = min(group, key=lambda entry: entry[1])[0][2]
    scores = [span[3] if len(span) == 4 else DEFAULT_SCORE for span, _ in group]
    return (min(span[0] for span, _ in group), max(span[1] for span, _ in group), kind, max(scores))
