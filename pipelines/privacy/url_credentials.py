"""User and password inside URLs, however the password is written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import SECRET, USERNAME, Scan, Span

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}$")
_REST = re.compile(r"[^\s\"'<>`\\]{1,1024}")
_HOST = re.compile(r"(?:[\w-]{1,63}\.){0,8}[\w-]{1,63}\.?(?::[0-9]{1,5})?(?=[/?#,;)\]]|$)|\[[0-9a-f:.]{2,45}\]")
_WEB = frozenset({"http", "https", "ws", "wss"})
_SERVICE_ACCOUNTS = """
git root admin user username guest anonymous postgres postgresql mysql hg svn oauth2 x-access-token app api svc service
docker dev test web backend db
"""
SERVICE_ACCOUNTS = frozenset(_SERVICE_ACCOUNTS.split())
"""User names that stand for no person."""


def url_credentials(scan: Scan) -> Iterator[Span]:
    """Find user and password of URLs and note the ``@`` that ends them, which is none of an e-mail address.

    The userinfo ends at the last ``@`` of the authority (RFC 3986 section 3.2.1 read as people write it): passwords
    hold ``@ / : #`` unescaped. An ``@`` in a path or query is left alone.
    """
    text = scan.text
    at = text.find("://")
    while at >= 0:
        start = at + 3
        rest = _REST.match(text, start)
        scheme = _SCHEME.search(scan.lowered, max(0, at - 20), at)
        if rest and scheme and "@" in rest[0]:
            size = _userinfo_size(rest[0], scheme[0])
            if size:
                yield from _parts(scan, start, size)
        at = text.find("://", start)


def _userinfo_size(rest: str, scheme: str) -> int:
    """Return how many characters of ``rest`` are userinfo; 0 for none."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    own = authority.rfind("@")
    if scheme in _WEB:
        if own >= 0:
            return own
        port = authority.partition(":")[2]
        if not port or port.isdigit():
            return 0
        return _last_before_host(rest, only_dotted=True)
    if own < 0 and ":" not in authority:
        return 0
    return _last_before_host(rest, only_dotted=False)


def _last_before_host(rest: str, *, only_dotted: bool) -> int:
    """Return the place of the last ``@`` with a host after it, before any ``?key=value``."""
    query = re.search(r"\?\w{1,40}=", rest)
    end = query.start() if query else len(rest)
    at = rest.rfind("@", 0, end)
    while at > 0:
        host = _HOST.match(rest.lower(), at + 1)
        if host and (not only_dotted or "." in host[0] or ":" in host[0] or host[0] == "localhost"):
            return at
        at = rest.rfind("@", 0, at)
    return 0


def _parts(scan: Scan, start: int, size: int) -> Iterator[Span]:
    text = scan.text
    end = start + size
    user, colon, password = text[start:end].partition(":")
    scan.url_ats.update(i for i in range(start + len(user), end + 1) if text[i] == "@")
    if password and not is_placeholder(password):
        yield Span(end - len(password), end, SECRET, password)
    elif user and not colon and _is_token(user):
        yield Span(start, end, SECRET, user)
        return
    if user and "@" not in user and user.lower() not in SERVICE_ACCOUNTS and not is_placeholder(user):
        yield Span(start, start + len(user), USERNAME, user.lower())


def _is_token(user: str) -> bool:
    return len(user) >= 16 and any(c.isdigit() for c in user) and any(c.isalpha() for c in user)
