"""OpenAI Responses: request and response in an envelope, either of them alone, or the event that ends a stream.

Source: OpenAI Responses API. There a turn of the assistant is a row of items (reasoning, words, calls); here the items
up to the next message or tool answer are one message, as in the chat completions API, so that a talk is the same in
both. History may live in a chain of responses: a request that names the one before it holds only what came after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.intake import flags
from pipelines.intake.envelopes import OF_OTHER_FORMATS
from pipelines.intake.items import Entry, MediaPart, Message, Talk, ToolCall
from pipelines.intake.media import inline_media, linked_media, other_part
from pipelines.intake.roles import chain, role_of
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
from pipelines.intake.streams.responses_events import is_terminal
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json
from pipelines.intake.tool_definitions import offer_tools

NAME = "openai_responses"
VERSION = 1
TELLS = frozenset({"input", "output", "request", "response"})
EXCLUDES: frozenset[str] = frozenset()

OF_OTHERS = (OF_OTHER_FORMATS - {"conversation"}) | {
    *(
        "messages",
        "choices",
        "conversation_hash",
        "message_tree_id",
        "mapping",
        "tstamp",
        "chat_messages",
        "attributes",
    ),
    *("feedback", "stop_reason", "chosen", "instruction", "completion", "traceId", "projectId", "info"),
}
OF_OTHER_INPUTS = frozenset({"output", "encoding_format", "dimensions", "voice", "messages", "choices"})
"""Keys beside ``input`` of calls that are no talk: embeddings, speech; and of what tracing tools log."""

TEXT_PARTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
IMAGE_PARTS = ("input_image", "computer_screenshot")
CALLS = ("function_call", "custom_tool_call")
ARGUMENT_KEYS = ("arguments", "input", "action", "operation")
USER_KEYS = ("user", "safety_identifier")
COMPLETED = "completed"


@dataclass(slots=True)
class _Items:
    """Messages made of the items so far. ``open`` is the assistant's turn that further items go on.

    ``call_ids`` has the call id of each call's item id: answers may name either (NousResearch/hermes-agent, issue
    58179).
    """

    call_ids: dict[str, str]
    messages: list[Message] = field(default_factory=list)
    open: Message | None = None
    refers_elsewhere: bool = False


def matches(entry: Entry) -> bool:
    """Tell by a response with ``output``, else by a request with ``input``, in an entry of no other format."""
    if not OF_OTHERS.isdisjoint(entry) or isinstance(entry.get("conversation"), list):
        return False
    request = entry.get("request")
    if isinstance(request, dict) and ("messages" in request or "prompt" in request and "input" not in request):
        return False
    response = _response(entry)
    if response is not None and "choices" not in response:
        return True
    if "request" not in entry:
        return "response" not in entry and _is_request(entry)
    if not isinstance(request, dict) or not _is_request(request):
        return False
    answer = entry.get("response")
    return answer is None or (isinstance(answer, dict) and "error" in answer and "choices" not in answer)


def read(entry: Entry) -> Talk:
    """Read instructions, input and output. Raises BadShape for a field of another type.

    ``history_missing`` is set on the first message where the request goes on from a response before it, or refers to
    items by id alone.
    """
    request = entry if "input" in entry else optional_object(entry, "request") or {}
    response = _response(entry)
    if response is None and (answer := optional_object(entry, "response")) is not None and "error" not in answer:
        raise BadShape("response must hold output or an error")
    given = _input_items(request)
    output = objects(response or {}, "output")
    items = _Items(_call_ids((*given, *output)))
    for item in (*_instructions(request, response), *given):
        _add_item(items, item)
    if items.messages and "timestamp" in entry:
        items.messages[-1].created_at = optional_time(entry, "timestamp")
    known = len(items.messages)
    items.open = None
    for item in output:
        _add_item(items, item)
    chain(items.messages)
    if response is not None:
        _add_facts(items.messages[known:], request, response)
    sources = [request, response or {}]
    previous = first_id(request, "previous_response_id") or first_id(response, "previous_response_id")
    if previous is not None or items.refers_elsewhere:
        _flag_first(items.messages)
    offer_tools(items.messages, *sources)
    return Talk(
        items.messages, _conversation_id(entry, sources), _user_id(entry, sources), previous_response_id=previous
    )


def _response(entry: Entry) -> dict[str, Any] | None:
    """Return the response in the entry: itself, that of the event which ends a stream, or that of an envelope."""
    if entry.get("object") == "response":
        return entry if isinstance(entry.get("output"), list) else None
    response = entry.get("response")
    if not isinstance(response, dict):
        return None
    if "type" in entry and "request" not in entry:
        return response if is_terminal(entry) else None
    return response if response.get("object") == "response" or isinstance(response.get("output"), list) else None


def _is_request(body: dict[str, Any]) -> bool:
    """Tell a request for an answer from one for embeddings, speech or moderation, which also have ``input``."""
    if "model" not in body and "instructions" not in body and "previous_response_id" not in body:
        return False
    if not OF_OTHER_INPUTS.isdisjoint(body):
        return False
    given = body.get("input")
    if isinstance(given, list):
        return bool(given) and all(isinstance(item, dict) and ("role" in item or "type" in item) for item in given)
    return isinstance(given, str)


def _input_items(request: dict[str, Any]) -> list[dict[str, Any]]:
    given = request.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return objects(request, "input")


def _instructions(request: dict[str, Any], response: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the system text as items; a response repeats that of its request."""
    for source in (request, response or {}):
        value = source.get("instructions")
        if isinstance(value, str) and value:
            return [{"role": "system", "content": value}]
        if value:
            return objects(source, "instructions")
    return []


