"""Raw payloads of dead letters and fragments, encrypted and bound to their place in the Kafka topic."""

from __future__ import annotations

import os
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.pseudonyms import length_prefixed

Coordinates = tuple[str, int, int, int, int]
"""Topic, partition, offset, entry, position."""

VERSION = b"\x01"
SALT_BYTES = 32
NONCE_BYTES = 12
HEAD_BYTES = len(VERSION) + SALT_BYTES + NONCE_BYTES
TAG_BYTES = 16
KEY_ID = re.compile(r"payload-([1-9][0-9]{0,8})")


class PayloadError(ValueError):
    """A payload cannot be decrypted: another key or place, or changed bytes."""


def encrypt_payload(raw: bytes, coordinates: Coordinates, keys: KeyFolder) -> tuple[bytes, str]:
    """Encrypt ``raw`` for its coordinates; return the blob and the id of its key.

    The blob is version (1 byte), salt (32), nonce (12), AES-256-GCM ciphertext with tag (16). Each blob has a key of
    its own, HKDF-SHA256 of the payload key and the salt: one GCM key must not see 2^32 random nonces (NIST SP 800-38D
    section 8.3). The length of ``raw`` shows.
    """
    key_id = f"payload-{keys.current_epoch}"
    salt, nonce = os.urandom(SALT_BYTES), os.urandom(NONCE_BYTES)
    cipher = _cipher(keys.payload(keys.current_epoch), salt)
    return VERSION + salt + nonce + cipher.encrypt(nonce, raw, _bound(coordinates, key_id)), key_id


def decrypt_payload(blob: bytes, coordinates: Coordinates, key_id: str, keys: KeyFolder) -> bytes:
    """Return the raw payload; raises ``PayloadError`` unless blob, coordinates and key are those of the encryption."""
    named = KEY_ID.fullmatch(key_id)
    if named is None:
        raise PayloadError("wanted a key id like payload-1, found another form")
    if len(blob) < HEAD_BYTES + TAG_BYTES or blob[:1] != VERSION:
        raise PayloadError(f"wanted a payload of version {VERSION[0]}, found another version or a part of one")
    salt, nonce = blob[1 : 1 + SALT_BYTES], blob[1 + SALT_BYTES : HEAD_BYTES]
    cipher = _cipher(keys.payload(int(named[1])), salt)
    try:
        return cipher.decrypt(nonce, blob[HEAD_BYTES:], _bound(coordinates, key_id))
    except InvalidTag:
        raise PayloadError(f"the payload is not one of {key_id} at these coordinates, or was changed") from None


def _cipher(key: bytes, salt: bytes) -> AESGCM:
    return AESGCM(HKDF(SHA256(), 32, salt, b"turnmill payload v1").derive(key))


def _bound(coordinates: Coordinates, key_id: str) -> bytes:
    return VERSION + length_prefixed(key_id, *map(str, coordinates))
