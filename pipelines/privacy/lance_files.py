"""Rows of a single Lance file, deleted and superseded ones too: each file is read as a dataset of its own.

A Lance dataset shows the rows of its versions; a deleted row stays in its data file, the file of a removed version may
stay on disk, and text pages are compressed. So a manifest that names one file and no deletions is written into a
scratch folder beside a link to that file, and Lance reads it. Layout: the Lance file and table formats, version 2.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from pipelines.privacy.varints import read_varint

LANCE_MAGIC = b"LANC"
_FOOTER = 40
_ROWS_A_BATCH = 4096
Fields = list[tuple[int, int | bytes]]


class UnreadableLanceFile(Exception):
    """A Lance file that cannot be read this way; the message says why, without data."""


def lance_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield all rows of the Lance data or index file at ``path``, in batches of at most 4,096.

    Raises ``UnreadableLanceFile`` when LanceDB is not installed or the file has another layout.
    """
    try:
        import lancedb
    except ImportError as missing:
        raise UnreadableLanceFile("lancedb is not installed; it comes with the extra 'embed'") from missing
    manifest, version = _manifest_for(path)
    with TemporaryDirectory(prefix="turnmill-scan-") as scratch:
        dataset = Path(scratch) / "file.lance"
        for folder in ("data", "_versions"):
            (dataset / folder).mkdir(parents=True)
        (dataset / "data" / "rows.lance").symlink_to(path.resolve())
        tail = struct.pack("<QHH", 0, 0, 2) + LANCE_MAGIC
        (dataset / "_versions" / "1.manifest").write_bytes(struct.pack("<I", len(manifest)) + manifest + tail)
        try:
            table = lancedb.connect(scratch).open_table("file")
            for batch in table.search().to_batches(batch_size=_ROWS_A_BATCH):
                yield batch.rename_columns([name.removeprefix("of_") for name in batch.schema.names])
        except Exception as refusal:
            raise UnreadableLanceFile(f"Lance does not read it as version {version}") from refusal


def _manifest_for(path: Path) -> tuple[bytes, str]:
    """Build the manifest of a dataset of this one file from the schema in its own descriptor."""
    data = path.read_bytes()
    if len(data) < _FOOTER or data[-4:] != LANCE_MAGIC:
        raise UnreadableLanceFile("no Lance footer")
    _, _, buffers_at, _, n_columns, major, minor = struct.unpack("<QQQIIHH", data[-_FOOTER:-4])
    try:
        start, size = struct.unpack_from("<QQ", data, buffers_at)
        descriptor = dict(_parse(data[start : start + size]))
        schema = _parse(_as_bytes(descriptor.get(1, b"")))
    except (IndexError, struct.error) as damage:
        raise UnreadableLanceFile("no schema in the Lance file") from damage
    if (major, minor) == (0, 3):
        major, minor = 2, 0
    fields = [_as_bytes(value) for number, value in schema if number == 1]
    ids, columns = _column_places([dict(_parse(field)) for field in fields], n_columns)
    data_file: Fields = [(1, b"rows.lance"), (2, ids), (3, columns), (4, major), (5, minor), (6, len(data))]
    fragment: Fields = [(2, _build(data_file)), (4, descriptor.get(2, 0))]
    version = f"{major}.{minor}"
    manifest: Fields = [(1, _renamed(field)) for field in fields]
    manifest += [(2, _build(fragment)), (3, 1), (15, _build([(1, b"lance"), (2, version.encode())]))]
    return _build(manifest), version


def _column_places(fields: list[dict[int, int | bytes]], n_columns: int) -> tuple[bytes, bytes]:
    """Map field ids to columns: since file version 2.1 only leaves have one, before that every field."""
    ids = [_as_int(field.get(3, 0)) for field in fields]
    parents = {_as_int(field[4]) if 4 in field else 0 for field in fields}
    with_column = ids if n_columns == len(fields) else [number for number in ids if number not in parents]
    if len(with_column) != n_columns:
        raise UnreadableLanceFile(f"{len(fields)} fields, {n_columns} columns")
    return b"".join(map(_varint, with_column)), b"".join(map(_varint, range(n_columns)))


def _renamed(field: bytes) -> bytes:
    """Prefix the name of a field: Lance keeps some names, for instance ``_rowid``, for itself."""
    return _build([(number, b"of_" + _as_bytes(value) if number == 2 else value) for number, value in _parse(field)])


def _as_bytes(value: int | bytes) -> bytes:
    return value if isinstance(value, bytes) else b""


def _as_int(value: int | bytes) -> int:
    return value if isinstance(value, int) else 0


def _parse(message: bytes) -> Fields:
    """Split a protobuf message into (field number, value)."""
    place, fields = 0, Fields()
    while place < len(message):
        key, place = read_varint(message, place)
        value: int | bytes
        match key & 7:
            case 0:
                value, place = read_varint(message, place)
            case 1 | 5 as wire:
                size = 8 if wire == 1 else 4
                value, place = message[place : place + size], place + size
            case 2:
                size, place = read_varint(message, place)
                value, place = message[place : place + size], place + size
            case _:
                raise UnreadableLanceFile("not a protobuf message")
        fields.append((key >> 3, value))
    return fields


def _build(fields: Fields) -> bytes:
    built = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            built += _varint(number << 3) + _varint(value)
        else:
            built += _varint(number << 3 | 2) + _varint(len(value)) + value
    return bytes(built)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
