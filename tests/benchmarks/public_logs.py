"""Render public conversation sets into log files that ``turnmill load`` sends, with a manifest of them.

    uv run python tests/benchmarks/public_logs.py --out DIR [--data DIR] [--table]

Every record of every set is rendered, none is cut or cleaned. Sets that are logs already (Open Assistant trees,
ShareGPT) are copied byte by byte; the others become OpenAI chat logs, their ratings records of ``turnmill.feedback``.
``DIR/manifest.json`` has the form that ``pipelines.synthetic.log_files.load_groups`` reads. Prints one line of JSON:
source records, log records, feedback records and bytes of each set, what intake makes of them, and which sets are
incomplete (exit code 1). ``--table`` prints what intake makes of them as a Markdown table instead.

Some of the sets are harmful by design; look at figures, not at texts. A rendering of Schema-Guided Dialogue that is
handed on carries its licence, CC BY-SA 4.0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
from public_outcomes import Outcome, outcome_of, table, total_of
from public_sets import DATASETS, DataMissing, Dataset, Object

from pipelines.adapters.log_files import log_entries
from pipelines.synthetic.log_files import MANIFEST
from schemas.records import FEEDBACK_TOPIC, LOGS_TOPIC

DEFAULT_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "conversations"
MADE_BY = "tests/benchmarks/public_logs.py"


@dataclass(frozen=True, slots=True)
class Counts:
    """Records of one set: in the source, in its log file and in its feedback file; bytes of both files."""

    source: int
    records: int
    feedback: int
    bytes: int


def render_all(data: Path, out: Path) -> dict[str, Counts]:
    """Write the logs, the feedback and the manifest of all sets into ``out``; return the counts of each set.

    ``out`` may be missing, empty, or hold an earlier result, which is replaced. Equal data gives equal bytes. Records
    are counted in the written files, by the reader that ``turnmill load`` uses. Errors: DataMissing before anything is
    written, and FileExistsError for an ``out`` with other files.
    """
    contents = {dataset.name: _contents(dataset, data) for dataset in DATASETS}
    _make_room(out)
    counts, entries = dict[str, Counts](), list[Object]()
    for name, (n_source, files) in contents.items():
        records = {LOGS_TOPIC: 0, FEEDBACK_TOPIC: 0}
        for file, topic, content in files:
            (out / file).write_bytes(content)
            records[topic] = sum(1 for _ in log_entries(out / file))
            entries.append({"file": file, "topic": topic, "headers": {}, "records": records[topic]})
        size = sum(len(content) for *_, content in files)
        counts[name] = Counts(n_source, records[LOGS_TOPIC], records[FEEDBACK_TOPIC], size)
    manifest = {"made_by": MADE_BY, "files": entries}
    (out / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return counts


def _contents(dataset: Dataset, data: Path) -> tuple[int, list[tuple[str, str, bytes]]]:
    """Return the number of source records of a set, and name, topic and content of each of its files."""
    source = dataset.read(data)
    if dataset.render is None:
        file = f"{dataset.name}{Path(dataset.copied).suffix}"
        return len(source), [(file, LOGS_TOPIC, (data / dataset.copied).read_bytes())]
    rendered = [dataset.render(record) for record in source]
    logs = [log for one in rendered for log in one.logs]
    ratings = [rating for one in rendered for rating in one.feedback]
    files = [(f"{dataset.name}.jsonl", LOGS_TOPIC, _lines(logs))]
    if ratings:
        files.append((f"{dataset.name}-feedback.jsonl", FEEDBACK_TOPIC, _lines(ratings)))
    return len(source), files


def _lines(entries: list[Object]) -> bytes:
    return b"".join(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries)


def _make_room(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in out.iterdir()}
    if others := there - (_own_files(out / MANIFEST) if MANIFEST in there else set()):
        raise FileExistsError(f"wanted an empty folder, found {len(others)} other files in {out.name}; choose another")
    for name in there:
        (out / name).unlink()


def _own_files(manifest: Path) -> set[str]:
    try:
        content = orjson.loads(manifest.read_bytes())
        own = {entry["file"] for entry in content["files"]} if content["made_by"] == MADE_BY else set()
    except (ValueError, KeyError, TypeError):
        return set()
    return {MANIFEST, *own} if own else set()


def main() -> int:
    """Render all sets and print their counts as one line of JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the log files; empty or an earlier result")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with oasst, sgd, …")
    parser.add_argument("--table", action="store_true", help="print what intake makes of the logs as a Markdown table")
    flags = parser.parse_args()
    try:
        counts = {name: asdict(one) for name, one in render_all(flags.data, flags.out).items()}
    except (DataMissing, FileExistsError) as failure:
        print(failure, file=sys.stderr)
        return 1
    total = {key: sum(one[key] for one in counts.values()) for key in Counts.__slots__}
    outcomes = outcomes_of(flags.out, counts)
    short = [
        one.name
        for one in DATASETS
        if counts[one.name]["records"] != counts[one.name]["source"] * one.logs_each or outcomes[one.name].unaccounted
    ]
    if flags.table:
        print(table(outcomes))
    else:
        intake = {name: asdict(one) for name, one in outcomes.items()}
        intake["total"] = asdict(total_of(list(outcomes.values())))
        print(orjson.dumps({"datasets": counts, "total": total, "intake": intake, "incomplete": short}).decode())
    return 1 if short else 0


def outcomes_of(out: Path, names: Iterable[str]) -> dict[str, Outcome]:
    """Return what intake makes of each set's files in ``out``: its logs, then its feedback."""
    files = [out / entry["file"] for entry in orjson.loads((out / MANIFEST).read_bytes())["files"]]
    return {name: outcome_of(file for file in files if file.stem.removesuffix("-feedback") == name) for name in names}


if __name__ == "__main__":
    sys.exit(main())
