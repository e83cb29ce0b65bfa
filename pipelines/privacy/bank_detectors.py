"""Payment cards and bank accounts: issuer, length and checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from stdnum import numdb

from pipelines.privacy.number_groups import Window
from pipelines.privacy.scan import CREDIT_CARD, IBAN, Scan, Span

_ISSUERS = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}"
    r"|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12,15}"
    r"|62[0-9]{14,17}"
    r"|35(?:2[89]|[3-8][0-9])[0-9]{12,15}|(?:2131|1800)[0-9]{11}"
    r"|220[0-4][0-9]{12,15}"
    r"|(?:50(?:18|20|38)|5612|5893|6304|6759|676[1-3])[0-9]{9,15}"
    r"|(?:508[0-9]|60[0-9]{2}|8[12][0-9]{2}|9792|5019|63[6-9][0-9]|506[01])[0-9]{12}"
)
"""Issuer ranges with their lengths (ISO/IEC 7812 as published by the networks): Visa, Mastercard with its 2-series,
American Express, Diners, Discover, UnionPay, JCB, Mir, Maestro, RuPay, Troy, Dankort, Elo, Verve. Epochs start with 1.
"""

_DOUBLED = {str(d): d * 2 if d < 5 else d * 2 - 9 for d in range(10)}


def passes_luhn(digits: str) -> bool:
    """Tell whether the last digit is right (ISO/IEC 7812-1 annex B); ten times as fast as python-stdnum's."""
    return (sum(map(int, digits[-1::-2])) + sum(map(_DOUBLED.__getitem__, digits[-2::-2]))) % 10 == 0


_CARD_CUE = re.compile(
    r"(?:cards?|karte|tarjeta|carte|carta|cartão|karta|kaart|visa|amex|maestro|mastercard|\bcc|\bpan)\b"
)
_ANY_ISSUER = re.compile(r"[2-689][0-9]{11,18}")
_CARD_FORM = re.compile(r"[0-9]{12,19}|[0-9]{3,6}([ .-])[0-9]{3,6}(?:\1[0-9]{1,6}){1,4}")


def card(scan: Scan, window: Window) -> Span | None:
    """Return the payment card number that fills a window, or None. Canonical: its digits.

    After a word for a card any issuer will do, and 12 digits (Maestro).

    No word nearby can talk a card down whose issuer, length and Luhn digit are right.
    """
    digits = window.digits
    if len(digits) < 12 or not _CARD_FORM.fullmatch(window.text) or not passes_luhn(digits) or len(set(digits)) == 1:
        return None
    if not _ISSUERS.fullmatch(digits) and not (_ANY_ISSUER.fullmatch(digits) and _is_called_card(scan, window)):
        return None
    if scan.is_machine_id(window.start, window.end):
        return None
    return Span(window.start, window.end, CREDIT_CARD, window.digits)


def _is_called_card(scan: Scan, window: Window) -> bool:
    gap = scan.gap_after(_CARD_CUE, window.start, 26)
    return gap is not None and not any(c.isdigit() for c in gap)


_AFTER_COUNTRY = re.compile(r"[0-9]{2}(?<=[a-z]{2}..)(?<![a-z0-9_].{4})")
_ACCOUNT = re.compile(r"(?:[ -]?[a-z0-9]){11,30}")


@lru_cache(maxsize=512)
def _iban_form(country: str) -> re.Pattern[str] | None:
    """Return the form of a country's IBAN without spaces from the registry that python-stdnum carries, or None."""
    entry = numdb.get("iban").info(country)[0][1]
    bban = entry.get("bban")
    if not bban:
        return None
    classes = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
    parts = re.findall(r"(\d+)!([nac])", bban)
    return re.compile(country + "[0-9]{2}" + "".join(f"{classes[kind]}{{{size}}}" for size, kind in parts))


def ibans(scan: Scan) -> Iterator[Span]:
    """Find IBANs in any case, grouped by spaces or hyphens. Canonical: capitals without separators.

    The country fixes the length, so a following word is never swallowed; form and ISO 7064 mod 97 must hold.
    """
    done = 0
    for found in _AFTER_COUNTRY.finditer(scan.lowered):
        if found.start() - 2 < done:
            continue
        account = _ACCOUNT.match(scan.lowered, found.end())
        span = _iban_at(scan, found.start() - 2, account.end()) if account else None
        if span:
            done = span.end
            yield span


def _iban_at(scan: Scan, start: int, stop: int) -> Span | None:
    form = _iban_form(scan.text[start : start + 2].upper())
    if form is None:
        return None
    places = [i for i in range(start, stop) if scan.text[i] not in " -"]
    compact = "".join(scan.text[i] for i in places).upper()
    found = form.match(compact)
    if found is None:
        return None
    end = places[found.end() - 1] + 1
    after = scan.text[end : end + 1]
    if after.isascii() and after.isalnum():
        return None
    value = found[0]
    if int("".join(str(int(c, 36)) for c in value[4:] + value[:4])) % 97 != 1:
        return None
    return Span(start, end, IBAN, value)
