"""What a file of a lake holds: its format by its first and last bytes, its strings column by column."""

from __future__ import annotations

import gzip
import io
import mmap
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import zstandard

from pipelines.privacy.arrow_columns import joined, leaves, values_that_start_with
from pipelines.privacy.compressed_streams import LZ4_BLOCK, SNAPPY_JAVA, lz4_java_blocks, snappy_java_blocks
from pipelines.privacy.lance_files import LANCE_MAGIC, UnreadableLanceFile, lance_batches
from pipelines.privacy.rocksdb_files import TABLE_MAGIC, UnreadableTable, log_records, table_entries
from pipelines.privacy.text_views import is_text

WINDOW = 16 << 20
OVERLAP = 1 << 16
_NESTING = 4
_ROWS_A_BATCH = 4096
_ARROW_STREAM = b"\xff\xff\xff\xff"
_COMPRESSED = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", LZ4_BLOCK, b"PK\x03\x04", SNAPPY_JAVA)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a file after decoding: by which decoder, and in which column or member they were found."""

    decoder: str
    field: str
    content: bytes


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A file or part of one that could not be decoded: why, without data. For it a scan proves nothing."""

    reason: str


Decoded = Piece | NotUnderstood


def decode_file(path: Path) -> Iterator[Decoded]:
    """Yield the raw bytes of a file in overlapping windows, then its decoded content; bad content never raises."""
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        name = path.name
        for start in range(0, len(raw), WINDOW):
            yield Piece("bytes", "", raw[start : start + WINDOW + OVERLAP])
        if raw[-4:] == LANCE_MAGIC and path.suffix == ".lance":
            yield from _failing_softly("lance", _lance(path))
            return
        if name.endswith(".log") or name.startswith("MANIFEST-"):
            yield Piece("rocksdb log", "", log_records(raw[:]))
        known = _decoder_of(raw[:16], raw[-16:])
        if known is None:
            if (
                not name.endswith(_PLAIN_BINARIES)
                and not raw[:3].startswith(_SPARK_METADATA)
                and not _is_plain_text(raw[:4096] + raw[-4096:])
                and not name.startswith("MANIFEST-")
            ):
                yield NotUnderstood("binary of an unknown format; only its raw bytes were searched")
            return
        kind, decode = known
        if kind == "parquet":
            yield from _failing_softly(kind, _parquet(pa.memory_map(str(path))))
        else:
            yield from _failing_softly(kind, decode(raw[:], _NESTING))


_PLAIN_BINARIES = (".crc", ".manifest", ".txn", ".safetensors", ".log")
_SPARK_METADATA = (b"\x00v", b"\x00\x02v")
"""A Kafka source's first offsets and a state store's schema in a checkpoint: lengths, a version, plain UTF-8."""
_ContentDecoder = Callable[[bytes, int], Iterator[Decoded]]


def _decoder_of(head: bytes, tail: bytes) -> tuple[str, _ContentDecoder] | None:
    if tail[-8:] == TABLE_MAGIC:
        return "rocksdb", _rocksdb_table
    for magic, kind, decode in _DECODERS:
        if head.startswith(magic):
            return kind, decode
    return None


def decode_content(content: bytes, depth: int = _NESTING) -> Iterator[Decoded]:
    """Yield decoded pieces of bytes that may be a container themselves; nothing when they are plain."""
    known = _decoder_of(content[:16], content[-16:])
    if known is None:
        return
    kind, decode = known
    if depth == 0:
        yield NotUnderstood(f"{kind} nested deeper than {_NESTING}")
        return
    yield from _failing_softly(kind, decode(content, depth - 1))


def _failing_softly(kind: str, pieces: Iterator[Decoded]) -> Iterator[Decoded]:
    try:
        yield from pieces
    except (UnreadableLanceFile, UnreadableTable) as refusal:
        yield NotUnderstood(f"{kind}: {refusal}")
    except (pa.ArrowException, OSError, EOFError, ValueError, struct.error, zlib.error, zipfile.BadZipFile) as damage:
        yield NotUnderstood(f"{kind}: damaged or cut short ({type(damage).__name__})")
    except (zstandard.ZstdError, MemoryError, NotImplementedError, RuntimeError) as damage:
        yield NotUnderstood(f"{kind}: not readable ({type(damage).__name__})")


def _is_plain_text(sample: bytes) -> bool:
    return is_text(sample) and b"\x00" not in sample


def _lance(path: Path) -> Iterator[Decoded]:
    for batch in lance_batches(path):
        yield from _columns("lance", batch)
        if "_token_fst_bytes" in batch.schema.names and any(batch.column("_token_fst_bytes").to_pylist()):
            yield NotUnderstood("lance: the token set of a full-text index is a compressed automaton")


def _parquet(source: pa.NativeFile | io.BytesIO) -> Iterator[Decoded]:
    with pq.ParquetFile(source, memory_map=True) as file:
        for batch in file.iter_batches(batch_size=_ROWS_A_BATCH):
            yield from _columns("parquet", batch)


def _parquet_bytes(content: bytes, _depth: int) -> Iterator[Decoded]:
    yield from _parquet(io.BytesIO(content))


def _arrow(content: bytes, _depth: int) -> Iterator[Decoded]:
    is_file = content.startswith(b"ARROW1")
    reader = pa.ipc.open_file(content) if is_file else pa.ipc.open_stream(content)
    batches = (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader
    for batch in batches:
        yield from _columns("arrow", batch)


def _columns(decoder: str, batch: pa.RecordBatch) -> Iterator[Decoded]:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        for field, leaf in leaves(name, column):
            yield Piece(decoder, field, joined(leaf))
            for value in values_that_start_with(leaf, _COMPRESSED):
                yield from _inside(decoder, field, decode_content(value, 1))


def _inside(decoder: str, field: str, pieces: Iterator[Decoded]) -> Iterator[Decoded]:
    for piece in pieces:
        yield Piece(f"{decoder}>{piece.decoder}", field, piece.content) if isinstance(piece, Piece) else piece


def _stream(kind: str, stream: io.BufferedIOBase | zstandard.ZstdDecompressionReader, depth: int) -> Iterator[Decoded]:
    """Yield a decompressed stream in overlapping windows; a container inside is read whole and decoded in turn."""
    window = stream.read(WINDOW)
    known = _decoder_of(window[:16], window[-16:] if len(window) < WINDOW else b"")
    if known is not None:
        content = window + stream.read()
        yield Piece(kind, "", content)
        yield from decode_content(content, depth)
        return
    while window:
        yield Piece(kind, "", window)
        fresh = stream.read(WINDOW)
        window = window[-OVERLAP:] + fresh if fresh else b""


def _gzip(content: bytes, depth: int) -> Iterator[Decoded]:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        yield from _stream("gzip", stream, depth)


def _zstd(content: bytes, depth: int) -> Iterator[Decoded]:
    with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as stream:
        yield from _stream("zstd", stream, depth)


def _lz4_frame(content: bytes, depth: int) -> Iterator[Decoded]:
    with pa.CompressedInputStream(pa.BufferReader(content), "lz4") as stream:
        yield from _stream("lz4", stream, depth)


def _lz4_blocks(content: bytes, depth: int) -> Iterator[Decoded]:
    yield from _stream("lz4", io.BytesIO(b"".join(lz4_java_blocks(content))), depth)


def _snappy_blocks(content: bytes, depth: int) -> Iterator[Decoded]:
    yield from _stream("snappy", io.BytesIO(b"".join(snappy_java_blocks(content))), depth)


def _zip(content: bytes, depth: int) -> Iterator[Decoded]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield Piece("zip", "names", "\0".join(archive.namelist()).encode())
        for number, member in enumerate(archive.infolist()):
            plain = archive.read(member)
            yield Piece("zip", f"member {number}", plain)
            yield from _inside("zip", f"member {number}", decode_content(plain, depth))
            base = Path(member.filename).name
            if base.startswith("MANIFEST-") or base.endswith(".log"):
                yield Piece("zip>rocksdb log", f"member {number}", log_records(plain))


def _rocksdb_table(content: bytes, _depth: int) -> Iterator[Decoded]:
    entries = bytearray()
    for part in table_entries(content):
        entries += part + b"\x00\x00"
        if len(entries) > WINDOW:
            yield Piece("rocksdb", "", bytes(entries))
            entries.clear()
    yield Piece("rocksdb", "", bytes(entries))


def _numpy(content: bytes, _depth: int) -> Iterator[Decoded]:
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.kind == "U":
        yield Piece("numpy", "", "\0".join(array.ravel().tolist()).encode("utf-8", "replace"))
    elif array.dtype.kind == "S":
        yield Piece("numpy", "", b"\0".join(array.ravel().tolist()))


_DECODERS: tuple[tuple[bytes, str, _ContentDecoder], ...] = (
    (b"PAR1", "parquet", _parquet_bytes),
    (b"\x1f\x8b\x08", "gzip", _gzip),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
    (b"\x04\x22\x4d\x18", "lz4", _lz4_frame),
    (LZ4_BLOCK, "lz4", _lz4_blocks),
    (SNAPPY_JAVA, "snappy", _snappy_blocks),
    (b"PK\x03\x04", "zip", _zip),
    (b"ARROW1", "arrow", _arrow),
    (_ARROW_STREAM, "arrow", _arrow),
    (b"\x93NUMPY", "numpy", _numpy),
)
