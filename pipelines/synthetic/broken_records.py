"""Broken records: each kind of breakage with the reason that it must be dead-lettered for."""

from __future__ import annotations

from random import Random

import orjson

from schemas.records import DeadReason

BREAKAGES: dict[str, DeadReason] = {
    "cut_json": DeadReason.BAD_JSON,
    "not_json": DeadReason.BAD_JSON,
    "bad_utf8": DeadReason.BAD_UTF8,
    "empty_value": DeadReason.EMPTY_VALUE,
    "unknown_format": DeadReason.UNKNOWN_FORMAT,
    "not_an_object": DeadReason.NOT_AN_OBJECT,
}
"""Ways to break a record, by name."""

IN_LINES = tuple(name for name in BREAKAGES if name != "empty_value")
"""Breakages that a line of a file can carry; an empty line is no record."""


def broken_value(breakage: str, sound: bytes, random: Random) -> bytes:
    """Break the JSON bytes of a sound log entry in the named way; the result never holds a line end."""
    text = sound.decode()
    match breakage:
        case "cut_json":
            return sound[: len(sound) * random.randrange(50, 95) // 100].rstrip(b"\\") or b"{"
        case "not_json":
            return f"ERROR upstream sent: {text}".encode()
        case "bad_utf8":
            place = sound.index(b'":"') + 3 if b'":"' in sound else len(sound) // 2
            return sound[:place] + b"\xff\xfe\xfa" + sound[place:]
        case "empty_value":
            return b""
        case "unknown_format":
            return orjson.dumps({"evt": "page_view", "page": "/help", "debug": text[:400]})
        case "not_an_object":
            return orjson.dumps(f"chat: {text[:400]}")
    raise ValueError(f"wanted one of {', '.join(BREAKAGES)}, found {breakage}")
