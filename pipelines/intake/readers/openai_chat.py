"""OpenAI chat: request and response in an envelope, either of them alone, or plain ``{"messages": [...]}``.

Source: OpenAI chat completions API; the envelope is that of NVIDIA's data-flywheel blueprint, README "Log schema".
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.envelopes import OF_OTHER_FORMATS, is_text_completion, request_of
from pipelines.intake.items import Entry, MediaPart, Message, Talk, ToolCall
from pipelines.intake.media import inline_media, linked_media, other_part
from pipelines.intake.readers import anthropic_messages
from pipelines.intake.roles import chain, last_of_chain, role_of
from pipelines.intake.shape import (
    BadShape,
    first_id,
    objects,
    optional_id,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
    wrong_type,
)
from pipelines.intake.streams import openai_chunks
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json
from pipelines.intake.tool_definitions import offer_tools

NAME = "openai_chat"
VERSION = 1
TELLS = frozenset({"messages", "request", "choices", "response"})
EXCLUDES = frozenset({anthropic_messages.NAME})

TIME_KEYS = ("created_at", "timestamp")
REASONING_KEYS = ("reasoning_content", "reasoning")
TEXT_PARTS = ("text", "input_text", "output_text")


def matches(entry: Entry) -> bool:
    """Tell whether the entry holds OpenAI ``messages`` or ``choices`` and neither Anthropic's nor a gateway's keys."""
    if (
        "messages" not in entry
        and request_of(entry) is None
        and (_response(entry) is None or is_text_completion(entry))
    ):
        return False
    if len(entry) > 1 and not OF_OTHER_FORMATS.isdisjoint(entry):
        return False
    if "choices" in entry and openai_chunks.matches(entry):
        return False
    return not anthropic_messages.matches(entry)


def read(entry: Entry) -> Talk:
    """Read history and reply; several choices are siblings. Raises BadShape for a field of another type."""
    request = request_of(entry)
    if request is None:
        request = optional_object(entry, "request") or {}
    response = _response(entry)
    messages = [read_message(item) for item in objects(request, "messages")]
    if system := optional_text(request, "system"):
        messages.insert(0, Message("system", system))
    chain(messages)
    if len(entry) == 1 and request is entry:
        return Talk(messages)
    if messages and "timestamp" in entry:
        messages[-1].created_at = optional_time(entry, "timestamp")
    if response is not None:
        _add_replies(messages, request, response)
    elif entry.get("response") is not None and "error" not in (optional_object(entry, "response") or {}):
        raise BadShape("response must hold choices or an error")
    offer_tools(messages, request)
    return Talk(messages, *_ids(entry, request))


def read_message(item: dict[str, Any], default_role: str | None = None) -> Message:
    """Read one message of the chat completions API and its own time; links are left to the caller."""
    name = item.get("role") or default_role
    message = Message(role_of(name))
    content = item.get("content")
    if isinstance(content, str):
        message.text = content
    elif content is not None:
        _read_parts(message, objects(item, "content"))
    if len(item) > 2 or "role" not in item or "content" not in item:
        _read_rarer_fields(message, item)
    return message


def read_tool_call(item: dict[str, Any], message: Message) -> ToolCall:
    """Read a call; arguments stay the logged string, an object becomes compact JSON, a lost name is flagged."""
    function = optional_object(item, "function") or optional_object(item, "custom") or {}
    name = text_or_empty(function, "name")
    if not name:
        message.flags.append(flags.TOOL_NAME_MISSING)
    arguments = function.get("arguments", function.get("input"))
    if arguments is None:
        arguments = ""
    elif isinstance(arguments, (dict, list)):
        arguments = compact_json(arguments, "arguments")
    elif not isinstance(arguments, str):
        raise wrong_type("arguments", "a string or an object", arguments)
    return ToolCall(optional_id(item, "id"), name, arguments)


def _response(entry: Entry) -> dict[str, Any] | None:
    if "choices" in entry:
        return entry
    response = entry.get("response")
    return response if isinstance(response, dict) and "choices" in response else None


def _ids(entry: Entry, request: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return conversation id and user id, the entry's own before those of the request."""
    conversation_id = first_id(entry, "conversation_id")
    if conversation_id is None and "metadata" in request and isinstance(metadata := request["metadata"], dict):
        conversation_id = first_id(metadata, "conversation_id", "session_id")
    user_id = first_id(entry, "user_id", "user", "safety_identifier")
    if user_id is None and request is not entry:
        user_id = first_id(request, "user", "safety_identifier")
    return conversation_id, user_id


