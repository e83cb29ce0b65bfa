"""Block streams of the JVM's compressors, as Spark's state store and shuffle write them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

LZ4_BLOCK = b"LZ4Block"
SNAPPY_JAVA = b"\x82SNAPPY\x00"
_LZ4_HEADER = struct.Struct("<8sBIII")
_SNAPPY_HEADER = 16


def lz4_java_blocks(content: bytes) -> Iterator[bytes]:
    """Yield the blocks of lz4-java's LZ4BlockOutputStream: magic, token, two sizes and a checksum before each.

    ``ValueError`` where a header is missing, ``EOFError`` where the last block is cut.
    """
    place, codec = 0, pa.Codec("lz4_raw")
    while place < len(content):
        if not content.startswith(LZ4_BLOCK, place) or place + _LZ4_HEADER.size > len(content):
            raise ValueError("no block header where one must be")
        _, token, stored, plain, _ = _LZ4_HEADER.unpack_from(content, place)
        place += _LZ4_HEADER.size
        block = content[place : place + stored]
        if len(block) < stored:
            raise EOFError("last block is cut")
        place += stored
        if stored:
            yield codec.decompress(block, decompressed_size=plain, asbytes=True) if token & 0xF0 == 0x20 else block


def snappy_java_blocks(content: bytes) -> Iterator[bytes]:
    """Yield the blocks of snappy-java's SnappyOutputStream: a 16-byte header, then blocks after big-endian sizes.

    ``EOFError`` where the last block is cut.
    """
    place, codec = _SNAPPY_HEADER, pa.Codec("snappy")
    while place + 4 <= len(content):
        size = struct.unpack_from(">I", content, place)[0]
        block = content[place + 4 : place + 4 + size]
        if len(block) < size:
            raise EOFError("last block is cut")
        yield codec.decompress(block, decompressed_size=_plain_size(block), asbytes=True)
        place += 4 + size


def _plain_size(block: bytes) -> int:
    """Read the size that a snappy block starts with: seven bits a byte, lowest first."""
    size = 0
    for number, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            break
    return size
