"""Read log files of any of the usual kinds as log entries: JSON, JSON lines, either of them compressed, Parquet."""

from __future__ import annotations

import base64
import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson
import zstandard

from pipelines.adapters.json_slices import TooLong, lines_of, values_of
from schemas.records import TOPIC_MESSAGE_BYTES

Entry = bytes | TooLong
"""The bytes of one log entry, or the mark that stands for one that is too long to be sent."""

SENDABLE_BYTES = TOPIC_MESSAGE_BYTES - 64 * 1024
"""What a topic of ours takes, less room for headers and framing."""

PARQUET_ROWS = 64
"""Rows of Parquet held at once; one chat row may hold megabytes."""

_HEAD_BYTES = 1 << 20
_SAMPLE_LINES = 20
_UTF8_MARK = b"\xef\xbb\xbf"


class LogFileError(RuntimeError):
    """A file cannot be read as a log; the message names the file, never its content."""

    safe_to_show = True


def log_entries(path: Path, on_bytes: Callable[[int], None] | None = None) -> Iterator[Entry]:
    """Yield the entries of a log file in their order, each as the bytes that stand in the file.

    The kind is told by content: gzip, zstd and Parquet by their first bytes; JSON lines by a first line that is a
    whole value with more after it, or by the name (.jsonl, .ndjson); all else is one JSON text, whose top-level
    values, or whose elements if it is an array, are the entries. A line or element that is no JSON is an entry too.
    A row of Parquet becomes a JSON object of its columns. Memory does not grow with the file.
    ``on_bytes`` is called with the bytes of the file (as stored) read so far. Errors: ``LogFileError``.
    """
    told = on_bytes or (lambda _: None)
    try:
        with path.open("rb") as raw:
            if raw.peek(4)[:4] == b"PAR1":
                yield from _parquet_rows(path, told)
                return
            stream = _decompressed(raw)
            for entry in _entries_of(stream, path):
                told(raw.tell())
                yield entry
            told(raw.tell())
    except (OSError, EOFError, zstandard.ZstdError) as failure:
        raise LogFileError(f"{path} cannot be read to its end ({type(failure).__name__}).") from failure


def _decompressed(raw: io.BufferedReader) -> BinaryIO:
    magic = raw.peek(4)[:4]
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if magic == b"\x28\xb5\x2f\xfd":
        return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return raw


def _entries_of(stream: BinaryIO, path: Path) -> Iterator[Entry]:
    head = _read_fully(stream, _HEAD_BYTES)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise LogFileError(f"{path} is UTF-16; logs are UTF-8: convert it first (iconv -f UTF-16 -t UTF-8).")
    text = cast(BinaryIO, _Joined(head.removeprefix(_UTF8_MARK), stream))
    names = [suffix.lower() for suffix in path.suffixes[-2:]]
    lines = ".jsonl" in names or ".ndjson" in names or _is_lines(head.removeprefix(_UTF8_MARK))
    yield from lines_of(text, SENDABLE_BYTES) if lines else values_of(text, SENDABLE_BYTES)


def _is_lines(head: bytes) -> bool:
    """Tell JSON lines from one JSON text by the first lines.

    In one JSON text a line that begins at the margin with an object and holds all of it is rare; among JSON lines
    it is the rule, even where the first line is cut short.
    """
    lines = head.lstrip().split(b"\n", _SAMPLE_LINES)
    if _is_json(lines[0]):
        return any(line.strip() for line in lines[1:])
    if lines[0][:1] == b"[":
        return False
    return lines[0][:1] != b"{" or any(line[:1] == b"{" and _is_json(line) for line in lines[1:_SAMPLE_LINES])


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _read_fully(stream: BinaryIO, size: int) -> bytes:
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _Joined:
    """A stream whose first bytes have been read already."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self.head, self.rest = head, rest

    def read(self, size: int) -> bytes:
        if self.head:
            part, self.head = self.head[:size], self.head[size:]
            return part
        return self.rest.read(size)


def _parquet_rows(path: Path, on_bytes: Callable[[int], None]) -> Iterator[Entry]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            total, size, done = max(file.metadata.num_rows, 1), path.stat().st_size, 0
            for batch in file.iter_batches(PARQUET_ROWS):
                for row in batch.to_pylist(maps_as_pydicts="lossy"):
                    value = orjson.dumps(row, default=_as_json, option=orjson.OPT_NON_STR_KEYS)
                    yield value if len(value) <= SENDABLE_BYTES else TooLong(len(value))
                done += batch.num_rows
                on_bytes(size * done // total)
    except (pyarrow.ArrowException, orjson.JSONEncodeError, UnicodeDecodeError) as failure:
        raise LogFileError(f"{path} cannot be read as Parquet ({type(failure).__name__}).") from failure


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    return str(value)
