"""Fields of Langfuse's records under both spellings: ``traceId`` in its API, ``trace_id`` in its storage exports."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from pipelines.intake.shape import optional_id, optional_text, optional_time

_CAPITAL = re.compile("[A-Z]")


def key_of(source: dict[str, Any], name: str) -> str:
    """Return the spelling under which ``source`` has the field; the API's where it has neither."""
    if name in source:
        return name
    snake = _CAPITAL.sub(lambda capital: f"_{capital.group().lower()}", name)
    return snake if snake in source else name


def field(source: dict[str, Any], name: str) -> Any:
    """Return the value of the field; None when absent."""
    return source.get(key_of(source, name))


def text_of(source: dict[str, Any], name: str) -> str | None:
    """Return the string; None when absent or null. Raises BadShape for any other type."""
    return optional_text(source, key_of(source, name))


def id_of(source: dict[str, Any], name: str) -> str | None:
    """Return the id as a string; None when absent, null or empty. Raises BadShape for any other type."""
    return optional_id(source, key_of(source, name))


def time_of(source: dict[str, Any], name: str) -> dt.datetime | None:
    """Return the time in UTC; None when absent or no time. Raises BadShape for a type that holds none."""
    return optional_time(source, key_of(source, name))
