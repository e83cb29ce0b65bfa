"""Records per second of parsing and identity on one core, by log format, and their ratio to JSON parsing alone.

    uv run python tests/benchmarks/parse.py [--records 4000] [--repeats 7] [--format NAME …]

Each record is one sample of the format with one of its texts grown until the record has about 1 KB; all texts differ.
Both loops read the same bytes in the same process in turns, and a figure is the median of the repeats. ``mixed`` takes
OpenAI, OpenTelemetry and ShareGPT in turns. Prints one JSON object; compare ratios, since rates depend on the machine.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from pipelines.intake.formats import matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Turn
from pipelines.intake.parse import parse_record

SAMPLES = Path(__file__).resolve().parents[1] / "faults" / "intake_seeds.jsonl"
RECORD_BYTES = 1_000
MIXED = ("openai_chat", "otel_genai", "sharegpt")
SENTENCE = (
    "please explain how the billing export works when a project has many owners and the report must be split by month "
    "since our finance team reads it on the first day and asks why some rows are missing or show another currency"
)
WORDS = SENTENCE.split()
PLAIN = {
    "openai_chat": {"messages": [{"role": "user", "content": "hi"}], "conversation_id": "c-1", "user": "u-1"},
    "sharegpt": {"id": "x_0", "conversations": [{"from": "human", "value": "hi"}]},
    "otel_genai": {
        "span_id": "s",
        "attributes": {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]},
    },
}
"""One turn a record: what the budget of the ingest is told by."""

Path_ = tuple[Any, ...]


def samples() -> dict[str, dict[str, Any]]:
    """Return one sample a format that holds turns, and the plain ones under ``NAME (1 turn)``."""
    found = {f"{name} (1 turn)": entry for name, entry in PLAIN.items()}
    for line in SAMPLES.read_text().splitlines():
        entry = json.loads(line)
        for log_format in matching_formats(entry):
            if turns_of(entry):
                found.setdefault(log_format.NAME, entry)
    return found


def turns_of(entry: dict[str, Any]) -> list[str]:
    """Return the texts of the turns that an entry gives."""
    items = parse_record(orjson.dumps(entry), {}, IdentityKey(bytes(32)))
    return [item.message.text for item in items if isinstance(item, Turn)]


def strings(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Yield the places of all strings in a JSON value."""
    if isinstance(value, str):
        yield at
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from strings(inner, (*at, key))


def at_place(entry: dict[str, Any], at: Path_) -> str:
    """Return the string at a place."""
    value: Any = entry
    for key in at:
        value = value[key]
    return value


def with_text(entry: dict[str, Any], at: Path_, old: str, new: str) -> dict[str, Any]:
    """Return a copy whose string at a place has ``new`` for the last ``old``; it may be JSON or a log line itself."""
    changed = copy.deepcopy(entry)
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = new.join(holder[at[-1]].rsplit(old, 1))
    return changed


def text_place(entry: dict[str, Any]) -> tuple[Path_, str]:
    """Return the place of a string that holds the text of a turn, and that text."""
    texts = turns_of(entry)
    grown = "grown text of a turn"
    for at in strings(entry):
        for old in filter(None, texts):
            if old in at_place(entry, at):
                after = turns_of(with_text(entry, at, old, grown))
                if len(after) == len(texts) and grown in after:
                    return at, old
    raise ValueError("no text of a turn can be grown")


def records(entry: dict[str, Any], n: int, seed: int = 1) -> list[bytes]:
    """Return ``n`` records made of the sample."""
    choice = random.Random(seed)
    at, old = text_place(entry)
    room = max(RECORD_BYTES - len(orjson.dumps(entry)), 60)
    made = []
    for number in range(n):
        text = " ".join(choice.choices(WORDS, k=room // 5))[: room - 8]
        made.append(orjson.dumps(with_text(entry, at, old, f"{text} {number}")))
    return made


def rates(values: list[bytes], repeats: int) -> dict[str, float]:
    """Return records a second of both loops, the ratio of their times, and microseconds a record and turn."""
    identity = IdentityKey(bytes(range(32)))
    turns = sum(len(parse_record(value, {}, identity)) for value in values)
    parsing, loading, ratio = [], [], []
    for _ in range(repeats):
        loading.append(seconds(orjson.loads, values))
        parsing.append(seconds(lambda value: parse_record(value, {}, identity), values))
        ratio.append(parsing[-1] / loading[-1])
    taken = statistics.median(parsing)
    return {
        "records_per_second": round(len(values) / taken),
        "microseconds_per_record": round(1e6 * taken / len(values), 2),
        "microseconds_per_item": round(1e6 * taken / turns, 2),
        "times_orjson": round(statistics.median(ratio), 1),
        "bytes": round(statistics.mean(map(len, values))),
        "items_per_record": round(turns / len(values), 2),
    }


def seconds(function: Callable[[bytes], Any], values: list[bytes]) -> float:
    """Return the processor time of one pass: what other processes take does not count."""
    gc.collect()
    started = time.process_time()
    for value in values:
        function(value)
    return time.process_time() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=4_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--format", action="append", help="only these names")
    options = parser.parse_args()
    found = {name: entry for name, entry in samples().items() if not options.format or name in options.format}
    figures = {name: rates(records(entry, options.records), options.repeats) for name, entry in found.items()}
    if not options.format:
        for kind, names in (("mixed", MIXED), ("mixed (1 turn)", tuple(f"{name} (1 turn)" for name in MIXED))):
            parts = [records(found[name], options.records // len(names)) for name in names]
            figures[kind] = rates([value for group in zip(*parts, strict=True) for value in group], options.repeats)
    print(json.dumps({"records": options.records, "repeats": options.repeats, "formats": figures}))


if __name__ == "__main__":
    main()
