"""A folder of generated log files for ``turnmill load``, with a manifest and the truth about what was planted."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pipelines.synthetic.broken_records import IN_LINES
from pipelines.synthetic.log_records import LogRecord, Mix, Planted, generate
from schemas.records import CONSENT_HEADER, LOGS_TOPIC

MANIFEST = "manifest.json"
PLANTED = "planted.json"
_MADE_BY = "turnmill generate"
_PLAIN_FORMAT = "openai_chat"


class ForeignFolder(Exception):
    """The target folder holds files that this generator did not write."""


@dataclass(slots=True)
class Totals:
    """What was written: records by kind and format, broken ones by reason, planted values by type."""

    conversations: int
    seed: int
    records: dict[str, int] = field(default_factory=dict)
    formats: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    planted: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    bytes: int = 0


def write_logs(
    folder: Path, n_conversations: int, seed: int, *, mix: Mix | None = None, told: Callable[[int], None] | None = None
) -> Totals:
    """Write the logs of ``n_conversations`` talks into ``folder``, equal bytes for equal arguments; return totals.

    Files: ``logs.jsonl`` and ``logs-FORMAT.jsonl.gz`` (no headers), ``logs-consent-WORD.jsonl`` (header
    ``turnmill-consent``), ``feedback.jsonl``, ``broken.jsonl``, ``one-log.json`` and ``one-log.json.gz`` with one entry
    each. ``manifest.json`` lists each file with its topic, headers and number of records; ``planted.json`` holds the
    planted values and the totals. An earlier result of this function is replaced; any other content of the folder
    raises ``ForeignFolder``. ``told`` is called with the number of records so far.
    """
    _empty(folder)
    totals, planted = Totals(n_conversations, seed), list[Planted]()
    counters = {name: Counter[str]() for name in ("records", "formats", "broken", "planted", "kept")}
    with ExitStack() as open_files:
        files = _Files(folder, open_files)
        for record in generate(n_conversations, seed, mix=mix, breakages=IN_LINES):
            files.add(record)
            _count(record, counters)
            planted += record.planted
            totals.bytes += len(record.value)
            if told is not None:
                told(record.number + 1)
    for name, counter in counters.items():
        setattr(totals, name, dict(sorted(counter.items())))
    _write_json(folder / PLANTED, {**asdict(totals), "values": [asdict(one) for one in planted]})
    _write_json(folder / MANIFEST, {"made_by": _MADE_BY, "files": files.manifest()})
    return totals


@dataclass(frozen=True, slots=True)
class LoadGroup:
    """Files that one ``turnmill load`` can send: same topic, same headers."""

    topic: str
    headers: dict[str, str]
    files: tuple[Path, ...]


def load_groups(folder: Path) -> list[LoadGroup]:
    """Return the files of a folder that ``write_logs`` made, grouped as they can be sent; chats before feedback."""
    groups: dict[tuple[str, str], LoadGroup] = {}
    for entry in json.loads((folder / MANIFEST).read_bytes())["files"]:
        key = (entry["topic"], json.dumps(entry["headers"], sort_keys=True))
        before = groups[key].files if key in groups else ()
        groups[key] = LoadGroup(entry["topic"], entry["headers"], (*before, folder / entry["file"]))
    return sorted(groups.values(), key=lambda group: (group.topic != LOGS_TOPIC, sorted(group.headers.items())))


def read_planted(folder: Path) -> list[Planted]:
    """Return the planted values of a folder that ``write_logs`` made; FileNotFoundError when there is none."""
    return [Planted(**one) for one in json.loads((folder / PLANTED).read_bytes())["values"]]


def _count(record: LogRecord, counters: dict[str, Counter[str]]) -> None:
    counters["records"][record.kind] += 1
    if record.reason is None:
        counters["formats"][record.format] += 1
    else:
        counters["broken"][str(record.reason)] += 1
    counters["planted"].update(one.type for one in record.planted)
    counters["kept"].update(one.type for one in record.planted if one.kept)


class _Files:
    """Sorts records into files, each of one topic and one set of headers."""

    def __init__(self, folder: Path, open_files: ExitStack) -> None:
        self._folder = folder
        self._open_files = open_files
        self._files: dict[str, tuple[BinaryIO, dict[str, Any]]] = {}

    def add(self, record: LogRecord) -> None:
        name = self._file_of(record)
        if name not in self._files:
            entry: dict[str, Any] = {"file": name, "topic": record.topic, "headers": record.headers, "records": 0}
            self._files[name] = (self._opened(name), entry)
        file, entry = self._files[name]
        entry["records"] += 1
        file.write(record.value if name.startswith("one-log") else record.value + b"\n")

    def manifest(self) -> list[dict[str, Any]]:
        return [entry for _, entry in self._files.values()]

    def _file_of(self, record: LogRecord) -> str:
        if record.kind == "broken":
            return "broken.jsonl"
        if consent := record.headers.get(CONSENT_HEADER):
            return f"{'feedback' if record.kind == 'feedback' else 'logs'}-consent-{consent}.jsonl"
        if record.kind == "feedback":
            return "feedback.jsonl"
        if record.format == "sharegpt":
            fresh = next((name for name in ("one-log.json", "one-log.json.gz") if name not in self._files), None)
            if fresh:
                return fresh
        return "logs.jsonl" if record.format == _PLAIN_FORMAT else f"logs-{record.format}.jsonl.gz"

    def _opened(self, name: str) -> BinaryIO:
        file: BinaryIO = self._open_files.enter_context((self._folder / name).open("wb"))
        if not name.endswith(".gz"):
            return file
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=zlib.Z_BEST_SPEED)
        return self._open_files.enter_context(packed)  # type: ignore[return-value]


def _empty(folder: Path) -> None:
    """Make the folder, or remove what an earlier run wrote into it."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in folder.iterdir()}
    if not there:
        return
    own = set(_own_files(folder)) | {MANIFEST, PLANTED}
    if MANIFEST not in there or there - own:
        raise ForeignFolder(f"wanted an empty folder, found {len(there)} other files in {folder.name}; choose another")
    for name in there:
        (folder / name).unlink()


def _own_files(folder: Path) -> Iterator[str]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        if manifest["made_by"] == _MADE_BY:
            yield from (entry["file"] for entry in manifest["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
