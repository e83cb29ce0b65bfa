"""What a log is wrapped in on its way through Kafka: compression, schema-registry framing, CloudEvents."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.intake.cloud_events import event_data, may_be_event
from pipelines.intake.compression import DECOMPRESSORS
from pipelines.intake.decode import Undecodable
from pipelines.intake.writer_schemas import AVRO, JSON_SCHEMA, PROTOBUF, SchemaKey, SchemaSource
from schemas.records import MAX_RECORD_BYTES, DeadReason

SCHEMA_HEADER = "__value_schema_id"
"""Header in which producers name the schema, so that the value is the bare payload (confluent-kafka 2.8 and later,
``header_schema_id_serializer``)."""

MAX_LAYERS = 4
"""Wrappings that are taken off: compressed by the caller, a CloudEvent, framed, compressed by a proxy is the worst that
is plausible; each layer may cost a whole record of memory."""

_JSON_STARTS = (b"{", b"[")

ID_MAGIC = 0
GUID_MAGIC = 1
_ID_FRAME = 5
_GUID_FRAME = 17
_JSON_BEGINS = (b"{", b"[")
_TOLD_IDS = 1 << 24
"""Ids below this are told in a detail. Above it their first byte is not 0, so that they may be four letters of text."""


@dataclass(slots=True)
class Limits:
    """What a record may cost: ``max_record_bytes`` at each layer, and the number of layers."""

    max_record_bytes: int = MAX_RECORD_BYTES
    max_layers: int = MAX_LAYERS


@dataclass(slots=True)
class Unwrapped:
    """The bytes of a record as its logger wrote them, and the headers that are still about them."""

    value: bytes
    headers: Mapping[str, bytes]


DEFAULT_LIMITS = Limits()


def is_plain(value: bytes, headers: Mapping[str, bytes]) -> bool:
    """Tell at once of most records that there is nothing to take off: JSON text without a schema or an event."""
    return value[:1] in _JSON_BEGINS and SCHEMA_HEADER not in headers and not may_be_event(value, headers)


def unwrap(
    value: bytes,
    headers: Mapping[str, bytes],
    *,
    limits: Limits = DEFAULT_LIMITS,
    schemas: SchemaSource | None = None,
) -> Unwrapped:
    """Take off every wrapping that the bytes or a header declare, the outermost first; a plain value is left as it is.

    gzip and zstd (all members and frames); the framing of schema registries, with the schema named before the payload
    or in the header ``__value_schema_id``: JSON is taken as it is, Avro becomes JSON; CloudEvents in structured JSON
    mode. ``schemas`` is asked for the schemas; without one a framed payload is taken when it is JSON by itself.

    Raises Undecodable: ``bad_compression``, ``decompression_bomb``, ``too_large`` (unwrapped above
    ``max_record_bytes``), ``unknown_schema``, ``bad_avro``, ``bad_header`` (the schema header), ``bad_shape`` (a
    CloudEvent's base64), ``too_deep`` (more layers). Lets SchemasUnavailable through: the batch is to be tried again.
    """
    if value[:1] in _JSON_STARTS and SCHEMA_HEADER not in headers and event_data(value, headers) is None:
        return Unwrapped(value, headers)
    for _ in range(limits.max_layers + 1):
        inner = _peeled(value, headers, limits, schemas)
        if inner is None:
            return Unwrapped(value, headers)
        if len(inner) > limits.max_record_bytes:
            detail = f"{len(inner)} bytes unwrapped, at most {limits.max_record_bytes} are read"
            raise Undecodable(DeadReason.TOO_LARGE, detail)
        value = inner
        if SCHEMA_HEADER in headers:
            headers = {name: content for name, content in headers.items() if name != SCHEMA_HEADER}
    raise Undecodable(DeadReason.TOO_DEEP, f"the record is wrapped in more than {limits.max_layers} layers")


def _peeled(value: bytes, headers: Mapping[str, bytes], limits: Limits, schemas: SchemaSource | None) -> bytes | None:
    """Return what is inside the outermost wrapping; None when there is none."""
    # The header comes first: it is about the whole value, and an Avro payload may begin with any bytes.
    if SCHEMA_HEADER in headers:
        return _payload(value, _key_in_header(headers[SCHEMA_HEADER]), schemas)
    for magic, decompress in DECOMPRESSORS:
        if value.startswith(magic):
            return decompress(value, limits.max_record_bytes)
    if value[:1] == b"\0" and len(value) > _ID_FRAME:
        return _payload(value[_ID_FRAME:], int.from_bytes(value[1:_ID_FRAME], "big"), schemas)
    if value[:1] == b"\1" and len(value) > _GUID_FRAME:
        return _payload(value[_GUID_FRAME:], str(uuid.UUID(bytes=value[1:_GUID_FRAME])), schemas)
    return event_data(value, headers)


def _key_in_header(content: bytes) -> SchemaKey:
    """Return the id (magic byte 0, four bytes) or GUID (magic byte 1, sixteen bytes) that the header holds."""
    if len(content) == _ID_FRAME and content[0] == ID_MAGIC:
        return int.from_bytes(content[1:], "big")
    if len(content) == _GUID_FRAME and content[0] == GUID_MAGIC:
        return str(uuid.UUID(bytes=content[1:]))
    raise Undecodable(DeadReason.BAD_HEADER, f"{SCHEMA_HEADER} holds neither a schema id nor a GUID")


def _payload(value: bytes, key: SchemaKey, schemas: SchemaSource | None) -> bytes:
    """Return the payload as JSON text, by the kind of the schema that it was written with."""
    named = f"schema {key}" if isinstance(key, int) and key < _TOLD_IDS else "the schema"
    if schemas is None and value[:1] in _JSON_BEGINS:
        # An Avro value may begin like that too, but does not go on as JSON.
        return value
    if schemas is None:
        raise Undecodable(DeadReason.UNKNOWN_SCHEMA, f"{named} is needed, and no schema registry is configured")
    schema = schemas.schema(key)
    if schema is None:
        raise Undecodable(DeadReason.UNKNOWN_SCHEMA, f"{named} is not in the schema registry")
    if schema.kind == JSON_SCHEMA:
        return value
    if schema.kind == AVRO:
        from pipelines.intake.avro_values import avro_to_json

        return avro_to_json(value, schema)
    kind = "Protobuf, which is not read: send JSON or Avro" if schema.kind == PROTOBUF else "of a kind that is not read"
    raise Undecodable(DeadReason.UNKNOWN_SCHEMA, f"{named} is {kind}")
