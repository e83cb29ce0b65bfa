"""Benchmark files of the user -> items: JSON, JSON lines, CSV, TSV, text and Parquet, compressed or not."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import zstandard

from pipelines.adapters.json_slices import TooLong
from pipelines.adapters.log_files import log_entries
from pipelines.decontamination.items import BenchmarkError, BenchmarkItem, FieldNames, items_of, records_in
from pipelines.decontamination.known_benchmarks import KnownBenchmark, known_by_content

FILE_KINDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet")
COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class BenchmarkFile:
    """What was read: the items, and what says which version of the benchmark they are."""

    name: str
    path: Path
    sha256: str
    n_records: int
    items: tuple[BenchmarkItem, ...]
    known: KnownBenchmark | None


def find_benchmark_files(places: Iterable[Path]) -> list[Path]:
    """Return the files among ``places`` and, of folders, those inside whose names end as one of ``FILE_KINDS``.

    Raises ``BenchmarkError`` where a place is not there or a folder has no such file.
    """
    found: list[Path] = []
    for place in places:
        inside = sorted(p for p in place.rglob("*") if p.is_file() and _kind(p) in FILE_KINDS) if place.is_dir() else []
        if not place.is_file() and not inside:
            raise BenchmarkError(f"{place}: wanted a benchmark file ({', '.join(FILE_KINDS)}) or a folder of them")
        found.extend(inside or [place])
    return list(dict.fromkeys(found))


def read_benchmark(path: Path, name: str | None = None, names: FieldNames = FieldNames()) -> BenchmarkFile:  # noqa: B008
    """Read all items of a file; without ``name`` it is the known benchmark with this content, or called as the file is.

    JSON may be an array, lines, or an object around an array. CSV and TSV have a line with the names of their columns.
    A text file holds one prompt a line or, where it has blank lines, one a paragraph. Raises ``BenchmarkError``.
    """
    sha256 = _content_sha256(path)
    known = known_by_content(sha256)
    name = name or (known.name if known else path.name.split(".")[0])
    records = list(_records(path))
    if not records:
        raise BenchmarkError(f"{path}: wanted records of a benchmark, found none")
    items = tuple(item for n, record in enumerate(records, 1) for item in items_of(record, name, n, names))
    return BenchmarkFile(name, path, sha256, len(records), items, known)


def _kind(path: Path) -> str:
    suffixes = [one.lower() for one in path.suffixes if one.lower() not in COMPRESSED]
    return suffixes[-1] if suffixes else ""


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    kind = _kind(path)
    if kind in (".csv", ".tsv"):
        yield from csv.DictReader(io.StringIO(_text(path), newline=""), delimiter="\t" if kind == ".tsv" else ",")
    elif kind == ".txt":
        yield from ({"prompt": one} for one in _paragraphs(_text(path)))
    else:
        for number, entry in enumerate(log_entries(path), 1):
            yield from records_in(_value(entry, path, number))


def _value(entry: bytes | TooLong, path: Path, number: int) -> Any:
    if isinstance(entry, TooLong):
        raise BenchmarkError(f"{path}, record {number}: found {entry.size} bytes, more than a record may have")
    try:
        return orjson.loads(entry)
    except orjson.JSONDecodeError:
        raise BenchmarkError(f"{path}, record {number}: wanted JSON, found something else") from None


def _paragraphs(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    has_blank = any(not line.strip() for line in lines)
    parts = "\n".join(line.rstrip() for line in lines).split("\n\n") if has_blank else lines
    return [part.strip("\n") for part in parts if part.strip()]


def _bytes(path: Path) -> bytes:
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        return gzip.decompress(content)
    if content[:4] == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read()
    return content


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{path}: wanted UTF-8, found another encoding at byte {error.start}") from None


def _content_sha256(path: Path) -> str:
    try:
        return hashlib.sha256(_bytes(path)).hexdigest()
    except OSError as error:
        raise BenchmarkError(f"{path}: wanted a readable file, found: {type(error).__name__}") from None
