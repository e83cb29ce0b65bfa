"""Search a folder for values in everything it holds, decoded: the proof that nothing personal is left at rest.

A byte search proves little: of values in a snappy Parquet file it finds next to none. So every file is decoded by its
format, and every decoded string is searched in its escaped and encoded forms as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.privacy.lake_decoders import OVERLAP, WINDOW, NotUnderstood, Piece, decode_file
from pipelines.privacy.needles import Needles
from pipelines.privacy.text_views import views_of

_BYTES_A_LETTER = 12
"""Bytes that one letter takes when it is escaped as JSON inside of JSON, and what stands around it."""
_LEAST_REACH = 1024


@dataclass(frozen=True, slots=True)
class Find:
    """One place of a value: file relative to the folder, how it was decoded (outermost first), column or member."""

    file: str
    decoder: str
    field: str


@dataclass(slots=True)
class ScanReport:
    """What a scan found, by index of the value; it never holds a value, not even as part of a file name."""

    types: list[str]
    found: dict[int, list[Find]] = field(default_factory=dict)
    files: int = 0
    file_bytes: int = 0
    decoded_bytes: int = 0
    not_understood: list[tuple[str, str]] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """No value was found and every file was understood."""
        return not self.found and not self.not_understood

    @property
    def found_by_type(self) -> dict[str, int]:
        """Number of distinct values found, by type."""
        return dict(Counter(self.types[index] for index in self.found))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data for JSON, values told by index and type."""
        places = [
            {"value": index, "type": self.types[index], "file": one.file, "decoder": one.decoder, "field": one.field}
            for index, finds in sorted(self.found.items())
            for one in finds
        ]
        return {
            "values": len(self.types),
            "found": len(self.found),
            "found_by_type": self.found_by_type,
            "files": self.files,
            "file_bytes": self.file_bytes,
            "decoded_bytes": self.decoded_bytes,
            "not_understood": [{"file": name, "reason": reason} for name, reason in self.not_understood],
            "places": places,
        }


def scan(
    folder: Path, values: Iterable[str], *, types: Iterable[str] | None = None, skip: Iterable[str] = ()
) -> ScanReport:
    """Search every file below ``folder`` for each of ``values``, in all encodings that this package knows.

    ``types`` names the type of each value for the report; ``skip`` holds names of folders or files that are left out
    with all below them (none by default). A value needs eight bytes or more, else ``ValueError`` names its index.
    Damaged and unknown files are listed in ``not_understood``: of those only the raw bytes were searched. Symbolic
    links are not followed. A missing folder raises ``FileNotFoundError``.
    """
    wanted = list(values)
    kinds = list(types) if types is not None else ["VALUE"] * len(wanted)
    if len(kinds) != len(wanted):
        raise ValueError(f"one type a value: {len(wanted)} values, {len(kinds)} types")
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder to scan: {folder}")
    reach = max(_LEAST_REACH, _BYTES_A_LETTER * max((len(value.encode()) for value in wanted), default=0))
    search = _Search(Needles(wanted), ScanReport(kinds), reach)
    for path in _files(folder, frozenset(skip)):
        search.file(path, path.relative_to(folder).as_posix())
    return search.report


def _files(folder: Path, skip: frozenset[str]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in skip or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path, skip)
        elif path.is_file():
            yield path


@dataclass(slots=True)
class _Search:
    needles: Needles
    report: ScanReport
    reach: int

    def file(self, path: Path, name: str) -> None:
        shown = self._name_without_values(name)
        self.report.files += 1
        try:
            self.report.file_bytes += path.stat().st_size
            for piece in decode_file(path):
                if isinstance(piece, NotUnderstood):
                    self.report.not_understood.append((shown, piece.reason))
                else:
                    self._look(piece, shown)
        except FileNotFoundError:
            self.report.not_understood.append((shown, "the file went away during the scan"))

    def _name_without_values(self, name: str) -> str:
        hits = self._hits(name.encode("utf-8", "surrogateescape"))
        if not hits:
            return name
        shown = f"file {self.report.files} in path order"
        for index, decoder in hits:
            self._add(index, Find(shown, f"path>{decoder}" if decoder else "path", ""))
        return shown

    def _look(self, piece: Piece, file: str) -> None:
        column = piece.field
        name_hits = self._hits(column.encode())
        if name_hits:
            self._add_all(name_hits, file, f"{piece.decoder} column name", "")
            column = ""
        if piece.decoder != "bytes":
            self.report.decoded_bytes += len(piece.content)
        for start in range(0, len(piece.content), WINDOW):
            window = piece.content[start : start + WINDOW + OVERLAP]
            self._add_all(self._hits(window), file, piece.decoder, column)

    def _hits(self, text: bytes) -> list[tuple[int, str]]:
        views = views_of(text, self.reach)
        return sorted({(index, layers) for layers, view in views for index in self.needles.find(view)})

    def _add_all(self, hits: list[tuple[int, str]], file: str, decoder: str, column: str) -> None:
        for index, layers in hits:
            self._add(index, Find(file, f"{decoder}>{layers}" if layers else decoder, column))

    def _add(self, index: int, find: Find) -> None:
        places = self.report.found.setdefault(index, [])
        if find not in places:
            places.append(find)
