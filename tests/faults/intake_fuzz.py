"""Search for bytes that intake does not survive.

    uv run python tests/faults/intake_fuzz.py --seconds 60 [--corpus DIR]

Inputs are raw bytes and samples of all formats changed in their structure. Any exception, any ``internal_error``, and
any item that breaks a promise of ``parse_record`` ends the search with the stack trace and the input. It is guided by
coverage (atheris); ``search`` does the same at random.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import copy
import gzip
import json
import random
import struct
import sys
from pathlib import Path

import orjson
import zstandard

SEEDS = Path(__file__).resolve().parents[1] / "unit" / "log_examples.jsonl"
HEADERS = (
    {},
    {"turnmill-tenant": b"acme", "turnmill-user": b"anna@example.com", "turnmill-consent": b"analytics"},
    {"turnmill-conversation": b"c-1", "turnmill-stream": b"shop"},
    {"turnmill-tenant": b"\xff"},
    {"turnmill-consent": b"perhaps"},
    {"__value_schema_id": b"\0\0\0\0\2"},
    {"content-type": b"application/cloudevents+json"},
)
TEXTS = (
    b"<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n",
    b"INFO 01-01 00:00:00 [logger.py:39] Received request chatcmpl-1: prompt: 'say \\'hi\\'', params: None",
    b"data: [DONE]\n\n",
    b"event: message\ndata: {\ndata: }\n\n: comment\r\nid: 1\r\ndata: [DONE]\r\n\r\n",
)
"""Records that are no JSON; the first must be named by a header."""

ODD_VALUES = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1e300,
        -0.0,
        2**63,
        2**64,
        10**400,
        "",
        " ",
        "\0",
        "\ud800",
        "\udfff\ud800",
        "\u2028",
        "\x85",
    ),
    *(
        "é",
        "e\u0301",
        "null",
        "[]",
        "{}",
        "[{",
        '{"a":',
        "[" * 2000,
        "data:,x",
        "data:image/png;base64,%%%",
        "2026-01-01",
    ),
    *("user", "assistant", "system", "tool", "x" * 5000, [], {}, [[]], [None], {"": None}, {"type": "text"}, [{}] * 50),
)
AVRO_SCHEMA = {
    "type": "record",
    "name": "Chat",
    "fields": [
        {"name": "user", "type": ["null", "string"]},
        {"name": "messages", "type": {"type": "array", "items": {"type": "map", "values": "string"}}},
        {"name": "reply", "type": ["null", "Chat"]},
    ],
}


def seeds():
    """Return one log entry or more of every format that tells itself, pieces of streams, and envelopes."""
    rows = [json.loads(line) for line in SEEDS.read_bytes().split(b"\n") if line]
    return [row["entry"] for row in rows if row["format"] != "chatml"]


class Checker:
    """Reads one input as intake does and raises on anything but items or a typed reason."""

    def __init__(self):
        from jobs.pipe_parse import row_of
        from pipelines.intake.formats import FORMATS
        from pipelines.intake.identity import IdentityKey
        from pipelines.intake.items import Fragment
        from pipelines.intake.parse import parse_record
        from pipelines.intake.writer_schemas import WriterSchema

        self.row_of, self.parse_record, self.fragment = row_of, parse_record, Fragment
        self.identity = IdentityKey(bytes(range(32)))
        kinds = {
            1: WriterSchema("JSON", "{}"),
            2: WriterSchema("AVRO", json.dumps(AVRO_SCHEMA)),
            3: WriterSchema("PROTOBUF", ""),
        }
        self.schema = kinds.get
        formats = [{"turnmill-format": log_format.NAME.encode()} for log_format in FORMATS]
        self.headers = (*HEADERS, *formats)

    def __call__(self, data: bytes) -> None:
        """Check the input: its first byte chooses the headers, the rest is the value."""
        if not data:
            return
        value, headers = data[1:], self.headers[data[0] % len(self.headers)]
        items = self.parse_record(value, headers, self.identity, schemas=self)
        places = [(item.entry, item.position) for item in items]
        assert places, "no item"
        assert len(set(places)) == len(places), "two items in one place"
        for item in items:
            if isinstance(item, self.fragment):
                continue
            row = self.row_of(item, 1)
            orjson.dumps(row)
            if row.get("rejected") == "internal_error":
                self.read_again(value, headers)
                raise AssertionError(f"internal_error: {row['detail']}")
            assert len(row.get("detail") or "") < 600, "a detail of no bound"
            assert "\0" not in (row.get("text") or "")

    def read_again(self, value: bytes, headers) -> None:
        """Read without the net, so that the stack trace shows where the fault is."""
        from pipelines.intake.decode import decode_entries
        from pipelines.intake.formats import matching_formats
        from pipelines.intake.shape import BadShape
        from pipelines.intake.wire_forms import unwrap

        for entry in decode_entries(unwrap(value, headers, schemas=self).value):
            if isinstance(entry.value, dict):
                for log_format in matching_formats(entry.value):
                    try:
                        log_format.read(entry.value)
                    except BadShape:
                        continue


class Mutator:
    """Changes samples in their structure: values, names and places, and then how they are wrapped."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.seeds = seeds()
        self.names = sorted({name for seed in self.seeds for name in names_of(seed)})

    def input(self) -> bytes:
        """Return a new input, changed in a few places."""
        headers = bytes([self.chance.randrange(256) if self.chance.random() < 0.3 else 0])
        while True:
            # Deep values put into one another can grow deeper than Python copies or writes; intake's own guard is met
            # well before that.
            with contextlib.suppress(RecursionError):
                return headers + self.wrapped(self.entry())

    def entry(self):
        """Return a sample with some changes."""
        entry = copy.deepcopy(self.chance.choice(self.seeds))
        for _ in range(self.chance.choice((0, 1, 1, 2, 3, 6))):
            self.change(entry)
        return entry

    def change(self, entry) -> None:
        """Change one place of the entry."""
        holders = [holder for holder in holders_of(entry) if holder]
        if not holders:
            return
        holder = self.chance.choice(holders)
        at = self.chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        kind = self.chance.randrange(7)
        if kind == 0:
            del holder[at]
        elif kind == 1:
            holder[at] = self.other_value()
        elif kind == 2:
            holder[at] = copy.deepcopy(self.chance.choice(list(holders_of(self.chance.choice(self.seeds)))))
        elif kind == 3:
            holder[at] = json.dumps(holder[at])
        elif kind == 4 and isinstance(holder, dict):
            holder[self.chance.choice(self.names)] = copy.deepcopy(holder[at])
        elif kind == 5 and isinstance(holder, dict):
            holder[self.chance.choice(self.names)] = self.other_value()
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[at]))
        else:
            holder[at] = [holder[at]]

    def other_value(self):
        """Return an odd value, sometimes a deep one."""
        if self.chance.random() < 0.05:
            deep = None
            for _ in range(self.chance.choice((70, 300))):
                deep = [deep] if self.chance.random() < 0.5 else {"a": deep}
            return deep
        return copy.deepcopy(self.chance.choice(ODD_VALUES))

    def wrapped(self, entry) -> bytes:
        """Return the bytes of an entry, alone or with others, plain or in a wire form, sometimes damaged."""
        kind = self.chance.randrange(12)
        if kind == 3:
            value = self.chance.choice(TEXTS) * self.chance.randrange(1, 4)
        elif kind == 0:
            value = json.dumps([entry, self.entry()]).encode()
        elif kind == 1:
            value = b"\n".join(json.dumps(one).encode() for one in (entry, self.entry(), 7))
        elif kind == 2:
            value = (
                b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (entry, self.entry()))
                + b"data: [DONE]\n\n"
            )
        else:
            value = json.dumps(entry, ensure_ascii=self.chance.random() < 0.8).encode("utf-8", "surrogatepass")
        for _ in range(self.chance.choice((0, 0, 0, 1, 2))):
            value = self.in_wire_form(value)
        if self.chance.random() < 0.15 and value:
            place = self.chance.randrange(len(value))
            value = value[:place] + self.chance.choice((b"", b"\0", b"\xff", b"}", b'"', b"\n")) + value[place + 1 :]
        return value

    def in_wire_form(self, value: bytes) -> bytes:
        """Wrap the bytes once."""
        kind = self.chance.randrange(6)
        if kind == 0:
            return gzip.compress(value, 1)
        if kind == 1:
            return zstandard.compress(value)
        if kind == 2:
            return b"\0" + struct.pack(">I", self.chance.randrange(5)) + value
        if kind == 3:
            return b"\xef\xbb\xbf" + value
        event = {"specversion": "1.0", "type": "t", "source": "/s", "data_base64": base64.b64encode(value).decode()}
        return json.dumps(event).encode() if kind == 4 else self.chance.choice((b" ", b"\n", b"")) + value


