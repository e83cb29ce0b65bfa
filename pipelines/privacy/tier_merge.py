"""Spans of names and addresses beside those that patterns prove: where both claim a place, the pattern has it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from pipelines.privacy.scan import ADDRESS, PERSON, Span
from pipelines.privacy.surrogates.persons import canonical_person

LEAST_LETTERS = 2


def canonical_of(kind: str, value: str) -> str:
    """Return the form by which equal names or addresses are told: case and titles do not count."""
    return canonical_person(value) if kind == PERSON else value.strip().lower()


def beside_patterns(text: str, tagged: Sequence[Span], patterned: Sequence[Span]) -> list[Span]:
    """Return ``tagged`` without what ``patterned`` covers; both are disjoint and in order.

    What is left of a name needs two letters, of an address a digit and a word: "or 202-555-0117" is a phone number and
    no address.
    """
    if not patterned:
        return list(tagged)
    kept: list[Span] = []
    starts, ends = [span.start for span in patterned], [span.end for span in patterned]
    for span in tagged:
        over = patterned[bisect_right(ends, span.start) : bisect_left(starts, span.end)]
        kept += _pieces(text, span, over) if over else (span,)
    return kept


def _pieces(text: str, span: Span, over: Sequence[Span]) -> Iterator[Span]:
    start = span.start
    for other in (*over, Span(span.end, span.end, "", "")):
        piece = _trimmed(text, start, other.start)
        value = text[piece[0] : piece[1]]
        letters = sum(map(str.isalpha, value))
        if letters >= LEAST_LETTERS and (span.kind != ADDRESS or any(map(str.isdigit, value))):
            yield span._replace(start=piece[0], end=piece[1], canonical=canonical_of(span.kind, value))
        start = max(start, other.end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return start, end
