"""Anthropic Messages: request and response in an envelope, or either of them alone.

Source: Anthropic Messages API, as described by vLLM's protocol classes. Tool results come inside user messages there;
here they are messages of their own with role ``tool``, before the user's words of the same message.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.envelopes import OF_OTHER_FORMATS, request_of
from pipelines.intake.items import Entry, MediaPart, Message, Talk, ToolCall
from pipelines.intake.media import inline_media, linked_media, other_part
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
)
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json
from pipelines.intake.tool_definitions import offer_tools

NAME = "anthropic_messages"
VERSION = 1
TELLS = frozenset({"messages", "request", "response", "stop_reason"})
EXCLUDES: frozenset[str] = frozenset()

OWN_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
MEDIA_BLOCKS = {"image": "image", "document": "file"}


def matches(entry: Entry) -> bool:
    """Tell by the response (``type`` message, ``stop_reason``), else by top-level ``system`` or Anthropic's blocks."""
    request = request_of(entry)
    if request is None or len(entry) > 1:
        response = _response(entry)
        if "choices" in entry or not OF_OTHER_FORMATS.isdisjoint(entry):
            return False
        if response is not None:
            if "choices" in response:
                return False
            if ("stop_reason" in response or response.get("type") == "message") and "content" in response:
                return True
    return request is not None and _is_own_request(request)


def read(entry: Entry) -> Talk:
    """Read system text, history and reply. Raises BadShape for a field of another type."""
    request = request_of(entry)
    if request is None:
        request = optional_object(entry, "request") or {}
    response = _response(entry)
    if response is None:
        response = optional_object(entry, "response")
    messages: list[Message] = []
    if request.get("system") is not None:
        messages.append(_read_message({"role": "system", "content": request["system"]})[-1])
    for item in objects(request, "messages"):
        messages += _read_message(item)
    chain(messages)
    if messages and "timestamp" in entry:
        messages[-1].created_at = optional_time(entry, "timestamp")
    if response is not None:
        if "content" not in response and "error" not in response:
            raise BadShape("response must hold content or an error")
        _add_reply(messages, request, response)
    offer_tools(messages, request)
    metadata = optional_object(request, "metadata")
    return Talk(
        messages,
        first_id(entry, "conversation_id") or first_id(metadata, "conversation_id", "session_id"),
        first_id(entry, "user_id") or first_id(metadata, "user_id"),
    )


def _response(entry: Entry) -> dict[str, Any] | None:
    if "stop_reason" in entry or entry.get("type") == "message":
        return entry
    response = entry.get("response")
    return response if isinstance(response, dict) else None


def _is_own_request(request: dict[str, Any]) -> bool:
    messages = request["messages"]
    if not isinstance(messages, list):
        return False
    if "system" in request:
        return True
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list) and _has_own_block(content):
            return True
    return False


def _has_own_block(content: list[Any]) -> bool:
    return any(
        isinstance(block, dict)
        and isinstance(kind := block.get("type"), str)
        and (kind in OWN_BLOCKS or (kind in MEDIA_BLOCKS and isinstance(block.get("source"), dict)))
        for block in content
    )


def _add_reply(messages: list[Message], request: dict[str, Any], response: dict[str, Any]) -> None:
    if response.get("content") is None:
        return
    parent = last_of_chain(messages)
    reply = _read_message({"role": response.get("role") or "assistant", "content": response["content"]})
    for message in reply:
        message.parent = parent
        parent = len(messages)
        messages.append(message)
    last = messages[-1]
    last.model = optional_text(response, "model") or optional_text(request, "model")
    last.response_id = optional_id(response, "id")
    last.finish_reason = optional_text(response, "stop_reason")
    if last.finish_reason is None and "stop_reason" in response:
        last.flags.append(flags.STREAM_INCOMPLETE)


def _read_message(item: dict[str, Any]) -> list[Message]:
    """Return the tool results of a message, each by itself, and then what is left of it."""
    message = Message(role_of(item.get("role")))
    content = item.get("content")
    if content is None or isinstance(content, str):
        message.text = content or ""
        return [message]
    blocks = objects(item, "content")
    results = [read_tool_result(block) for block in blocks if block.get("type") == "tool_result"]
    spoken = [block for block in blocks if block.get("type") != "tool_result"]
    read_blocks(message, spoken)
    return [*results, message] if spoken or not results else results


def read_blocks(message: Message, blocks: list[dict[str, Any]]) -> None:
    """Read content blocks other than tool results into the message, in place. Raises BadShape for wrong types."""
    texts, thoughts = [], []
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            texts.append(text_or_empty(block, "text"))
        elif kind == "thinking":
            thoughts.append(text_or_empty(block, "thinking"))
        elif kind == "redacted_thinking":
            message.flags.append(flags.REASONING_REDACTED)
        elif kind == "tool_use":
            message.tool_calls.append(_read_tool_use(message, block))
        elif (media := _read_media(block, kind)) is not None:
            message.parts.append(media)
        else:
            message.flags.append(flags.UNKNOWN_PART)
            message.parts.append(other_part(compact_json(block, "content")))
            if isinstance(text := block.get("text"), str):
                texts.append(text)
    message.text = join_texts(texts)
    message.reasoning = join_texts(thoughts) or None


def _read_tool_use(message: Message, block: dict[str, Any]) -> ToolCall:
    name = text_or_empty(block, "name")
    if not name:
        message.flags.append(flags.TOOL_NAME_MISSING)
    value = block.get("input")
    arguments = value if isinstance(value, str) else compact_json({} if value is None else value, "input")
    return ToolCall(optional_id(block, "id"), name, arguments)


def _read_media(block: dict[str, Any], kind: Any) -> MediaPart | None:
    if isinstance(kind, str) and kind in MEDIA_BLOCKS and (source := optional_object(block, "source")) is not None:
        media_type = optional_text(source, "media_type")
        if source.get("type") == "base64" and (data := optional_text(source, "data")):
            return inline_media(MEDIA_BLOCKS[kind], media_type, data)
        if uri := optional_text(source, "url") or optional_id(source, "file_id"):
            return linked_media(MEDIA_BLOCKS[kind], media_type, uri)
    return None


def read_tool_result(block: dict[str, Any]) -> Message:
    """Read a tool result as a message of its own. Raises BadShape for wrong types."""
    message = Message("tool", tool_call_id=optional_id(block, "tool_use_id"))
    content = block.get("content")
    if isinstance(content, str):
        message.text = content
    else:
        read_blocks(message, objects(block, "content"))
    if block.get("is_error") is True:
        message.flags.append(flags.TOOL_ERROR)
    return message
