"""All detectors of the first tier over one text, asked for only where its bytes give reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from pipelines.privacy import prefilter
from pipelines.privacy.account_numbers import account_numbers, card_details
from pipelines.privacy.ages import high_ages
from pipelines.privacy.bank_detectors import card, ibans
from pipelines.privacy.clinical_numbers import clinical_numbers
from pipelines.privacy.contact_detectors import emails, phone
from pipelines.privacy.crypto_addresses import crypto_addresses
from pipelines.privacy.device_ids import device_ids
from pipelines.privacy.folding import Folded, fold
from pipelines.privacy.geo_coordinates import geo_coordinates
from pipelines.privacy.identity_documents import identity_documents, shaped_documents
from pipelines.privacy.key_shapes import api_keys
from pipelines.privacy.labelled_secrets import Strength, is_secret, labelled_secrets, secret_name
from pipelines.privacy.national_ids import ids_with_letters, national_id
from pipelines.privacy.network_detectors import ip_addresses, mac_addresses
from pipelines.privacy.number_groups import Run, Window, runs, windows
from pipelines.privacy.personal_urls import personal_urls
from pipelines.privacy.policy import Policy
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import CREDIT_CARD, PRIORITY, SECRET, Scan, Span, words_of
from pipelines.privacy.session_cookies import session_cookies
from pipelines.privacy.spelled_emails import spelled_emails
from pipelines.privacy.spelled_phones import spelled_phones
from pipelines.privacy.url_credentials import url_credentials
from pipelines.privacy.user_names import handles, home_directories, labelled_names
from pipelines.privacy.written_dates import dates, dates_of_birth

DETECTOR_VERSION = 4
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
    if gives_no_reason(flags, label, policy):
        return folded, []
    asked, strength = _asked_by(label) if label else (0, None)
    flags |= asked
    scan = Scan(folded.text, policy, label)
    found = [span for span in _all(scan, flags) if span.kind in policy.types]
    named = strength in ("password", "key") and SECRET in policy.types
    if named and strength and is_secret(folded.text, strength, is_sure=True) and not TOKEN.search(folded.text):
        found.append(Span(0, len(folded.text), SECRET, folded.text))
    return folded, disjoint(found)


def gives_no_reason(flags: int, label: str | None, policy: Policy) -> bool:
    """Tell whether a folded text of these signals holds nothing that could be found, under the label that it has."""
    if flags & ~(prefilter.DISGUISES | prefilter.ESCAPES) or policy.clinical:
        return False
    return not label or _asked_by(label) == (0, None)


@lru_cache(maxsize=4096)
def _asked_by(label: str) -> tuple[int, Strength | None]:
    return prefilter.signals_of_label(words_of(label)), secret_name(label)


def _all(scan: Scan, flags: int) -> Iterator[Span]:
    # URL credentials come first: they note the signs at that belong to no address.
    for flag, find in _DETECTORS:
        if flags & flag:
            yield from find(scan)
    if flags & prefilter.NUMBERS:
        yield from _all_numbers(scan, flags)
    elif flags & prefilter.ACCOUNTS:
        yield from card_details(scan, [])
    if scan.policy.clinical:
        yield from dates(scan)
        yield from high_ages(scan)


_DETECTORS: tuple[tuple[int, Callable[[Scan], Iterator[Span]]], ...] = (
    (prefilter.AT, url_credentials),
    (prefilter.AT, emails),
    (prefilter.AT, handles),
    (prefilter.SPELLED, spelled_emails),
    (prefilter.SPELLED, spelled_phones),
    (prefilter.LABELS, labelled_secrets),
    (prefilter.KEY_SHAPES, api_keys),
    (prefilter.KEY_SHAPES, crypto_addresses),
    (prefilter.COOKIES, session_cookies),
    (prefilter.LETTERED, ids_with_letters),
    (prefilter.LONG_WORDS, shaped_documents),
    (prefilter.DOCUMENTS, identity_documents),
    (prefilter.ACCOUNTS, account_numbers),
    (prefilter.CLINICAL, clinical_numbers),
    (prefilter.DEVICES, device_ids),
    (prefilter.BIRTHS, dates_of_birth),
    (prefilter.GEO, geo_coordinates),
    (prefilter.URLS, personal_urls),
    (prefilter.USERS, labelled_names),
    (prefilter.HOMES, home_directories),
    (prefilter.ADDRESSES, ip_addresses),
    (prefilter.ADDRESSES, mac_addresses),
)
"""What finds, and the flag that asks for it."""


def _all_numbers(scan: Scan, flags: int) -> Iterator[Span]:
    yield from ibans(scan)
    spans = [span for run in runs(scan) for span in _numbers(scan, run)]
    yield from spans
    cards = [span for span in spans if span.kind == CREDIT_CARD]
    if cards or flags & prefilter.ACCOUNTS:
        yield from card_details(scan, cards)


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
    if len(spans) < 2 or all(one.end <= other.start for one, other in pairwise(spans)):
        return spans
    result: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, PRIORITY[s.kind], s.canonical)):
        if not result or span.start >= result[-1].end:
            result.append(span)
            continue
        other = result[-1]
        winner = min(other, span, key=lambda s: (PRIORITY[s.kind], s.start - s.end, s.start, s.canonical))
        result[-1] = winner._replace(start=other.start, end=max(other.end, span.end))
    return result
