"""Typed tokens in the place of personal values: a keyed function of tenant, type and value, without any state."""

from __future__ import annotations

import base64
import hmac
import re
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

TOKEN_BYTES = 16
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
        def subkey(tenant: str, kind: str) -> bytes:
            return HKDF(SHA256(), 32, None, length_prefixed("surrogate", tenant, kind)).derive(key)

        self._subkey = subkey

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("pseudonyms hold a key and are not pickled; make them anew from the key folder")

    def token(self, tenant: str, kind: str, canonical: str) -> str:
        """Return the token of a value, for instance ``<EMAIL_`` + 26 letters and digits + ``>``.

        ``kind`` is a type name of capitals and underscores, ``canonical`` the value's canonical form.
        """
        digest = hmac.digest(self._subkey(tenant, kind), length_prefixed(kind, canonical), "sha256")
        return f"<{kind}_{base64.b32encode(digest[:TOKEN_BYTES]).decode()[:26]}>"
