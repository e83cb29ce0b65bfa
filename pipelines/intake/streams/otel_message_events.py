"""Events of OpenTelemetry GenAI conventions up to 1.36, one a message -> one entry in the newer layout.

Source: open-telemetry/semantic-conventions v1.36.0, docs/gen-ai/gen-ai-events.md. Content is in the body; where a
library has no event API, in attributes of span events (``gen_ai.event.content`` holds it as JSON there, or each field
is an attribute). Capturing it is opt-in, so events without any are normal and give no message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.intake.items import Entry
from pipelines.intake.json_text import looks_like_json
from pipelines.intake.readers.otel_attributes import any_value, attributes_of, structured
from pipelines.intake.shape import (
    BadShape,
    objects,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
    wrong_type,
)
from pipelines.intake.streams.pieces import logged_owner, piece_id, place_in
from pipelines.intake.texts import join_texts

NAME = "otel_message_events"
OPENS_WITH_NAME = False
ENDS_WITH_DONE = False

CHOICE = "gen_ai.choice"
ROLE_OF_EVENT = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}
NAME_KEYS = ("event_name", "eventName", "name")
CONTENT = "gen_ai.event.content"
CONTENT_FIELDS = ("content", "role", "tool_calls", "id", "message", "finish_reason", "index")
IDS = frozenset({"user.id", "enduser.id", "session.id"})
TIME_KEYS = ("timestamp", "timeUnixNano", "time_unix_nano", "time", "observedTimeUnixNano", "observed_time_unix_nano")


@dataclass(slots=True)
class _Event:
    """One event: its name, its content as one object, its other attributes, and where its time stands."""

    name: str
    content: dict[str, Any]
    attributes: dict[str, Any]
    time: tuple[str, Any] | None
    nanoseconds: int | None


@dataclass(slots=True)
class _Talk:
    """What the events of one call tell so far."""

    instructions: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[int, dict[str, Any]] = field(default_factory=dict)


def event_name(entry: Entry) -> str | None:
    """Return the name of a per-message event; None for anything else. Never raises."""
    for name_key in NAME_KEYS:
        name = entry.get(name_key)
        if isinstance(name, str) and name in ROLE_OF_EVENT:
            return name
    name = _attribute(entry.get("attributes"), "event.name")
    return name if isinstance(name, str) and name in ROLE_OF_EVENT else None


def matches(entry: Entry) -> bool:
    """Tell by the event's name. Never raises."""
    return event_name(entry) is not None


def key(entry: Entry) -> str | None:
    """Return trace id and span id of the call; None without a span. Never raises."""
    trace, span = piece_id(entry, "trace_id", "traceId"), piece_id(entry, "span_id", "spanId")
    return None if span is None else f"{trace or ''}:{span}"


def names_stream(entry: Entry) -> bool:  # noqa: ARG001 - the signature of every format
    """Tell that the key of each event is that of its call; events without a span belong to no named call."""
    return True


def keys_closed_by(entry: Entry) -> list[str]:  # noqa: ARG001 - the signature of every format
    """Return nothing: no log entry closes the events of a call."""
    return []


def is_whole(pieces: Sequence[Entry]) -> bool:
    """Tell whether each choice has its finish reason, with at least one, and a message was asked before."""
    try:
        events = [_read_event(piece) for piece in pieces]
        ends: dict[int, bool] = {}
        for event in events:
            if event.name == CHOICE:
                index = _index(event.content)
                ends[index] = ends.get(index, False) or bool(event.content.get("finish_reason"))
    except BadShape:
        return False
    return bool(ends) and all(ends.values()) and any(event.name != CHOICE for event in events)


def join(pieces: Sequence[Entry]) -> Entry:
    """Return one entry with instructions, input and output messages, events by time, equal ones in the order given.

    Times count only where all events have one. Raises BadShape for a field of another type.
    """
    events = [_read_event(piece) for piece in pieces]
    if all(event.nanoseconds is not None for event in events):
        events.sort(key=lambda event: event.nanoseconds or 0)
    talk = _Talk()
    attributes: dict[str, Any] = {}
    for event in events:
        attributes = {**event.attributes, **attributes}
        _add(talk, event)
    if talk.instructions:
        attributes["gen_ai.system_instructions"] = talk.instructions
    attributes["gen_ai.input.messages"] = talk.inputs
    attributes["gen_ai.output.messages"] = [message for _, message in sorted(talk.outputs.items())]
    found: Entry = {**logged_owner(pieces), **_span(pieces), "attributes": attributes}
    for name, times in (
        ("start_time", [event.time for event in events if event.time and event.name != CHOICE]),
        ("end_time", [event.time for event in events if event.time and event.name == CHOICE]),
    ):
        if times:
            found[name] = times[-1][1]
    return found


def _span(pieces: Sequence[Entry]) -> Entry:
    ids = {
        "trace_id": next(filter(None, (piece_id(piece, "trace_id", "traceId") for piece in pieces)), None),
        "span_id": next(filter(None, (piece_id(piece, "span_id", "spanId") for piece in pieces)), None),
    }
    return {name: value for name, value in ids.items() if value is not None}


