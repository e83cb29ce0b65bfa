"""ShareGPT and its dialects: ``conversations`` or ``items`` of from/value (or role/content), and ms-swift's pairs.

An ``id`` counts as it stands. FastChat numbers the parts of a long talk ``x_0, x_4``, but its own sample set numbers
distinct talks in the same way, and folding those into one would hide all but one of them.
"""

from __future__ import annotations

from typing import Any

import orjson

from pipelines.intake import flags
from pipelines.intake.items import Entry, MediaPart, Message, Talk, ToolCall
from pipelines.intake.media import inline_media, linked_media
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import (
    BadShape,
    first_id,
    objects,
    optional_id,
    optional_list,
    optional_text,
    text_or_empty,
    wrong_type,
)
from pipelines.intake.tool_arguments import compact_json
from pipelines.intake.tool_definitions import offer_tools

NAME = "sharegpt"
VERSION = 1
TELLS = frozenset({"conversations", "conversation", "items"})
EXCLUDES: frozenset[str] = frozenset()

CALL_NAMES = frozenset({"function_call", "tool_call"})
ANSWER_NAMES = frozenset({"function_response", "tool_response"})
IMAGE_MARK = "<image>"


def matches(entry: Entry) -> bool:
    """Tell by a list ``conversations``, by ``items`` of from/value, or by ``conversation`` of human/assistant pairs."""
    if "messages" in entry or "rejected" in entry:
        return False
    if "conversations" in entry:
        return isinstance(entry["conversations"], list) and "conversation" not in entry
    if "conversation" in entry:
        return "human" in _first_object(entry["conversation"])
    first = _first_object(entry.get("items"))
    return "from" in first and "value" in first


def read(entry: Entry) -> Talk:
    """Read all turns in order; nothing is cleaned away. Raises BadShape for a field of another type."""
    listed = "items" if "items" in entry and "conversations" not in entry else "conversations"
    messages = [read_message(item) for item in objects(entry, listed)]
    for pair in objects(entry, "conversation"):
        messages += [Message(role, text) for role, text in _pair(pair)]
    if system := optional_text(entry, "system"):
        messages.insert(0, Message("system", system))
    model = optional_text(entry, "model")
    for message in messages:
        if message.role == "assistant":
            message.model = model
    _place_images(messages, optional_list(entry, "images"))
    offer_tools(messages, entry)
    return Talk(chain(messages), first_id(entry, "conversation_id", "id"), optional_id(entry, "user_id"))


def _first_object(items: Any) -> dict[str, Any]:
    return items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}


def _place_images(messages: list[Message], images: list[Any]) -> None:
    """Give each message the images that its marks stand for, in order; what is left goes to the first user message."""
    left = [_image(image) for image in images]
    for message in messages:
        marks = message.text.count(IMAGE_MARK) if left else 0
        message.parts += left[:marks]
        left = left[marks:]
    for message in messages:
        if message.role == "user":
            message.parts += left
            return


def _image(image: Any) -> MediaPart:
    """Return the reference of an image by path or address, or of its bytes as data set libraries write them."""
    if isinstance(image, dict):
        if encoded := optional_text(image, "bytes"):
            return inline_media("image", None, encoded)
        image = optional_text(image, "path") or optional_text(image, "url")
    if not isinstance(image, str) or not image:
        raise wrong_type("each of images", "a path or an address", image)
    return linked_media("image", None, image)


def _pair(pair: dict[str, Any]) -> list[tuple[str, str]]:
    human, assistant = optional_text(pair, "human"), optional_text(pair, "assistant")
    if human is None and assistant is None:
        raise BadShape("each of conversation must hold human or assistant")
    spoken = [] if human is None else [("user", human)]
    return spoken if assistant is None else [*spoken, ("assistant", assistant)]


def read_message(item: dict[str, Any]) -> Message:
    """Read one turn; links are left to the caller. Raises BadShape for wrong types and unknown speakers."""
    name = item.get("from", item.get("role"))
    value = text_or_empty(item, "value" if "value" in item else "content")
    if isinstance(name, str) and name in CALL_NAMES:
        message = Message("assistant")
        message.tool_calls = _read_calls(value, message)
        return message
    return Message("tool" if isinstance(name, str) and name in ANSWER_NAMES else role_of(name), value)


def _read_calls(value: str, message: Message) -> list[ToolCall]:
    """Read the JSON of one call or a list of calls; anything else is kept as arguments of a nameless call."""
    try:
        loaded = orjson.loads(value)
    except ValueError:
        loaded = None
    calls = loaded if isinstance(loaded, list) and loaded else [loaded]
    if not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        message.flags.append(flags.TOOL_NAME_MISSING)
        return [ToolCall(None, "", value)]
    return [ToolCall(optional_id(call, "id"), call["name"], _arguments(call)) for call in calls]


def _arguments(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", call.get("parameters"))
    if isinstance(arguments, str):
        return arguments
    return compact_json({} if arguments is None else arguments, "arguments")
