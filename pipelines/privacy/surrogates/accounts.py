"""Payment cards and bank accounts with the check digits of real ones, out of ranges without customers."""

from __future__ import annotations

from stdnum import iban as iban_number
from stdnum import luhn

from pipelines.privacy.surrogates.draws import Draws

_CARDS = {"4": "400000", "5": "555555", "2": "222300", "3": "378282", "6": "601111"}
"""First digit -> the six digits that the networks' published test numbers begin with."""
_OTHER_CARD = "999999"
"""Issuer digits that nobody has: 9 is for national use, 999 is no country (ISO/IEC 7812-1, ISO 3166-1)."""
_BANKS = {"DE": "99999999", "AT": "99999", "CH": "99999", "PL": "99999999", "NL": "ZZZZ", "GB": "ZZZZ999999"}
"""Bank codes that were never given out."""


def credit_card(text: str, canonical: str, draws: Draws) -> str | None:
    """Return a number of the same network, length and grouping with a right Luhn digit."""
    if not canonical.isdigit() or len(canonical) < 12:
        return None
    prefix = _CARDS.get(canonical[0], _OTHER_CARD)
    body = prefix + draws.digits(len(canonical) - 1 - len(prefix), "CREDIT_CARD", canonical)
    return _poured(text, body + luhn.calc_check_digit(body))


def iban(text: str, canonical: str, draws: Draws) -> str | None:
    """Return an IBAN of the same country with right check digits, a bank code of nobody; None for other countries."""
    bank = _BANKS.get(canonical[:2])
    if bank is None:
        return None
    country = canonical[:2]
    account = bank + draws.digits(len(canonical) - 4 - len(bank), "IBAN", canonical)
    drawn = country + iban_number.calc_check_digits(f"{country}00{account}") + account
    return _poured(text, drawn.lower() if text.islower() else drawn)


def _poured(text: str, characters: str) -> str | None:
    """Return ``characters`` in the grouping of ``text``; None where their number differs."""
    if sum(c.isalnum() for c in text) != len(characters):
        return None
    rest = iter(characters)
    return "".join(next(rest) if c.isalnum() else c for c in text)
