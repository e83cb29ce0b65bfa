"""Session cookies: whoever holds one is logged in, so they are secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import SECRET, Scan, Span

_NAMED = re.compile(
    r"(?<![\w-])(?P<name>phpsessid|jsessionid|asp\.net_sessionid|aspsessionid[a-z]{0,8}|connect\.sid|sessionid"
    r"|session_?token|laravel_session|_?csrf_?token|xsrf-token"
    r"|ci_session|sid|remember_token|wordpress_logged_in_[0-9a-f]{4,40}|__(?:secure|host)-[\w.-]{1,40}|_gh_sess"
    r"|auth_session|li_at|sapisid|hsid|ssid)"
    r"=(?P<value>[^\s;,\"'<>&]{12,1024})"
)
_HEADER = re.compile(r"(?<![\w-])(?:set-)?cookie[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<pairs>[^\n\"']{3,4000})")
_PAIR = re.compile(r"(?P<name>[\w.$-]{1,64})=(?P<value>[^\s;,]{1,2048})")
_ATTRIBUTES = frozenset(
    {
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "secure",
        "httponly",
        "version",
        "lang",
        "theme",
        "locale",
        "priority",
    }
)
_LEAST = 12


def session_cookies(scan: Scan) -> Iterator[Span]:
    """Find values of session cookies by their name, and long values in cookie headers. Canonical: the value itself."""
    text = scan.text
    for found in _NAMED.finditer(scan.lowered):
        start, end = found.span("value")
        if not is_placeholder(text[start:end]) and _is_random(text[start:end]):
            yield Span(start, end, SECRET, text[start:end])
    for header in _HEADER.finditer(scan.lowered):
        for pair in _PAIR.finditer(scan.lowered, *header.span("pairs")):
            start, end = pair.span("value")
            value = text[start:end].rstrip("\\")
            if (
                pair["name"] not in _ATTRIBUTES
                and len(value) >= _LEAST
                and not is_placeholder(value)
                and _is_random(value)
            ):
                yield Span(start, start + len(value), SECRET, value)


def _is_random(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