def _add_replies(messages: list[Message], request: dict[str, Any], response: dict[str, Any]) -> None:
    parent = last_of_chain(messages)
    model = optional_text(response, "model") or optional_text(request, "model")
    created_at = optional_time(response, "created")
    response_id = optional_id(response, "id")
    for choice in objects(response, "choices"):
        if "message" not in choice:
            raise BadShape("each of choices must hold a message")
        item = optional_object(choice, "message")
        if item is None:
            continue
        message = read_message(item, "assistant")
        message.parent = parent
        message.model = model
        message.response_id = response_id
        message.created_at = created_at or message.created_at
        message.finish_reason = optional_text(choice, "finish_reason")
        if message.finish_reason is None and "finish_reason" in choice:
            message.flags.append(flags.STREAM_INCOMPLETE)
        messages.append(message)


def _read_rarer_fields(message: Message, item: dict[str, Any]) -> None:
    for key in TIME_KEYS:
        if key in item:
            message.created_at = message.created_at or optional_time(item, key)
    for key in REASONING_KEYS:
        if key in item:
            message.reasoning = message.reasoning or optional_text(item, key)
    if "tool_calls" in item:
        message.tool_calls = [read_tool_call(call, message) for call in objects(item, "tool_calls")]
    if (legacy := optional_object(item, "function_call")) is not None:
        message.tool_calls.append(read_tool_call({"function": legacy}, message))
    if message.role == "tool":
        message.tool_call_id = optional_id(item, "tool_call_id")
        message.tool_name = optional_text(item, "name")
    if refusal := optional_text(item, "refusal"):
        message.text = join_texts((message.text, refusal))
        message.flags.append(flags.REFUSAL)
    if (audio := optional_object(item, "audio")) is not None:
        _read_audio_reply(message, audio)


def _read_parts(message: Message, parts: list[dict[str, Any]]) -> None:
    texts = []
    for part in parts:
        kind = part.get("type")
        if kind in TEXT_PARTS:
            texts.append(text_or_empty(part, "text"))
        elif kind == "refusal":
            texts.append(text_or_empty(part, "refusal"))
            message.flags.append(flags.REFUSAL)
        elif (media := _read_media(part, kind)) is not None:
            message.parts.append(media)
        else:
            message.flags.append(flags.UNKNOWN_PART)
            message.parts.append(other_part(compact_json(part, "content")))
            if isinstance(text := part.get("text"), str):
                texts.append(text)
    message.text = join_texts(texts)


def _read_media(part: dict[str, Any], kind: Any) -> MediaPart | None:
    if kind in ("image_url", "video_url", "audio_url"):
        value = part.get(kind)
        url = value if isinstance(value, str) else optional_text(optional_object(part, kind) or {}, "url")
        if url:
            return linked_media(kind[:5], None, url)
    elif kind == "input_audio":
        audio = optional_object(part, "input_audio") or {}
        form = optional_text(audio, "format")
        if data := optional_text(audio, "data"):
            return inline_media("audio", f"audio/{form}" if form else None, data)
    elif kind == "file":
        file = optional_object(part, "file") or {}
        if data := optional_text(file, "file_data"):
            return linked_media("file", None, data) if data.startswith("data:") else inline_media("file", None, data)
        if file_id := optional_id(file, "file_id"):
            return linked_media("file", None, file_id)
    return None


def _read_audio_reply(message: Message, audio: dict[str, Any]) -> None:
    message.text = join_texts((message.text, text_or_empty(audio, "transcript")))
    if data := optional_text(audio, "data"):
        message.parts.append(inline_media("audio", None, data))
    elif audio_id := optional_id(audio, "id"):
        message.parts.append(linked_media("audio", None, audio_id))
