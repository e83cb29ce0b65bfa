"""A value in Avro's binary encoding -> JSON, by the schema that it was written with."""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

from pipelines.intake.decode import Undecodable
from pipelines.intake.writer_schemas import WriterSchema
from schemas.records import DeadReason

_FIELD = "value"
_HOLDER = "turnmill_value"
"""A record around the schema: it has no bytes of its own in Avro, and takes named, union and plain types alike."""

_COMPLEX_TYPES = frozenset({"record", "error", "enum", "fixed", "array", "map"})


def avro_to_json(value: bytes, schema: WriterSchema) -> bytes:
    """Return the one value that ``value`` encodes as JSON text.

    Logical types become what JSON has: times and dates ISO 8601, UUIDs strings, decimals numbers, bytes a string of
    their UTF-8 text or else of base64; NaN and infinities null. Raises Undecodable: ``bad_avro`` when the bytes are not
    a value of the schema, or not one alone; ``unknown_schema`` when the schema cannot be read; ``too_deep``.
    """
    read, parsed = _reader_of(schema)
    stream = io.BytesIO(value)
    try:
        found = read(stream, parsed)[_FIELD]
        left = len(value) - stream.tell()
        if not left:
            return orjson.dumps(found, default=_json_type)
    except RecursionError:
        raise Undecodable(DeadReason.TOO_DEEP, "the Avro value is nested deeper than the parser goes") from None
    except Exception as fault:  # noqa: BLE001 - the decoder raises whatever broken bytes lead to; its texts quote them
        if isinstance(fault, TypeError) and "ecursion" in str(fault):
            raise Undecodable(DeadReason.TOO_DEEP, "the Avro value is nested deeper than JSON is written") from None
        detail = f"{len(value)} bytes are no value of the schema ({type(fault).__name__})"
        raise Undecodable(DeadReason.BAD_AVRO, detail) from None
    raise Undecodable(DeadReason.BAD_AVRO, f"{left} of {len(value)} bytes follow the value that the schema describes")


@functools.lru_cache(maxsize=1024)
def _reader_of(schema: WriterSchema) -> tuple[Any, Any]:
    """Return the function that reads values, and the parsed schema. Raises Undecodable (``unknown_schema``)."""
    # The import is here since fastavro belongs to the jobs: a plain install has no registry to ask for a schema.
    import fastavro
    from fastavro import _read_py

    named: dict[str, Any] = {}
    try:
        for text in schema.references:
            fastavro.parse_schema(orjson.loads(text), named_schemas=named)
        plain = _schema_of(schema.text)
        holder = {"type": "record", "name": _HOLDER, "fields": [{"name": _FIELD, "type": plain}]}
        parsed = fastavro.parse_schema(holder, named_schemas=named)
        endless = any(_width_zero(items, named) for items in _array_items([*named.values()]))
    except Exception as fault:  # noqa: BLE001 - any fault of a schema that a registry has accepted
        raise Undecodable(
            DeadReason.UNKNOWN_SCHEMA, f"the registry's schema is not readable Avro ({type(fault).__name__})"
        ) from None
    if endless:
        raise Undecodable(DeadReason.UNKNOWN_SCHEMA, "the schema has an array whose items take no bytes")
    # The compiled reader does not count its depth: a few thousand levels of a recursive type end the process.
    return (_read_py.schemaless_reader if _is_recursive(named) else fastavro.schemaless_reader), parsed


def _schema_of(text: str) -> Any:
    """Return the schema as JSON; registries also give a primitive type as its bare name."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def _array_items(types: list[Any]) -> Iterator[Any]:
    """Yield the item type of every array inside ``types``; named types are looked at where they are declared."""
    for kind in types:
        if isinstance(kind, list):
            yield from _array_items(kind)
        elif isinstance(kind, dict):
            if kind.get("type") == "array":
                yield kind["items"]
            yield from _array_items(list(_parts(kind)))


def _parts(kind: dict[str, Any]) -> Iterator[Any]:
    """Yield the types that a type is made of."""
    if "fields" in kind:
        yield from (field["type"] for field in kind["fields"])
    for key in ("items", "values"):
        if key in kind:
            yield kind[key]
    if kind.get("type") not in _COMPLEX_TYPES and not isinstance(kind.get("type"), str):
        yield kind.get("type")


def _width_zero(kind: Any, named: dict[str, Any], within: frozenset[str] = frozenset()) -> bool:
    """Tell whether values of the type take no bytes, so that a count of a few bytes stands for any number of them."""
    if isinstance(kind, str):
        if kind not in named or kind in within:
            return kind == "null"
        return _width_zero(named[kind], named, within | {kind})
    if isinstance(kind, dict):
        if kind.get("type") in ("record", "error"):
            return all(_width_zero(field["type"], named, within) for field in kind["fields"])
        if kind.get("type") == "fixed":
            return not kind["size"]
        return kind.get("type") not in _COMPLEX_TYPES and _width_zero(kind.get("type"), named, within)
    return False


def _is_recursive(named: dict[str, Any]) -> bool:
    """Tell whether a named type holds itself, directly or through others."""
    uses = {name: set(_names_in([declared], named, top=True)) for name, declared in named.items()}
    for name in uses:
        reached: set[str] = set()
        waiting = list(uses[name])
        while waiting:
            used = waiting.pop()
            if used not in reached:
                reached.add(used)
                waiting += uses.get(used, ())
        if name in reached:
            return True
    return False


def _names_in(types: list[Any], named: dict[str, Any], *, top: bool = False) -> Iterator[str]:
    for kind in types:
        if isinstance(kind, str):
            if kind in named:
                yield kind
        elif isinstance(kind, list):
            yield from _names_in(kind, named)
        elif isinstance(kind, dict):
            if not top and kind.get("name") in named:
                yield kind["name"]
            yield from _names_in(list(_parts(kind)), named)


def _json_type(value: Any) -> Any:
    """Return what JSON has in place of a value of Avro."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return str(value)
