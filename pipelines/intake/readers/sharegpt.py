"""ShareGPT and its dialects: ``conversations`` of from/value (or role/content), and ms-swift's human/assistant pairs.

An ``id`` counts as it stands. FastChat numbers the parts of a long talk ``x_0, x_4``, but its own sample set numbers
distinct talks in the same way, and folding those into one would hide all but one of them.
"""

from __future__ import annotations

from typing import Any

import orjson

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Talk, ToolCall
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import BadShape, first_id, objects, optional_id, optional_text, text_or_empty
from pipelines.intake.tool_arguments import compact_json

NAME = "sharegpt"
VERSION = 1
TELLS = frozenset({"conversations", "conversation"})
EXCLUDES: frozenset[str] = frozenset()


def matches(entry: Entry) -> bool:
    """Tell by a ``conversations`` list, or a ``conversation`` list that begins with a human/assistant pair."""
    if "messages" in entry:
        return False
    if "conversations" in entry:
        return isinstance(entry["conversations"], list) and "conversation" not in entry
    talk = entry.get("conversation")
    return isinstance(talk, list) and bool(talk) and isinstance(talk[0], dict) and "human" in talk[0]


def read(entry: Entry) -> Talk:
    """Read all turns in order; nothing is cleaned away. Raises BadShape for a field of another type."""
    messages = [_read_message(item) for item in objects(entry, "conversations")]
    for pair in objects(entry, "conversation"):
        messages += [Message(role, text) for role, text in _pair(pair)]
    if system := optional_text(entry, "system"):
        messages.insert(0, Message("system", system))
    model = optional_text(entry, "model")
    for message in messages:
        if message.role == "assistant":
            message.model = model
    return Talk(chain(messages), first_id(entry, "conversation_id", "id"), optional_id(entry, "user_id"))


def _pair(pair: dict[str, Any]) -> list[tuple[str, str]]:
    human, assistant = optional_text(pair, "human"), optional_text(pair, "assistant")
    if human is None and assistant is None:
        raise BadShape("each of conversation must hold human or assistant")
    spoken = [] if human is None else [("user", human)]
    return spoken if assistant is None else [*spoken, ("assistant", assistant)]


def _read_message(item: dict[str, Any]) -> Message:
    name = item.get("from", item.get("role"))
    value = text_or_empty(item, "value" if "value" in item else "content")
    if name == "function_call":
        message = Message("assistant")
        message.tool_calls = _read_calls(value, message)
        return message
    return Message(role_of(name), value)


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
