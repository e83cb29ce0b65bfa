"""RocksDB files read without RocksDB: every entry of a table file, and the records of write-ahead logs and manifests.

Opening a database shows its live rows only; a deleted row's bytes stay in its files, so the blocks are read themselves.
Layout: the BlockBasedTable format of RocksDB, footer versions 1 to 6, and its log file format.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from pipelines.privacy.varints import read_varint

TABLE_MAGIC = bytes.fromhex("f7cff485b741e288")
_FOOTER = 53
_TRAILER = 5
_LOG_BLOCK = 32768
_CODECS = {1: "snappy", 4: "lz4_raw", 5: "lz4_raw", 7: "zstd"}


class UnreadableTable(Exception):
    """A table file that this reader does not understand; the message says which part."""


@dataclass(frozen=True, slots=True)
class _Handle:
    offset: int
    size: int


def table_entries(data: bytes) -> Iterator[bytes]:
    """Yield key and value of every entry of a table file, deleted ones too, and its properties, as bytes.

    Raises ``UnreadableTable`` for another layout, an unknown compression or a damaged block.
    """
    try:
        yield from _table_entries(data)
    except (IndexError, struct.error, pa.ArrowException, OSError, zlib.error) as damage:
        raise UnreadableTable("a block does not decode") from damage


def _table_entries(data: bytes) -> Iterator[bytes]:
    metaindex, index = _footer_handles(data)
    properties: dict[bytes, bytes] = {}
    for name, value in _entries(_block(data, metaindex)):
        if name == b"rocksdb.properties":
            properties = dict(_entries(_block(data, _handle(value))))
        elif name == b"rocksdb.index":
            index = _handle(value)
    yield from (part for entry in properties.items() for part in entry)
    if index is None:
        raise UnreadableTable("no index block")
    delta_encoded = _number(properties, b"rocksdb.index.value.is.delta.encoded") == 1
    handles = _index_handles(_block(data, index), delta_encoded)
    if properties.get(b"rocksdb.block.based.table.index.type", b"\0")[:1] == b"\x02":
        handles = (inner for part in handles for inner in _index_handles(_block(data, part), delta_encoded))
    for handle in handles:
        for key, value in _entries(_block(data, handle)):
            yield key
            yield value


def _number(properties: dict[bytes, bytes], name: bytes) -> int:
    stored = properties.get(name)
    return read_varint(stored, 0)[0] if stored else 0


def _footer_handles(data: bytes) -> tuple[_Handle, _Handle | None]:
    if len(data) < _FOOTER or data[-8:] != TABLE_MAGIC:
        raise UnreadableTable("no footer of a block-based table")
    start = len(data) - _FOOTER
    version = struct.unpack_from("<I", data, len(data) - 12)[0]
    if version >= 6:
        size = struct.unpack_from("<I", data, start + 13)[0]
        return _Handle(start - _TRAILER - size, size), None
    offset, place = read_varint(data, start + 1)
    size, place = read_varint(data, place)
    index_offset, place = read_varint(data, place)
    index_size, _ = read_varint(data, place)
    return _Handle(offset, size), _Handle(index_offset, index_size)


def _block(data: bytes, handle: _Handle) -> bytes:
    end = handle.offset + handle.size
    stored, kind = data[handle.offset : end], data[end]
    if kind == 0:
        return stored
    if kind == 2:
        return zlib.decompress(stored[read_varint(stored, 0)[1] :], -15)
    codec = _CODECS.get(kind)
    if codec is None:
        raise UnreadableTable(f"compression {kind}")
    if kind == 1:
        size, start = read_varint(stored, 0)[0], 0
    else:
        size, start = read_varint(stored, 0)
    return pa.Codec(codec).decompress(stored[start:], decompressed_size=size, asbytes=True)


def _entries_end(block: bytes) -> int:
    packed = struct.unpack_from("<I", block, len(block) - 4)[0]
    restarts = packed & 0x0FFFFFFF
    return len(block) - 4 - 4 * restarts


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a block with their keys made whole (a key is stored as what differs from the one before)."""
    place, end, key = 0, _entries_end(block), b""
    while place < end:
        shared, place = read_varint(block, place)
        fresh, place = read_varint(block, place)
        size, place = read_varint(block, place)
        key = key[:shared] + block[place : place + fresh]
        place += fresh
        yield key, block[place : place + size]
        place += size


def _index_handles(block: bytes, delta_encoded: bool) -> Iterator[_Handle]:
    if not delta_encoded:
        yield from (_handle(value) for _, value in _entries(block))
        return
    place, end, before = 0, _entries_end(block), _Handle(0, 0)
    while place < end:
        shared, place = read_varint(block, place)
        fresh, place = read_varint(block, place)
        place += fresh
        if shared == 0:
            offset, place = read_varint(block, place)
            size, place = read_varint(block, place)
            before = _Handle(offset, size)
        else:
            zigzag, place = read_varint(block, place)
            difference = (zigzag >> 1) ^ -(zigzag & 1)
            before = _Handle(before.offset + before.size + _TRAILER, before.size + difference)
        yield before


def _handle(stored: bytes) -> _Handle:
    offset, place = read_varint(stored, 0)
    return _Handle(offset, read_varint(stored, place)[0])


def log_records(data: bytes) -> bytes:
    """Return the records of a write-ahead log or manifest, joined across its 32 KiB blocks."""
    joined = bytearray()
    for start in range(0, len(data), _LOG_BLOCK):
        place, end = start, min(start + _LOG_BLOCK, len(data))
        while place + 7 <= end:
            size, kind = struct.unpack_from("<HB", data, place + 4)
            header = 11 if 5 <= kind <= 8 else 7
            if not 1 <= kind <= 11 or place + header + size > end:
                break
            joined += data[place + header : place + header + size]
            place += header + size
            if kind in (1, 4, 5, 8):
                joined += b"\x00"
    return bytes(joined)
