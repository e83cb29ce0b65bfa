"""Parts of URLs that name a person: profile paths and query parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from pipelines.privacy.contact_detectors import is_documentation
from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import URL, USERNAME, Scan, Span
from pipelines.privacy.user_names import SYSTEM_ACCOUNTS

_URL = re.compile(r"https?://(?P<host>[^\s/?#\"'<>`\\:]{1,253})(?::[0-9]{1,5})?(?P<rest>[/?#][^\s\"'<>`\\]{1,2000})?")
_PROFILE = re.compile(
    r"/(?:users?|u|profiles?|people|members?|accounts?|customers?|patients?|employees?|contacts?|in|usuarios?"
    r"|benutzer|nutzer|utilisateurs?|profil|perfil|profilo)"
    r"/(?P<name>[A-Za-z0-9%][\w.%+-]{1,60})|/[~@](?P<tilde>[A-Za-z][\w.-]{2,40})"
)
_PARAMETER = re.compile(
    r"[?&;](?P<key>(?:first|last|full|sur|given|family|user|display|real|customer|contact|patient)?[_-]?name|fname"
    r"|lname|vorname|nachname|nombre|apellidos?|prenom|nom"
    r"|address|addr|street|city|zip|postcode|postal_?code|plz|phone|mobile|tel|telephone|dob|birth_?date"
    r"|date_?of_?birth|birthday|ssn|passport|iban|account|user_?id|uid|customer_?id|patient_?id|member_?id)"
    r"=(?P<value>[^&;#\s]{2,200})",
    re.IGNORECASE,
)
_IDS = re.compile(r"(?:user|customer|patient|member)_?id|uid", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"[0-9]{4,20}")
_NAME = re.compile(r"[A-Za-z][\w.%+-]{2,60}")


def personal_urls(scan: Scan) -> Iterator[Span]:
    """Find profile names in paths (user names) and values of personal parameters in queries; the URL still parses.

    Documentation domains stay. Canonical: decoded, lower case.
    """
    for found in _URL.finditer(scan.text):
        rest = found["rest"]
        if not rest or (is_documentation(found["host"].lower()) and not scan.policy.documentation_ranges):
            continue
        start = found.start("rest")
        query = re.search(r"[?#]", rest)
        path_end = query.start() if query else len(rest)
        for part in _PROFILE.finditer(rest, 0, path_end):
            group = "name" if part["name"] else "tilde"
            value = part[group].rstrip(".,;:!)")
            if _is_person(value):
                at = start + part.start(group)
                yield Span(at, at + len(value), USERNAME, unquote_plus(value).lower())
        for part in _PARAMETER.finditer(rest, path_end):
            value = part["value"].rstrip(".,;:!)]}")
            if _is_personal(part["key"], value):
                at = start + part.start("value")
                yield Span(at, at + len(value), URL, unquote_plus(value).lower())


def _is_person(value: str) -> bool:
    if value.isdigit():
        return _LONG_NUMBER.fullmatch(value) is not None
    return _NAME.fullmatch(value) is not None and value.lower() not in SYSTEM_ACCOUNTS and not is_placeholder(value)


def _is_personal(key: str, value: str) -> bool:
    if value.lower() in SYSTEM_ACCOUNTS or is_placeholder(value) or value.startswith(("$", "{", "%7B", "<", ":")):
        return False
    if _IDS.fullmatch(key):
        return any(map(str.isdigit, value)) and len(value) >= 4
    return len(value) >= 3
