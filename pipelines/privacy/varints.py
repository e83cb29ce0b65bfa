"""Base-128 integers, as protocol buffers and RocksDB store them."""

from __future__ import annotations


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return the integer at ``place`` and the place after it; IndexError where the data ends inside it."""
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
