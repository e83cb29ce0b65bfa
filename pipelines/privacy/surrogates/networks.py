"""Network addresses out of the blocks for documentation, and hardware addresses that no maker gives out."""

from __future__ import annotations

from pipelines.privacy.surrogates.draws import Draws

_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")


def ip_address(_text: str, canonical: str, draws: Draws) -> str:
    """Return an address of RFC 5737 or, for IPv6, of 2001:db8::/32 (RFC 3849). A second run leaves it alone."""
    if ":" in canonical:
        groups = (f"{draws.below(0xFFFE, 'IP_ADDRESS', str(place), canonical) + 1:x}" for place in range(4))
        return f"2001:db8:{':'.join(groups)}::1"
    network = draws.one_of(_NETWORKS, "IP_ADDRESS", "network", canonical)
    return f"{network}.{draws.below(254, 'IP_ADDRESS', canonical) + 1}"


def mac_address(text: str, canonical: str, draws: Draws) -> str:
    """Return a locally administered address (IEEE 802: second bit of the first byte) in the form of ``text``."""
    drawn = draws.below(1 << 48, "MAC_ADDRESS", canonical)
    first = (drawn >> 40) & 0xFC | 0x02
    digits = f"{first:02x}{drawn & 0xFFFFFFFFFF:010x}"
    rest = iter(digits.upper() if text.upper() == text else digits)
    return "".join(next(rest, "0") if c.isalnum() else c for c in text)
