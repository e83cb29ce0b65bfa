"""Typed tokens in the place of personal values: a keyed function of tenant, type and value, without any state."""

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
    encoded = (field.encode("utf-8", "surrogatepass") for field in fields)
    return b"".join(len(field).to_bytes(8, "big") + field for field in encoded)


class Pseudonyms:
    """Makes tokens under the surrogate key of one epoch; equal values get equal tokens inside a tenant and type.

    token = type and base32(first 128 bits of HMAC-SHA-256(subkey, type, canonical value)), subkey = HKDF-SHA256(epoch
    key, info = "surrogate", tenant, type) (RFC 5869); a plain hash of a phone number can be enumerated.
    """

    def __init__(self, key: bytes) -> None:
        @lru_cache(maxsize=4096)
        def subkey(tenant: str, kind: str) -> tuple[bytes, bytes]:
            key_of_kind = HKDF(SHA256(), 32, None, length_prefixed("surrogate", tenant, kind)).derive(key)
            return key_of_kind, length_prefixed(kind)

        self._subkey = subkey

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("pseudonyms hold a key and are not pickled; make them anew from the key folder")

    def token(self, tenant: str, kind: str, canonical: str) -> str:
        """Return the token of a value, for instance ``<EMAIL_`` + 26 letters and digits + ``>``.

        ``kind`` is a type name of capitals and underscores, ``canonical`` the value's canonical form.
        """
        subkey, prefix = self._subkey(tenant, kind)
        digest = hmac.digest(subkey, prefix + length_prefixed(canonical), "sha256")
        bits = int.from_bytes(digest[:TOKEN_BYTES], "big") << 2
        return f"<{kind}_{''.join([_PAIRS[bits >> shift & 1023] for shift in range(120, -1, -10)])}>"
