"""Attributes of OpenTelemetry spans and events: plain objects, or OTLP's list of keys and typed values."""

from __future__ import annotations

from typing import Any

import orjson

from pipelines.intake.items import Entry
from pipelines.intake.shape import BadShape, wrong_type

MAX_VALUE_DEPTH = 64
"""Nesting of OTLP values that is read; GenAI messages need about ten."""


def attributes_of(entry: Entry) -> dict[str, Any] | None:
    """Return the attributes as one object; None when there are none. Raises BadShape for any other type."""
    attributes = entry.get("attributes")
    if attributes is None or isinstance(attributes, dict):
        return attributes
    if isinstance(attributes, list):
        return _key_values(attributes, 0)
    raise wrong_type("attributes", "an object or a list", attributes)


def structured(attributes: dict[str, Any], key: str) -> Any:
    """Return the value under ``key``, decoded where it is JSON text, as spans often have it.

    Text that does not begin like a JSON list or object is returned as it is. Raises BadShape for broken JSON: an
    exporter has cut it.
    """
    value = attributes.get(key)
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return orjson.loads(value)
    except ValueError:
        raise BadShape(f"{key} must be JSON, found text that does not parse") from None


def any_value(value: Any) -> Any:
    """Return the plain value of an OTLP AnyValue, as the body of a log record is; other values stay as they are.

    Raises BadShape for a broken one.
    """
    return _value(value, 0)


def _key_values(pairs: list[Any], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, dict) or not isinstance(pair.get("key"), str):
            raise BadShape("each of attributes must be an object with key and value")
        found[pair["key"]] = _value(pair.get("value"), depth + 1)
    return found


def _value(value: Any, depth: int) -> Any:
    """Return the plain value of an OTLP AnyValue (opentelemetry-proto, common.proto, in its JSON form)."""
    if depth > MAX_VALUE_DEPTH:
        raise BadShape("attributes are nested too deep")
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "arrayValue" and isinstance(inner, dict):
        items = inner.get("values") or []
        if not isinstance(items, list):
            raise wrong_type("arrayValue", "a list", items)
        return [_value(item, depth + 1) for item in items]
    if kind == "kvlistValue" and isinstance(inner, dict):
        pairs = inner.get("values") or []
        if not isinstance(pairs, list):
            raise wrong_type("kvlistValue", "a list", pairs)
        return _key_values(pairs, depth + 1)
    if kind == "intValue":
        return _whole_number(inner)
    return inner if kind in ("stringValue", "doubleValue", "boolValue", "bytesValue") else value


def _whole_number(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 20:
        try:
            return int(value)
        except ValueError:
            pass
    raise BadShape("intValue must be a whole number")
