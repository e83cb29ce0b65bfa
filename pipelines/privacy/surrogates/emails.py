"""E-mail addresses at domains that reach nobody (RFC 2606)."""

from __future__ import annotations

import re

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.handles import ROLES, username

_FREE_MAIL_WORDS = """
gmail googlemail yahoo outlook hotmail live icloud aol gmx web proton protonmail mail yandex libero orange
wanadoo free t-online wp onet o2 interia uol bol terra ziggo kpn virgilio laposte
"""
_FREE_MAIL = frozenset(_FREE_MAIL_WORDS.split())
_SECOND_LEVEL = frozenset({"co", "com", "org", "ac", "gov", "edu", "net"})
_EXAMPLES = ("example.com", "example.net", "example.org")
_TAGS = ("news", "lists", "shop", "work", "home", "travel", "bills", "forum")
_FIRST_WORDS = """
amber birch cedar cobalt copper coral crystal delta ember falcon granite harbor ivory juniper lumen maple
"""
_FIRST = tuple(_FIRST_WORDS.split())
_SECOND_WORDS = """
bridge brook dale field forge gate grove hill lake light line mark mill path peak point port ridge works yard
"""
_SECOND = tuple(_SECOND_WORDS.split())
_AT = re.compile(r"@|%40")
_WORD = re.compile(r"\w+")


def email(text: str, canonical: str, draws: Draws) -> str | None:
    """Return another address: names in the local part renamed as persons are, ``+tag`` kept as a form.

    The addresses of a company share a domain under .example; those of free mail get one of example.com, .net, .org.
    """
    local, at, domain = canonical.rpartition("@")
    if not at or not local:
        return None
    name, plus, _ = local.partition("+")
    is_role = all(word in ROLES for word in _WORD.findall(name))
    drawn = name if is_role else username(name, canonical, draws) or f"user{draws.digits(4, 'EMAIL', canonical)}"
    tag = plus + draws.one_of(_TAGS, "EMAIL", "tag", local) if plus else ""
    written = _AT.search(text)
    address = f"{drawn}{tag}{written[0] if written else '@'}{_other_domain(domain, draws)}"
    return address.upper() if text.isupper() else address.lower()


def _other_domain(domain: str, draws: Draws) -> str:
    labels = domain.split(".")
    size = 3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL else 2
    if labels[-size:][0] in _FREE_MAIL:
        return draws.one_of(_EXAMPLES, "EMAIL", "domain", domain)
    return company_domain(".".join(labels[-size:]), draws)


def company_domain(domain: str, draws: Draws) -> str:
    """Return an invented domain under .example for a domain."""
    first, second = draws.one_of(_FIRST, "EMAIL", "first", domain), draws.one_of(_SECOND, "EMAIL", "second", domain)
    return f"{first}{second}.example"
