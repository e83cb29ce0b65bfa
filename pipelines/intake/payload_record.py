"""A Kafka record as one payload: what a dead letter keeps under encryption, so that a replay sends it unchanged."""

from __future__ import annotations

import base64

import orjson

from pipelines.intake.items import Headers


def pack_record(value: bytes, headers: Headers) -> bytes:
    """Put headers and value of a record into one payload: a JSON line of base64 headers, then the value's bytes."""
    packed = {name: base64.b64encode(content).decode() for name, content in headers.items()}
    return orjson.dumps(packed) + b"\n" + value


def unpack_record(payload: bytes) -> tuple[bytes, dict[str, bytes]]:
    """Undo ``pack_record``."""
    head, _, value = payload.partition(b"\n")
    return value, {name: base64.b64decode(content) for name, content in orjson.loads(head).items()}