def _call_ids(items: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {
        item["id"]: item["call_id"]
        for item in items
        if _is_call(item) and isinstance(item.get("id"), str) and isinstance(item.get("call_id"), str)
    }


def _is_call(item: dict[str, Any]) -> bool:
    """Tell whether the caller of the API answers the item; calls that the server makes itself have no call id."""
    kind = item.get("type")
    return kind in CALLS or (isinstance(kind, str) and kind.endswith("_call") and "call_id" in item)


def _add_item(items: _Items, item: dict[str, Any]) -> None:
    kind = item.get("type")
    if kind == "message" or (kind is None and "role" in item):
        _add_message(items, item)
    elif kind == "item_reference":
        items.refers_elsewhere = True
    elif isinstance(kind, str) and kind.endswith("_call_output"):
        items.messages.append(_read_answer(item, items.call_ids))
        items.open = None
    else:
        _add_to_turn(_turn(items), item, kind)


def _add_message(items: _Items, item: dict[str, Any]) -> None:
    role = role_of(item.get("role"))
    message = _turn(items) if role == "assistant" else Message(role)
    content = item.get("content")
    if content is None or isinstance(content, str):
        text = content or ""
    else:
        text = _read_parts(message, objects(item, "content"))
    message.text = join_texts((message.text, text))
    if role != "assistant":
        items.messages.append(message)
        items.open = None


def _turn(items: _Items) -> Message:
    """Return the turn of the assistant that goes on, or a new one."""
    if items.open is None:
        items.open = Message("assistant")
        items.messages.append(items.open)
    return items.open


def _add_to_turn(message: Message, item: dict[str, Any], kind: Any) -> None:
    if kind == "reasoning":
        _add_reasoning(message, item)
    elif _is_call(item):
        name = text_or_empty(item, "name")
        if not name and kind not in CALLS:
            name = kind.removesuffix("_call")
        if not name:
            message.flags.append(flags.TOOL_NAME_MISSING)
        call_id = optional_id(item, "call_id") or optional_id(item, "id")
        message.tool_calls.append(ToolCall(call_id, name, _arguments(item)))
    else:
        message.flags.append(flags.UNKNOWN_PART)
        message.parts.append(other_part(compact_json(item, "each item")))


def _arguments(item: dict[str, Any]) -> str:
    for key in ARGUMENT_KEYS:
        if (value := item.get(key)) is not None:
            return value if isinstance(value, str) else compact_json(value, key)
    return ""


def _add_reasoning(message: Message, item: dict[str, Any]) -> None:
    """Add the model's reasoning, where it is hidden its summary."""
    thoughts = [text_or_empty(part, "text") for part in objects(item, "content")]
    if not any(thoughts):
        thoughts = [text_or_empty(part, "text") for part in objects(item, "summary")]
    if not any(thoughts) and item.get("encrypted_content"):
        message.flags.append(flags.REASONING_REDACTED)
    message.reasoning = join_texts((message.reasoning or "", *thoughts)) or None


def _read_answer(item: dict[str, Any], call_ids: dict[str, str]) -> Message:
    named = first_id(item, "call_id", "id")
    message = Message("tool", tool_call_id=call_ids.get(named, named) if named is not None else None)
    output = item.get("output")
    if isinstance(output, str):
        message.text = output
    elif isinstance(output, (dict, list)):
        parts = [output] if isinstance(output, dict) else output
        if all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts):
            message.text = _read_parts(message, parts)
        else:
            message.text = compact_json(output, "output")
    elif output is not None:
        raise wrong_type("output", "a string, an object or a list", output)
    if item.get("status") == "failed":
        message.flags.append(flags.TOOL_ERROR)
    return message


