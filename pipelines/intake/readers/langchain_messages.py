"""LangChain's messages as tracing tools dump them, in the form of the chat completions API.

Source: langchain-core, messages and load.dumpd. A dump is ``{"lc": 1, "id": […, "HumanMessage"], "kwargs": {…}}``, a
plain one ``{"type": "human", "content": …}`` or ``{"type": "human", "data": {…}}``.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.shape import objects, optional_object, optional_text
from pipelines.intake.tool_arguments import compact_json

ROLE_OF_TYPE = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
}


def is_langchain_message(item: dict[str, Any]) -> bool:
    """Tell by the constructor's ``lc`` and ``kwargs``, or by a LangChain type with no role beside it."""
    if "lc" in item:
        return isinstance(item.get("kwargs"), dict)
    return "role" not in item and _type_of(item.get("type")) in ROLE_OF_TYPE and ("content" in item or "data" in item)


def to_openai_message(item: dict[str, Any]) -> dict[str, Any]:
    """Return the message with OpenAI's keys; an unknown class keeps its name as role. Raises BadShape as readers do."""
    fields = optional_object(item, "kwargs") if "lc" in item else optional_object(item, "data")
    fields = item if fields is None else fields
    name = _type_of(fields.get("type") or item.get("type"))
    if "lc" in item and name not in ROLE_OF_TYPE:
        name = _type_of_class(item.get("id"))
    extra = optional_object(fields, "additional_kwargs") or {}
    message: dict[str, Any] = {"role": ROLE_OF_TYPE.get(name, name), "content": fields.get("content")}
    if name == "chat":
        message["role"] = fields.get("role")
    calls = [_to_openai_call(call) for call in objects(fields, "tool_calls")]
    if calls or "tool_calls" in extra:
        message["tool_calls"] = calls or extra["tool_calls"]
    elif "function_call" in extra:
        message["function_call"] = extra["function_call"]
    for key in ("tool_call_id", "name"):
        if fields.get(key) is not None:
            message[key] = fields[key]
    return message


def _to_openai_call(call: dict[str, Any]) -> dict[str, Any]:
    if "args" not in call:
        return call
    value = call["args"]
    arguments = value if isinstance(value, str) else compact_json({} if value is None else value, "args")
    return {"id": call.get("id"), "function": {"name": optional_text(call, "name"), "arguments": arguments}}


def _type_of(name: Any) -> str:
    return name.removesuffix("MessageChunk").lower() if isinstance(name, str) else ""


def _type_of_class(path: Any) -> str:
    """Return the type of a class path: ``["langchain", "schema", "messages", "HumanMessage"]`` is human."""
    name = path[-1] if isinstance(path, list) and path else path
    return name.removesuffix("Chunk").removesuffix("Message").lower() if isinstance(name, str) else ""
