"""Messages of an example -> the texts in which an item may stand: what is said, and strings inside of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson


def texts_of(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of messages as ``training_examples`` has them (role, text, tool_calls), tool results too.

    Where a text or the arguments of a call are JSON, their strings stand in its place: inside of JSON, line feeds and
    quotes are written otherwise than in the item.
    """
    found: list[str] = []
    for message in messages:
        found.extend(_readable(message["text"] or ""))
        for call in message.get("tool_calls") or []:
            found.extend(_readable(call["arguments"] or ""))
    return [text for text in found if text]


def questions_of(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the user's messages that are not blank."""
    return [m["text"] for m in messages if m["role"] == "user" and (m["text"] or "").strip()]


def _readable(text: str) -> list[str]:
    if text[:64].lstrip()[:1] not in ("{", "["):
        return [text]
    try:
        return list(_strings(orjson.loads(text)))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return [text]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
