"""Requests to addresses that a person declared: one POST to a public host, signed, never redirected.

Failure contract: nothing is sent to an address that is not allowed (``AddressRefused``); a request that was not
answered with 2xx raises ``RequestFailed`` and may be repeated with the same idempotency key.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Resolve = Callable[[str, int], Sequence[str]]
TIMEOUT_SECONDS = 10.0
MOST_ANSWER_BYTES = 65_536
SIGNATURE, IDEMPOTENCY = "Turnmill-Signature", "Idempotency-Key"
NAT64 = ipaddress.ip_network("64:ff9b::/96")
WAIT = re.compile(r"\d{1,6}", re.ASCII)
"""Seconds of Retry-After; its other form, a date, is passed over."""


class AddressRefused(ValueError):
    """An address that nothing is sent to; the message says why, without the user part of the URL."""

    safe_to_show = True


class RequestFailed(RuntimeError):
    """The other side did not answer with 2xx; the message holds the status or the kind of the fault.

    ``status`` is None where there was no answer; ``retry_after`` are the seconds that the answer asks to wait.
    """

    safe_to_show = True

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


@dataclass(frozen=True)
class Target:
    """Where a request goes: the host as named, and the one address that was checked and is connected to."""

    scheme: str
    host: str
    port: int
    path: str
    address: str


def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses of ``host``, as the system resolves it."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def checked_target(url: str, *, allow_private: bool = False, resolve: Resolve = resolve_host) -> Target:
    """Return the target of ``url`` once all addresses of its host are public; raises ``AddressRefused``.

    The host is resolved once and the address kept, so that another answer of the name server changes nothing
    (DNS rebinding). Private, loopback, link-local, shared and reserved addresses are refused in every notation, also
    inside IPv6, unless ``allow_private``. Plain http is for private addresses alone.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise AddressRefused("wanted a URL of http or https with a host, found another") from None
    if parts.scheme not in ("https", "http") or not host:
        raise AddressRefused("wanted a URL of http or https with a host, found another")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(f"{host}: wanted a URL without user and password; the body is signed instead")
    try:
        addresses = list(resolve(host, port))
    except OSError as error:
        raise AddressRefused(f"{host}: wanted a host that resolves, found {type(error).__name__}") from None
    if not addresses:
        raise AddressRefused(f"{host}: wanted a host that resolves, found no address")
    private = [address for address in addresses if not is_public(address)]
    if private and not allow_private:
        raise AddressRefused(f"{host}: wanted a public address, found one that is not; allow it by flag if it is yours")
    if parts.scheme == "http" and not private:
        raise AddressRefused(f"{host}: wanted https for a public address, found http")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, addresses[0])


def is_public(address: str) -> bool:
    """Tell whether an address is one of the open internet, also the IPv4 address that an IPv6 one carries."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = [found.ipv4_mapped, found.sixtofour, *(found.teredo or ())]
        if found in NAT64:
            inner.append(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
        if any(one is not None and not is_public(str(one)) for one in inner):
            return False
        if found.ipv4_mapped is not None:
            return True
    return found.is_global and not found.is_multicast


def signature(secret: bytes, timestamp: int, body: bytes) -> str:
    """Return the signature header's value: HMAC-SHA-256 over ``timestamp.body``, hex.

    The time is under the signature, so that a receiver can refuse what is old.
    """
    digest = hmac.new(secret, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


def is_signed(secret: bytes, header: str, body: bytes, *, now: int, tolerance_seconds: int = 300) -> bool:
    """Tell whether ``header`` signs ``body`` and its time is near ``now``: what a receiver checks."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    if not parts.get("t", "").isdigit() or abs(now - int(parts["t"])) > tolerance_seconds:
        return False
    return hmac.compare_digest(signature(secret, int(parts["t"]), body), header)


def post_json(
    target: Target,
    body: bytes,
    *,
    secret: bytes | None = None,
    idempotency_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> bytes:
    """Send ``body`` to the checked target and return the answer, at most 64 KiB; redirects are not followed."""
    sent = {"Content-Type": "application/json", "User-Agent": "turnmill", **(headers or {})}
    if secret is not None:
        sent[SIGNATURE] = signature(secret, int(time.time()), body)
    if idempotency_key is not None:
        sent[IDEMPOTENCY] = idempotency_key
    connection = _connection(target, timeout)
    try:
        connection.request("POST", target.path, body, sent)
        answer = connection.getresponse()
        content = answer.read(MOST_ANSWER_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise RequestFailed(f"{target.host}: wanted an answer, found {type(error).__name__}") from None
    finally:
        connection.close()
    if not 200 <= answer.status < 300:
        wait = answer.headers.get("Retry-After", "").strip()
        told = f"{target.host}: wanted a status of 2xx, found {answer.status}"
        raise RequestFailed(told, answer.status, float(wait) if WAIT.fullmatch(wait) else None)
    return content


def _connection(target: Target, timeout: float) -> http.client.HTTPConnection:
    """Return a connection to the checked address that speaks, and checks certificates, for the host's name."""
    if target.scheme == "http":
        connection: http.client.HTTPConnection = http.client.HTTPConnection(target.host, target.port, timeout=timeout)
    else:
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(target.host, target.port, timeout=timeout, context=context)

    def connect(_: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:
        return socket.create_connection((target.address, target.port), *rest, **more)

    connection._create_connection = connect  # type: ignore[attr-defined]  # noqa: SLF001 - the hook for pinning
    return connection
