"""Addresses and private keys of cryptocurrencies, by their checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from pipelines.privacy.keccak import keccak_256
from pipelines.privacy.scan import CRYPTO_ADDRESS, SECRET, Scan, Span

_BITCOIN_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RIPPLE_ALPHABET = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
_TO_BITCOIN = str.maketrans(_RIPPLE_ALPHABET, _BITCOIN_ALPHABET)
_PLACES = {c: i for i, c in enumerate(_BITCOIN_ALPHABET)}
_ADDRESS_VERSIONS = frozenset(
    (b"\x00", b"\x05", b"\x30", b"\x32", b"\x1e", b"\x16", b"\x41", b"\x4c", b"\x10", b"\x6f", b"\xc4")
)
"""First byte: Bitcoin, Litecoin, Dogecoin, Tron, Dash, and Bitcoin's test network."""
_ZCASH_VERSIONS = frozenset((b"\x1c\xb8", b"\x1c\xbd"))
_KEY_VERSIONS = frozenset((b"\x80", b"\xb0", b"\xef"))
_SEGWIT = re.compile(r"(?:bc|tb|ltc)1[02-9ac-hj-np-z]{11,87}")
_BECH32_ALPHABET = {c: i for i, c in enumerate("qpzry9x8gf2tvdw0s3jn54khce6mua7l")}
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUMS = frozenset((1, 0x2BC830A3))
"""Of bech32 (BIP 173) and bech32m (BIP 350)."""

_CANDIDATE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{25,120}(?![A-Za-z0-9])")
_ETHEREUM = re.compile(r"0[xX][0-9a-fA-F]{40}")
_CHAIN_CUE = re.compile(
    r"\b(?:wallet|solana|sol|monero|xmr|cardano|ada|polkadot|dot|cosmos|algorand|stellar|xlm|phantom|crypto|coin)\b"
)
_BY_CUE = re.compile(
    r"[1-9A-HJ-NP-Za-km-z]{32,44}|[48][0-9AB][1-9A-HJ-NP-Za-km-z]{93}|addr1[a-z0-9]{50,110}|G[A-Z2-7]{55}"
    r"|cosmos1[a-z0-9]{38}"
)


def crypto_addresses(scan: Scan) -> Iterator[Span]:
    """Find addresses whose checksum holds, and private keys in wallet import format, which are secrets.

    Base58Check, bech32 and bech32m, EIP-55 in mixed case; other chains after a word for them. Canonical: as written,
    in lower case where case carries nothing.
    """
    for found in _CANDIDATE.finditer(scan.text):
        value = found[0]
        kind = kind_of(value) or (CRYPTO_ADDRESS if _is_told(scan, found.start(), value) else None)
        if kind:
            folded = value.lower() if value[:2].lower() in ("0x", "bc", "tb", "lt") else value
            yield Span(found.start(), found.end(), kind, folded)


def kind_of(value: str) -> str | None:
    """Tell by its checksum whether a value is an address or a private key."""
    if value[:2] in ("0x", "0X"):
        return CRYPTO_ADDRESS if len(value) == 42 and is_ethereum(value) else None
    lowered = value.lower()
    if value in (lowered, value.upper()) and _SEGWIT.fullmatch(lowered):
        return CRYPTO_ADDRESS if _has_bech32_checksum(lowered) else None
    if not 26 <= len(value) <= 52 or not _has_all_classes(value):
        return None
    payload = base58_payload(value)
    if payload is None:
        xrp = base58_payload(value.translate(_TO_BITCOIN)) if value[0] == "r" else None
        return CRYPTO_ADDRESS if xrp and len(xrp) == 21 and xrp[0] == 0 else None
    if len(payload) == 21 and payload[:1] in _ADDRESS_VERSIONS:
        return CRYPTO_ADDRESS
    if len(payload) == 22 and payload[:2] in _ZCASH_VERSIONS:
        return CRYPTO_ADDRESS
    return SECRET if len(payload) in (33, 34) and payload[:1] in _KEY_VERSIONS else None


def _has_all_classes(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))


def base58_payload(value: str) -> bytes | None:
    """Return version and content of a Base58Check value, or None: the last four bytes are a double SHA-256."""
    number = 0
    for c in value:
        place = _PLACES.get(c)
        if place is None:
            return None
        number = number * 58 + place
    zeros = len(value) - len(value.lstrip("1"))
    raw = b"\x00" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
    content, checksum = raw[:-4], raw[-4:]
    return content if sha256(sha256(content).digest()).digest()[:4] == checksum and content else None


def _has_bech32_checksum(value: str) -> bool:
    prefix, _, data = value.rpartition("1")
    values = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    values += [_BECH32_ALPHABET[c] for c in data]
    check = 1
    for one in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ one
        for i, generator in enumerate(_GENERATOR):
            check ^= generator if top >> i & 1 else 0
    return check in _CHECKSUMS


def is_ethereum(value: str) -> bool:
    """Tell whether ``0x`` and 40 hex digits are an address: EIP-55 in mixed case, nothing trivial in one case."""
    if _ETHEREUM.fullmatch(value) is None:
        return False
    bare = value[2:]
    lowered = bare.lower()
    if bare in (lowered, bare.upper()):
        return len(set(lowered)) > 6 and not lowered.startswith("0" * 8)
    digest = keccak_256(lowered.encode()).hex()
    return all(c == (c.upper() if digest[i] in "89abcdef" else c.lower()) for i, c in enumerate(bare))


def _is_told(scan: Scan, start: int, value: str) -> bool:
    return (
        _BY_CUE.fullmatch(value) is not None
        and any(map(str.isdigit, value))
        and not all(c in "0123456789abcdef" for c in value)
        and scan.gap_after(_CHAIN_CUE, start, 40) is not None
    )
