"""Typed reading of the fields of a log entry: the value as its format says, or a rejection that names the field."""

from __future__ import annotations

import datetime as dt
import math
from contextlib import suppress
from typing import Any

from schemas.records import DeadReason

_JSON_TYPES = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}

MILLISECONDS_FROM = 1e11
"""Epoch numbers from here on are milliseconds (as seconds they would lie after the year 5138), times 1,000 each
further unit: microseconds from 1e14, nanoseconds from 1e17."""


class BadShape(Exception):  # noqa: N818 - the name of the outcome, not of a fault
    """A field of a log entry is not what its format says. The text names fields and types, never values."""

    def __init__(self, detail: str, reason: DeadReason = DeadReason.BAD_SHAPE) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason


def wrong_type(where: str, wanted: str, found: Any) -> BadShape:
    """Return the error that says what was wanted and which JSON type was found."""
    return BadShape(f"{where} must be {wanted}, found {_JSON_TYPES.get(type(found), 'something else')}")


def optional_object(source: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Return the object under ``key``; None when absent or null. Raises BadShape for any other type."""
    value = source.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise wrong_type(key, "an object", value)


def optional_list(source: dict[str, Any], key: str) -> list[Any]:
    """Return the list under ``key``; empty when absent or null. Raises BadShape for any other type."""
    value = source.get(key)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise wrong_type(key, "a list", value)


def objects(source: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the list of objects under ``key``; empty when absent or null. Raises BadShape for any other type."""
    items = optional_list(source, key)
    for item in items:
        if not isinstance(item, dict):
            raise wrong_type(f"each of {key}", "an object", item)
    return items


def optional_text(source: dict[str, Any], key: str) -> str | None:
    """Return the string under ``key``; None when absent or null. Raises BadShape for any other type."""
    value = source.get(key)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(key, "a string", value)


def text_or_empty(source: dict[str, Any], key: str) -> str:
    """Return the string under ``key``; empty when absent or null. Raises BadShape for any other type."""
    return optional_text(source, key) or ""


def optional_id(source: dict[str, Any], key: str) -> str | None:
    """Return the id under ``key`` as a string: ids compare as strings, some logs write numbers.

    None when absent, null or empty. Raises BadShape for any other type.
    """
    value = source.get(key)
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise wrong_type(key, "a string or a whole number", value)


def first_id(source: dict[str, Any] | None, *keys: str) -> str | None:
    """Return the id under the first of ``keys`` that has one; None without any. Raises BadShape as optional_id."""
    if source is not None:
        for key in keys:
            if key in source and (found := optional_id(source, key)) is not None:
                return found
    return None


def optional_number(source: dict[str, Any], key: str) -> float | None:
    """Return the finite number under ``key`` as float; None when absent or null. Raises BadShape otherwise."""
    value = source.get(key)
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    raise wrong_type(key, "a finite number", value)


def optional_time(source: dict[str, Any], key: str) -> dt.datetime | None:
    """Return the time under ``key`` in UTC: ISO 8601 (without a zone it is UTC), or an epoch number by its size.

    None when absent, null, or a string or number that is no time in the years 1 to 9999: times are never invented,
    and an odd one does not cost the talk. Raises BadShape for any other JSON type.
    """
    value = source.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong_type(key, "a time", value)
    try:
        if isinstance(value, str) and not value.isdigit():
            stamp = dt.datetime.fromisoformat(value)
            return stamp.replace(tzinfo=dt.UTC) if stamp.tzinfo is None else stamp.astimezone(dt.UTC)
        seconds = float(value)
        unit = MILLISECONDS_FROM
        while abs(seconds) >= MILLISECONDS_FROM and unit <= 1e17:
            seconds /= 1000
            unit *= 1000
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None
