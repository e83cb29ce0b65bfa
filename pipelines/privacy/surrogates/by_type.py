"""The surrogate of a value of any type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipelines.privacy.folding import fold
from pipelines.privacy.surrogates.accounts import credit_card, iban
from pipelines.privacy.surrogates.addresses import address
from pipelines.privacy.surrogates.dates import moved_date
from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.emails import email
from pipelines.privacy.surrogates.handles import username
from pipelines.privacy.surrogates.networks import ip_address, mac_address
from pipelines.privacy.surrogates.persons import person
from pipelines.privacy.surrogates.phones import phone
from pipelines.privacy.surrogates.urls import url

SURROGATE_VERSION = 1
"""Rises with every change of a list or a rule here, since surrogates change with it."""

BY_TYPE: Mapping[str, Callable[[str, str, Draws], str | None]] = {
    "PERSON": person,
    "ADDRESS": address,
    "EMAIL": email,
    "PHONE": phone,
    "CREDIT_CARD": credit_card,
    "IBAN": iban,
    "IP_ADDRESS": ip_address,
    "MAC_ADDRESS": mac_address,
    "DATE": moved_date,
    "DATE_OF_BIRTH": moved_date,
    "USERNAME": username,
    "URL": url,
}
"""Types that have realistic surrogates; the others get tokens."""

_ATTEMPTS = 4


def surrogate(kind: str, text: str, canonical: str, draws: Draws) -> str | None:
    """Return a realistic stand-in for ``text``, a folded value of type ``kind``; never the value itself.

    ``canonical`` keys it, ``text`` gives the form. None where the type, its country or its form has none: the caller
    writes a token.
    """
    make = BY_TYPE.get(kind)
    if make is None:
        return None
    for _ in range(_ATTEMPTS):
        drawn = make(text, canonical, draws)
        if drawn is None or fold(drawn).text.lower() != text.lower():
            return drawn
        draws = draws.again()
    return None
