"""URLs that lead to a person: host, path and query values made anew."""

from __future__ import annotations

import re

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.emails import company_domain
from pipelines.privacy.surrogates.handles import username

_URL = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)?(?P<host>[^/?#\s]*)(?P<rest>.*)", re.DOTALL)
_VALUE = re.compile(r"(?<=[/=])[^/?#&=]+")
_ROUTES = """
user users u profile profiles people person in pub member members account accounts home blog posts post status wiki id
channel c p home api v1 v2 v3 public download file files img images static index
"""
ROUTES = frozenset(_ROUTES.split())


def url(text: str, canonical: str, draws: Draws) -> str | None:
    """Return another URL of the same form at an invented host; routes such as ``users`` and names of queries stay.

    A text without ``://`` is taken for a part of a path and becomes another handle.
    """
    found = _URL.fullmatch(text)
    if found is None or not found["scheme"]:
        return username(text, canonical, draws)
    host = company_domain(found["host"].lower().removeprefix("www."), draws)
    rest = _VALUE.sub(lambda value: _other(value[0], draws), found["rest"])
    return f"{found['scheme']}{host}{rest}"


def _other(value: str, draws: Draws) -> str:
    return value if value.lower() in ROUTES else username(value, value.lower(), draws) or value
