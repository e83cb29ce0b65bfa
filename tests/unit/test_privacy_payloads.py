"""Payloads: readable with the right key at the right place alone."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import PayloadError, decrypt_payload, encrypt_payload

PLACE = ("turnmill.logs", 0, 7, 1, 2)


@pytest.fixture(scope="module")
def keys(tmp_path_factory) -> KeyFolder:
    return KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create()


@given(raw=st.binary(max_size=200))
def test_a_payload_comes_back_whole(keys, raw):
    blob, key_id = encrypt_payload(raw, PLACE, keys)
    assert key_id == "payload-1"
    assert decrypt_payload(blob, PLACE, key_id, keys) == raw


def test_the_blob_does_not_hold_the_payload_and_differs_each_time(keys):
    raw = b"a sentence that nobody else should read"
    first, second = (encrypt_payload(raw, PLACE, keys)[0] for _ in range(2))
    assert raw not in first
    assert first != second


@pytest.mark.parametrize(
    "place",
    [
        ("turnmill.log", 0, 7, 1, 2),
        ("turnmill.logs", 1, 7, 1, 2),
        ("turnmill.logs", 0, 71, 1, 2),
        ("turnmill.logs", 0, 7, 12, 0),
    ],
)
def test_a_payload_does_not_open_at_another_place(keys, place):
    blob, key_id = encrypt_payload(b"raw", PLACE, keys)
    with pytest.raises(PayloadError):
        decrypt_payload(blob, place, key_id, keys)


@pytest.mark.parametrize("at", [0, 1, 40, 46, -1])
def test_a_changed_byte_is_noticed(keys, at):
    blob, key_id = encrypt_payload(b"raw", PLACE, keys)
    changed = bytearray(blob)
    changed[at] ^= 1
    with pytest.raises(PayloadError):
        decrypt_payload(bytes(changed), PLACE, key_id, keys)


def test_a_short_blob_and_a_strange_key_id_are_refused(keys):
    blob, key_id = encrypt_payload(b"raw", PLACE, keys)
    with pytest.raises(PayloadError):
        decrypt_payload(blob[:50], PLACE, key_id, keys)
    with pytest.raises(PayloadError):
        decrypt_payload(blob, PLACE, "identity", keys)


def test_an_old_epoch_still_opens_after_a_rotation(tmp_path: Path):
    old = KeyFolder(tmp_path / "keys").open_or_create()
    blob, key_id = encrypt_payload(b"raw", PLACE, old)
    old.prepare_epoch()
    new = KeyFolder(tmp_path / "keys").open()
    assert decrypt_payload(blob, PLACE, key_id, new) == b"raw"
    assert encrypt_payload(b"raw", PLACE, new)[1] == "payload-2"
