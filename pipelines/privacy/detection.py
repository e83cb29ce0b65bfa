"""All detectors of the first tier over one text, asked for only where its bytes give reason."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.privacy import prefilter
from pipelines.privacy.bank_detectors import card, ibans
from pipelines.privacy.contact_detectors import emails, phone
from pipelines.privacy.folding import Folded, fold
from pipelines.privacy.key_shapes import api_keys
from pipelines.privacy.labelled_secrets import is_secret, labelled_secrets, secret_name
from pipelines.privacy.national_ids import ids_with_letters, national_id
from pipelines.privacy.network_detectors import ip_addresses, mac_addresses
from pipelines.privacy.number_groups import Run, Window, runs, windows
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import PRIORITY, SECRET, Policy, Scan, Span
from pipelines.privacy.url_credentials import url_credentials

DETECTOR_VERSION = 1
"""Rises with every change of a rule; stored with each row."""


def detect(text: str, policy: Policy, label: str | None = None, flags: int | None = None) -> tuple[Folded, list[Span]]:
    """Return the folded text and the personal values in it, as disjoint spans of the folded text in order.

    ``label`` is the name of the JSON field that the text is the value of;
    ``flags`` are its signals where known. Linear in the text; never raises on content.
    """
    flags = prefilter.signals(text) if flags is None else flags
    folded = Folded(text)
    if flags & prefilter.DISGUISES:
        folded = fold(text)
        if folded.text is not text:
            flags = prefilter.signals(folded.text) & ~prefilter.DISGUISES
    strength = secret_name(label) if label else None
    if not flags & ~(prefilter.DISGUISES | prefilter.ESCAPES) and strength is None:
        return folded, []
    scan = Scan(folded.text, policy, label)
    found = [span for span in _all(scan, flags) if span.kind in policy.types]
    named = strength in ("password", "key") and SECRET in policy.types
    if named and strength and is_secret(folded.text, strength, is_sure=True) and not TOKEN.search(folded.text):
        found.append(Span(0, len(folded.text), SECRET, folded.text))
    return folded, disjoint(found)


def _all(scan: Scan, flags: int) -> Iterator[Span]:
    if flags & prefilter.AT:
        yield from url_credentials(scan)
        yield from emails(scan)
    if flags & prefilter.LABELS:
        yield from labelled_secrets(scan)
    if flags & prefilter.KEY_SHAPES:
        yield from api_keys(scan)
    if flags & prefilter.NUMBERS:
        yield from ibans(scan)
        yield from ids_with_letters(scan)
        for run in runs(scan):
            yield from _numbers(scan, run)
    if flags & prefilter.ADDRESSES:
        yield from ip_addresses(scan)
        yield from mac_addresses(scan)


def _numbers(scan: Scan, run: Run) -> Iterator[Span]:
    """Read a run of digit groups from left to right; at each group the longest window that is something wins."""
    first = 0
    while first < len(run.groups):
        span = _number_at(scan, list(windows(scan, run, first)))
        if span is None:
            first += 1
            continue
        yield span
        while first < len(run.groups) and run.groups[first][0] < span.end:
            first += 1


def _number_at(scan: Scan, candidates: list[Window]) -> Span | None:
    if candidates and candidates[0].has_plus:
        for window in candidates:
            span = _phone_in(scan, [window], by_cue=False) or card(scan, window.bare)
            if span:
                return span
    for rule in (card, national_id):
        for window in candidates:
            span = rule(scan, window.bare)
            if span:
                return span
    return _phone_in(scan, candidates, by_cue=False) or _phone_in(scan, candidates, by_cue=True)


def _phone_in(scan: Scan, candidates: list[Window], *, by_cue: bool) -> Span | None:
    for window in candidates:
        if len(window.digits) <= MAX_PHONE_DIGITS:
            span = phone(scan, window, by_cue=by_cue)
            if span:
                return span
    return None


MAX_PHONE_DIGITS = 15
"""ITU-T E.164 section 6.1."""


def disjoint(spans: list[Span]) -> list[Span]:
    """Join overlapping spans into one that covers them all; the type that comes first in ``TYPES`` gives its value.

    Does not depend on the order of ``spans``.
    """
    if len(spans) < 2:
        return spans
    result: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, PRIORITY[s.kind], s.canonical)):
        if not result or span.start >= result[-1].end:
            result.append(span)
            continue
        other = result[-1]
        winner = min(other, span, key=lambda s: (PRIORITY[s.kind], s.start - s.end, s.start, s.canonical))
        result[-1] = Span(other.start, max(other.end, span.end), winner.kind, winner.canonical)
    return result