def _read_parts(message: Message, parts: Sequence[dict[str, Any]]) -> str:
    """Add media and flags of the parts to the message, in place; return their text."""
    texts = []
    for part in parts:
        kind = part.get("type")
        if kind in TEXT_PARTS:
            texts.append(text_or_empty(part, "text"))
        elif kind == "refusal":
            texts.append(text_or_empty(part, "refusal"))
            message.flags.append(flags.REFUSAL)
        elif kind == "output_audio":
            texts.append(text_or_empty(part, "transcript"))
            if data := optional_text(part, "data"):
                message.parts.append(inline_media("audio", None, data))
        elif (media := _read_media(part, kind)) is not None:
            message.parts.append(media)
        else:
            message.flags.append(flags.UNKNOWN_PART)
            message.parts.append(other_part(compact_json(part, "content")))
            if isinstance(text := part.get("text"), str):
                texts.append(text)
    return join_texts(texts)


def _read_media(part: dict[str, Any], kind: Any) -> MediaPart | None:
    if kind in IMAGE_PARTS:
        uri = optional_text(part, "image_url") or optional_id(part, "file_id")
        return linked_media("image", None, uri) if uri else None
    if kind == "input_file":
        if data := optional_text(part, "file_data"):
            return linked_media("file", None, data) if data.startswith("data:") else inline_media("file", None, data)
        uri = optional_text(part, "file_url") or optional_id(part, "file_id")
        return linked_media("file", None, uri) if uri else None
    if kind == "input_audio":
        audio = optional_object(part, "input_audio") or part
        form = optional_text(audio, "format")
        if data := optional_text(audio, "data"):
            return inline_media("audio", f"audio/{form}" if form else None, data)
    return None


def _add_facts(replies: list[Message], request: dict[str, Any], response: dict[str, Any]) -> None:
    """Set model, id and time on what the response says, and how it ended on its last turn."""
    answers = [message for message in replies if message.role == "assistant"]
    model = optional_text(response, "model") or optional_text(request, "model")
    response_id, created_at = optional_id(response, "id"), optional_time(response, "created_at")
    for message in answers:
        message.model, message.response_id, message.created_at = model, response_id, created_at
    status = optional_text(response, "status")
    details = optional_object(response, "incomplete_details") or {}
    if answers:
        answers[-1].finish_reason = (optional_text(details, "reason") if status == "incomplete" else None) or status
        if "status" in response and status != COMPLETED:
            answers[-1].flags.append(flags.STREAM_INCOMPLETE)


def _flag_first(messages: list[Message]) -> None:
    for message in messages:
        if message.role != "system":
            message.flags.append(flags.HISTORY_MISSING)
            return


def _conversation_id(entry: Entry, sources: list[dict[str, Any]]) -> str | None:
    found = first_id(entry, "conversation_id")
    for source in sources:
        if found is None and "conversation" in source:
            conversation = source["conversation"]
            found = optional_id(conversation if isinstance(conversation, dict) else {"id": conversation}, "id")
        if found is None and "metadata" in source:
            found = first_id(optional_object(source, "metadata"), "conversation_id", "session_id")
    return found


def _user_id(entry: Entry, sources: list[dict[str, Any]]) -> str | None:
    found = first_id(entry, "user_id", *USER_KEYS)
    for source in sources:
        found = found or first_id(source, *USER_KEYS)
    return found