def _attribute(attributes: Any, name: str) -> Any:
    """Return one attribute of an object or of OTLP's list of keys and values."""
    if isinstance(attributes, dict):
        return attributes.get(name)
    if isinstance(attributes, list):
        for pair in attributes:
            if isinstance(pair, dict) and pair.get("key") == name:
                value = pair.get("value")
                return value.get("stringValue") if isinstance(value, dict) else value
    return None


def _read_event(piece: Entry) -> _Event:
    attributes = attributes_of(piece) or {}
    name = event_name(piece)
    if name is None:
        raise BadShape("the name of the event must be that of a message event")
    content = _content(piece, attributes)
    others = {
        attribute: value
        for attribute, value in attributes.items()
        if (attribute.startswith("gen_ai.") and attribute != CONTENT) or attribute in IDS
    }
    return _Event(name, content, others, *_time(piece))


def _content(piece: Entry, attributes: dict[str, Any]) -> dict[str, Any]:
    for value in (any_value(piece.get("body")), attributes.get(CONTENT)):
        if value is None or value == {}:
            continue
        if isinstance(value, str):
            decoded = structured({"body": value}, "body") if looks_like_json(value) else value
            return decoded if isinstance(decoded, dict) else {"content": decoded}
        if isinstance(value, dict):
            return value
        raise wrong_type("body", "an object or text", value)
    return {name: attributes[name] for name in CONTENT_FIELDS if name in attributes}


def _index(content: dict[str, Any]) -> int:
    """Return the number of a choice, 0 without one; as an attribute it may be text."""
    index = content.get("index")
    if isinstance(index, str) and index.isdecimal() and len(index) < 10:
        return int(index)
    return place_in(content, "index") or 0


def _add(talk: _Talk, event: _Event) -> None:
    role = ROLE_OF_EVENT[event.name]
    content = event.content
    if event.name == CHOICE:
        _add_choice(talk, content)
        return
    if role == "tool":
        if (answer := _tool_answer(content)) is not None:
            talk.inputs.append({"role": role, "parts": [answer]})
        return
    parts = _parts(content)
    if role == "system" and not talk.instructions and not talk.inputs:
        talk.instructions = parts
    elif parts:
        talk.inputs.append({"role": content.get("role") or role, "parts": parts})


def _add_choice(talk: _Talk, content: dict[str, Any]) -> None:
    message = content.get("message")
    said = message if isinstance(message, dict) else {"content": message}
    if isinstance(message, str) and looks_like_json(message):
        decoded = structured({"message": message}, "message")
        said = decoded if isinstance(decoded, dict) else {"content": decoded}
    parts = _parts(said)
    if message is None and "content" in content:
        parts = _parts({"content": content["content"]})
    if "tool_calls" in content and "tool_calls" not in said:
        parts += _calls(content)
    choice = talk.outputs.setdefault(_index(content), {"role": "assistant", "parts": [], "finish_reason": None})
    choice["parts"] += parts
    choice["finish_reason"] = content.get("finish_reason") or choice["finish_reason"]


def _tool_answer(content: dict[str, Any]) -> dict[str, Any] | None:
    said = content.get("content")
    if said is None:
        return None
    parts = _parts({"content": said}) if isinstance(said, list) else []
    if parts and all(part.get("type") == "text" for part in parts):
        said = join_texts(text_or_empty(part, "content") for part in parts)
    return {"type": "tool_call_response", "id": content.get("id"), "response": said}


def _parts(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of the newer layout: texts, then tool calls; other parts stay as they are."""
    said = content.get("content")
    if isinstance(said, str) and looks_like_json(said):
        said = _decoded_parts(said)
    if isinstance(said, dict):
        said = [said]
    if isinstance(said, list):
        parts = [_part(part) for part in objects({"content": said}, "content")]
    else:
        parts = [{"type": "text", "content": text}] if (text := optional_text({"content": said}, "content")) else []
    return parts + _calls(content)


def _decoded_parts(text: str) -> Any:
    """Return the list of parts that a span attribute holds as JSON; any other text is what was said."""
    try:
        value = structured({"content": text}, "content")
    except BadShape:
        return text
    is_parts = isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value)
    return value if is_parts else text


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") in (None, "text") and isinstance(part.get("text"), str):
        return {"type": "text", "content": part["text"]}
    return part


def _calls(content: dict[str, Any]) -> list[dict[str, Any]]:
    calls = []
    decoded = {"tool_calls": structured(content, "tool_calls")}
    for item in objects(decoded, "tool_calls"):
        function = optional_object(item, "function") or item
        arguments = function.get("arguments")
        calls.append({"type": "tool_call", "id": item.get("id"), "name": function.get("name"), "arguments": arguments})
    return calls


def _time(piece: Entry) -> tuple[tuple[str, Any] | None, int | None]:
    """Return the key and value of an event's time, and the time in nanoseconds since 1970."""
    for name in TIME_KEYS:
        value = piece.get(name)
        if value in (None, 0, "0") or isinstance(value, bool):
            continue
        if isinstance(value, int) or (isinstance(value, str) and value.isdecimal() and len(value) < 30):
            return (name, value), _scaled(int(value))
        if (stamp := optional_time(piece, name)) is not None:
            return (name, value), int(stamp.timestamp() * 1_000_000) * 1_000
    return None, None


def _scaled(value: int) -> int:
    """Return nanoseconds; the size of an epoch number tells its unit, as in all times of logs."""
    for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
        if abs(value) < limit:
            return value * factor
    return value