def names_of(value):
    """Yield every field name in a JSON value."""
    for holder in holders_of(value):
        if isinstance(holder, dict):
            yield from holder


def holders_of(value):
    """Yield every object and list in a JSON value, itself first."""
    if isinstance(value, (dict, list)):
        yield value
        for inner in list(value.values()) if isinstance(value, dict) else list(value):
            yield from holders_of(inner)


def search(tries: int, seed: int) -> None:
    """Check ``tries`` inputs that follow from ``seed``; raises what the first bad one leads to, with its number."""
    chance = random.Random(seed)
    check, mutator = Checker(), Mutator(chance)
    for number in range(tries):
        data = mutator.input() if chance.random() < 0.95 else chance.randbytes(chance.randrange(1, 60))
        try:
            check(data)
        except Exception as fault:
            raise AssertionError(f"input {number} of seed {seed}: {data[:2000]!r}") from fault


def main() -> None:
    """Search under atheris until the time is over."""
    import atheris

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the search; 0 takes a new one each time")
    parser.add_argument("--corpus", type=Path, required=True, help="folder that inputs are read from and added to")
    options = parser.parse_args()
    with atheris.instrument_imports(include=["pipelines.intake"], enable_loader_override=False):
        check = Checker()
    options.corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        (options.corpus / f"seed-{number:03d}").write_bytes(b"\0" + json.dumps(seed).encode())

    mutator = Mutator(random.Random())

    def mutated(data, max_size, seed):
        mutator.chance.seed(seed)
        if mutator.chance.random() < 0.5:
            return atheris.Mutate(data, max_size)
        return mutator.input()[:max_size]

    arguments = [sys.argv[0], str(options.corpus), f"-artifact_prefix={options.corpus.parent}/", "-max_len=65536"]
    arguments += [
        f"-max_total_time={options.seconds}",
        "-timeout=30",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        f"-seed={options.seed}",
    ]
    atheris.Setup(arguments, check, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
