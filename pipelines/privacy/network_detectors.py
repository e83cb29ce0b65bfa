"""IP addresses that reach somebody, and hardware addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from pipelines.privacy.scan import IP_ADDRESS, MAC_ADDRESS, Scan, Span

_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_IPV6_REST = re.compile(r":[0-9a-f:]{1,39}(?:\.[0-9]{1,3}){0,3}")
_DOTS = 3
_HEX_SHAPE = bytes(104 if chr(c) in "0123456789abcdef" else 45 if chr(c) in ":-" else 32 for c in range(256))
DOCUMENTATION_MAC = "00005e0053"
"""First ten digits of the hardware addresses that are for documentation (RFC 9542, section 2.1.4)."""

_MAC_SHAPE = b"hh-hh-hh-hh-hh-hh"
_HEX = frozenset("0123456789abcdef")
_MAC = re.compile(r"[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}")
_VERSION_BEFORE = re.compile(r"(?:\bv|\bver\.?|version|release|build|\bv\.)[\s:=\"']{0,4}$")

_RESOLVERS = """
1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 149.112.112.112 208.67.222.222 208.67.220.220 2606:4700:4700::1111
2606:4700:4700::1001 2001:4860:4860::8888 2001:4860:4860::8844 2620:fe::fe 2620:fe::9
"""
RESOLVERS = frozenset(map(ip_address, _RESOLVERS.split()))
"""Public resolvers that everybody writes down (Cloudflare, Google, Quad9, OpenDNS)."""
DOCUMENTATION = tuple(
    map(ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"))
)
"""RFC 5737, RFC 3849, RFC 9637."""
UNICAST = IPv6Network("2000::/3")
"""The only part of IPv6 that is given out (RFC 4291 section 2.4). Elsewhere only an address written in full counts."""


def ip_addresses(scan: Scan) -> Iterator[Span]:
    """Find public, routable IP addresses; versions, private and reserved ranges and known resolvers stay.

    Canonical: the shortest lower-case form.
    """
    text, lowered = scan.text, scan.lowered
    for found in _IPV4.finditer(text) if text.count(".") >= _DOTS else ():
        start, end = found.span()
        if not _is_cut_out(text, start, end, ".") and not _VERSION_BEFORE.search(scan.before(start, 16)):
            yield from _personal(scan, start, end)
    if text.count(":") >= 2:
        for found in _IPV6_REST.finditer(lowered):
            start, end = found.span()
            while start > max(0, found.start() - 4) and lowered[start - 1] in _HEX:
                start -= 1
            while end > start and lowered[end - 1] == ":" and lowered[end - 2 : end] != "::":
                end -= 1
            if lowered.count(":", start, end) >= 2 and not _is_cut_out(text, start, end, ":"):
                yield from _personal(scan, start, end)


def _is_cut_out(text: str, start: int, end: int, joint: str) -> bool:
    """Tell whether the span is a part of a longer word, number or path."""
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    if before and ((before.isascii() and (before.isalnum() or before == "_")) or before == joint):
        return True
    if after and after[0].isascii() and (after[0].isalnum() or after[0] == "_"):
        return True
    return len(after) == 2 and after[0] in ".:" and after[0] == joint and after[1].isalnum()


def _personal(scan: Scan, start: int, end: int) -> Iterator[Span]:
    try:
        address = ip_address(scan.text[start:end])
    except ValueError:
        return
    if not is_personal(address, documentation=scan.policy.documentation_ranges) or scan.is_own_token(start, end):
        return
    yield Span(start, end, IP_ADDRESS, str(address))


def is_personal(address: IPv4Address | IPv6Address, *, documentation: bool) -> bool:
    """Tell whether an address may lead to a person: given out, routable, no resolver."""
    if any(address in network for network in DOCUMENTATION if network.version == address.version):
        return documentation
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_personal(address.ipv4_mapped, documentation=documentation)
        if address not in UNICAST and ("::" in str(address) or max(map(len, str(address).split(":"))) < 3):
            return False
    return address.is_global and not address.is_multicast and address not in RESOLVERS


def mac_addresses(scan: Scan) -> Iterator[Span]:
    """Find hardware addresses that are neither empty, broadcast, an example nor part of a longer fingerprint."""
    if _MAC_SHAPE not in scan.lowered.encode("ascii", "replace").translate(_HEX_SHAPE):
        return
    for found in _MAC.finditer(scan.lowered):
        start, end = found.span()
        joint = found[1]
        digits = found[0].replace(joint, "")
        cut_out = _is_cut_out(scan.text, start, end, joint) or scan.text[end : end + 1] == joint
        is_example = digits.startswith(DOCUMENTATION_MAC) and not scan.policy.documentation_ranges
        if not cut_out and len(set(digits)) > 1 and not is_example:
            yield Span(start, end, MAC_ADDRESS, digits)
