"""OpenTelemetry GenAI: spans and events with ``gen_ai.*`` attributes, and evaluation results.

Source: open-telemetry/semantic-conventions-genai, gen-ai-events.md and gen-ai-input-messages.json. Message content is
opt-in there, so an entry without any is normal; it ends as ``no_messages``.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, MediaPart, Message, Rating, Talk, ToolCall
from pipelines.intake.media import inline_media, linked_media, other_part
from pipelines.intake.readers.otel_attributes import attributes_of, structured
from pipelines.intake.roles import chain, last_of_chain, role_of
from pipelines.intake.shape import (
    first_id,
    objects,
    optional_id,
    optional_number,
    optional_text,
    optional_time,
    text_or_empty,
)
from pipelines.intake.streams import otel_message_events
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json
from pipelines.intake.tool_definitions import offer_tools

NAME = "otel_genai"
VERSION = 1
TELLS = frozenset({"attributes"})
EXCLUDES: frozenset[str] = frozenset()

EVALUATION = "gen_ai.evaluation.result"
MESSAGES = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})
CALLS = ("tool_call", "server_tool_call")
SERVER_ANSWER = "server_tool_call_response"
START_KEYS = ("start_time", "startTimeUnixNano", "start_time_unix_nano", "timestamp", "timeUnixNano", "time_unix_nano")
END_KEYS = ("end_time", "endTimeUnixNano", "end_time_unix_nano", "timestamp", "timeUnixNano", "time_unix_nano")


def matches(entry: Entry) -> bool:
    """Tell by attributes whose names begin with ``gen_ai.``; an event of one message is a piece of its call."""
    attributes = entry.get("attributes")
    if otel_message_events.matches(entry):
        return False
    if isinstance(attributes, dict):
        return any(key.startswith("gen_ai.") for key in attributes)
    if isinstance(attributes, list):
        keys = (pair.get("key") for pair in attributes if isinstance(pair, dict))
        return any(isinstance(key, str) and key.startswith("gen_ai.") for key in keys)
    return False


def read(entry: Entry) -> Talk:
    """Read instructions, input, choices and evaluations. Raises BadShape for a field of another type.

    A span may hold its messages as attributes or, in conventions up to 1.36, as events of one message each.
    """
    attributes = attributes_of(entry) or {}
    events = objects(entry, "events")
    if MESSAGES.isdisjoint(attributes) and (said := [event for event in events if otel_message_events.matches(event)]):
        attributes = {**otel_message_events.join(said)["attributes"], **attributes}
    span = optional_id(entry, "span_id") or optional_id(entry, "spanId")
    response_id = optional_id(attributes, "gen_ai.response.id") or span
    messages: list[Message] = []
    if text := _instructions(structured(attributes, "gen_ai.system_instructions")):
        messages.append(Message("system", text))
    for item in _message_list(attributes, "gen_ai.input.messages"):
        messages += _read_message(item, None)
    chain(messages)
    if messages:
        messages[-1].created_at = _first_time(entry, START_KEYS)
    for message in _read_choices(attributes, messages):
        message.response_id, message.span_id = response_id, span
        message.created_at = _first_time(entry, END_KEYS)
    offer_tools(messages, {"tools": attributes.get("gen_ai.tool.definitions")})
    talk = Talk(messages, optional_id(attributes, "gen_ai.conversation.id"))
    talk.user_id = first_id(attributes, "user.id", "enduser.id")
    if any(key.startswith("gen_ai.evaluation.") for key in attributes):
        rating = _read_rating(attributes, response_id)
        rating.created_at = _first_time(entry, END_KEYS)
        talk.ratings.append(rating)
    for event in events:
        if event.get("name") == EVALUATION:
            talk.ratings.append(_read_rating(attributes_of(event) or {}, response_id))
    return talk


def _read_choices(attributes: dict[str, Any], messages: list[Message]) -> list[Message]:
    parent = last_of_chain(messages)
    model = optional_text(attributes, "gen_ai.response.model") or optional_text(attributes, "gen_ai.request.model")
    reasons = structured(attributes, "gen_ai.response.finish_reasons")
    replies: list[Message] = []
    for index, item in enumerate(_message_list(attributes, "gen_ai.output.messages")):
        above = parent
        for message in _read_message(item, "assistant"):
            message.parent = above
            message.model = model
            message.finish_reason = optional_text(item, "finish_reason")
            if message.finish_reason is None and isinstance(reasons, list) and index < len(reasons):
                message.finish_reason = reasons[index] if isinstance(reasons[index], str) else None
            if message.finish_reason is None and "finish_reason" in item:
                message.flags.append(flags.STREAM_INCOMPLETE)
            above = len(messages)
            messages.append(message)
            replies.append(message)
    return replies


def _message_list(attributes: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return objects({key: structured(attributes, key)}, key)


def _instructions(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    message = Message("system")
    _read_parts(message, objects({"gen_ai.system_instructions": value}, "gen_ai.system_instructions"))
    return message.text


def _read_message(item: dict[str, Any], default_role: str | None) -> list[Message]:
    """Return the tool answers of a message, each by itself, and then what is left of it.

    Answers of tools that the server called itself stand where they came, between what was said before and after.
    """
    role = role_of(item.get("role") or default_role)
    parts = objects(item, "parts")
    answers = [_read_answer(part) for part in parts if part.get("type") == "tool_call_response"]
    rest: list[Message] = []
    spoken = (part for part in parts if part.get("type") != "tool_call_response")
    for is_answer, run in groupby(spoken, key=lambda part: part.get("type") == SERVER_ANSWER):
        if is_answer:
            rest += map(_read_answer, run)
        else:
            rest.append(Message(role))
            _read_parts(rest[-1], list(run))
    if content := optional_text(item, "content"):
        if not rest or rest[0].role != role:
            rest.insert(0, Message(role))
        rest[0].text = join_texts((content, rest[0].text))
    return [*answers, *rest] or [Message(role)]


def _read_parts(message: Message, parts: list[dict[str, Any]]) -> None:
    texts, thoughts = [], []
    for part in parts:
        kind = part.get("type")
        if kind == "text":
            texts.append(text_or_empty(part, "content"))
        elif kind == "reasoning":
            thoughts.append(text_or_empty(part, "content"))
        elif kind in CALLS:
            message.tool_calls.append(_read_call(message, part))
        elif (media := _read_media(part, kind)) is not None:
            message.parts.append(media)
        else:
            message.flags.append(flags.UNKNOWN_PART)
            message.parts.append(other_part(compact_json(part, "parts")))
    message.text = join_texts(texts)
    message.reasoning = join_texts(thoughts) or None


def _read_call(message: Message, part: dict[str, Any]) -> ToolCall:
    name = text_or_empty(part, "name")
    if not name:
        message.flags.append(flags.TOOL_NAME_MISSING)
    value = part.get("arguments", part.get("server_tool_call"))
    arguments = value if isinstance(value, str) else "" if value is None else compact_json(value, "arguments")
    return ToolCall(optional_id(part, "id"), name, arguments)


def _read_answer(part: dict[str, Any]) -> Message:
    """Read a tool answer under ``response`` (the JSON Schema's name) or ``result`` (the events document's).

    Answers of tools that the server called have a name of their own.
    """
    message = Message("tool", tool_call_id=optional_id(part, "id"))
    value = part.get("response", part.get("result", part.get(SERVER_ANSWER)))
    if isinstance(value, str):
        message.text = value
    elif value is not None:
        message.text = compact_json(value, "response")
    return message


def _read_media(part: dict[str, Any], kind: Any) -> MediaPart | None:
    media_type = optional_text(part, "mime_type")
    modality = part.get("modality")
    modality = modality if modality in ("image", "audio", "video") else "file"
    if kind == "blob" and (data := optional_text(part, "content")):
        return inline_media(modality, media_type, data)
    if kind == "uri" and (uri := optional_text(part, "uri")):
        return linked_media(modality, media_type, uri)
    if kind == "file" and (file_id := optional_id(part, "file_id")):
        return linked_media(modality, media_type, file_id)
    return None


def _read_rating(attributes: dict[str, Any], response_id: str | None) -> Rating:
    value = optional_number(attributes, "gen_ai.evaluation.score.value")
    text = optional_text(attributes, "gen_ai.evaluation.explanation")
    return Rating(
        "evaluation",
        value,
        text or optional_text(attributes, "gen_ai.evaluation.score.label"),
        response_id=optional_id(attributes, "gen_ai.response.id") or response_id,
        measure=optional_text(attributes, "gen_ai.evaluation.name"),
    )


def _first_time(entry: Entry, keys: tuple[str, ...]) -> Any:
    for key in keys:
        if key in entry:
            return optional_time(entry, key)
    return None
