"""Keyed functions of tenant, type and value, without any state: typed tokens, hashes, and draws for surrogates."""

from __future__ import annotations

import hmac
import re
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

TOKEN_BYTES = 16
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
TOKEN = re.compile(r"<[A-Z][A-Z_]{1,30}_[A-Z2-7]{26}>")
"""The form of a token: its type, then 128 bits in base32."""


def length_prefixed(*fields: str) -> bytes:
    """Join fields so that no two different lists give the same bytes: each UTF-8 field after its length (8 bytes)."""
    joined = b""
    for field in fields:
        encoded = field.encode("utf-8", "surrogatepass")
        joined += len(encoded).to_bytes(8, "big") + encoded
    return joined


class Pseudonyms:
    """Makes replacements under the surrogate key of one epoch; equal values get equal ones inside a tenant and scope.

    HMAC-SHA-256(subkey, type, canonical value), subkey = HKDF-SHA256(epoch key, info = purpose, tenant, type, scope)
    (RFC 5869); a plain hash of a phone number can be enumerated. Tokens, hashes and draws have subkeys of their own. A
    ``scope`` is (its kind, keyed reference of the user or conversation); the empty one is the whole tenant.
    """

    def __init__(self, key: bytes) -> None:
        @lru_cache(maxsize=4096)
        def subkey(purpose: str, tenant: str, kind: str, scope: tuple[str, ...]) -> tuple[bytes, bytes]:
            info = length_prefixed(purpose, tenant, kind, *scope)
            return HKDF(SHA256(), 32, None, info).derive(key), length_prefixed(kind)

        @lru_cache(maxsize=16384)
        def number(tenant: str, kind: str, scope: tuple[str, ...], fields: tuple[str, ...]) -> int:
            return int.from_bytes(self._digest("draw", tenant, kind, scope, *fields), "big")

        self._subkey = subkey
        self._number = number

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("pseudonyms hold a key and are not pickled; make them anew from the key folder")

    def token(self, tenant: str, kind: str, canonical: str, scope: tuple[str, ...] = ()) -> str:
        """Return the token of a value, for instance ``<EMAIL_`` + 26 letters and digits + ``>``.

        ``kind`` is a type name of capitals and underscores, ``canonical`` the value's canonical form.
        """
        bits = int.from_bytes(self._digest("surrogate", tenant, kind, scope, canonical)[:TOKEN_BYTES], "big") << 2
        return f"<{kind}_{''.join([_PAIRS[bits >> shift & 1023] for shift in range(120, -1, -10)])}>"

    def hash(self, tenant: str, kind: str, canonical: str, scope: tuple[str, ...] = ()) -> str:
        """Return 128 keyed bits of a value as 32 hex digits."""
        return self._digest("hash", tenant, kind, scope, canonical)[:TOKEN_BYTES].hex()

    def number(self, tenant: str, kind: str, scope: tuple[str, ...], *fields: str) -> int:
        """Return 256 keyed bits of some fields, to choose a surrogate by."""
        return self._number(tenant, kind, scope, fields)

    def _digest(self, purpose: str, tenant: str, kind: str, scope: tuple[str, ...], *fields: str) -> bytes:
        subkey, prefix = self._subkey(purpose, tenant, kind, scope)
        return hmac.digest(subkey, prefix + length_prefixed(*fields), "sha256")
