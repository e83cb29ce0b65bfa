"""A traced model call: input and output are any JSON that the application handed to its tracing tool."""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Talk
from pipelines.intake.json_text import load_json, looks_like_json
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.readers.langchain_messages import is_langchain_message, to_openai_message
from pipelines.intake.shape import BadShape, objects, wrong_type

ENVELOPE_KEYS = frozenset({"role", "messages", "choices", "lc", "tool_calls", "generations"})
"""Keys that make JSON text a message and not the words of one: models answer in JSON too."""

INPUT_TEXTS = ("input", "prompt", "question", "query", "text", "content")
OUTPUT_TEXTS = ("output", "completion", "answer", "response", "result", "text", "content")


def read_traced_call(call_input: Any, call_output: Any) -> Talk:
    """Read a call as ``read_exchange`` does, from any of the forms that tracing tools log.

    Input: text, a message or a list of them (OpenAI, Anthropic, LangChain), an object with ``messages`` or a request.
    Output: text, a message, a response, an object with ``messages``. Raises BadShape for anything else.
    """
    return read_exchange(_request(_unwrapped(call_input)), _response(_unwrapped(call_output)))


def _unwrapped(value: Any) -> Any:
    """Decode JSON text that holds messages, and open the list around LangChain's batch of one."""
    if isinstance(value, str) and looks_like_json(value):
        try:
            loaded = load_json(value, "input or output")
        except BadShape:
            return value
        first = loaded[0] if isinstance(loaded, list) and loaded else loaded
        first = first[0] if isinstance(first, list) and first else first
        if not isinstance(first, dict) or (ENVELOPE_KEYS.isdisjoint(first) and not is_langchain_message(first)):
            return value
        value = loaded
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    return value


def _request(value: Any) -> dict[str, Any] | None:
    if value is None or value == [] or value == {}:
        return None
    if isinstance(value, str):
        return {"messages": [{"role": "user", "content": value}]}
    if isinstance(value, list):
        return {"messages": [_message(item, "user", "input") for item in value]}
    if not isinstance(value, dict):
        raise wrong_type("input", "text, an object or a list", value)
    if "messages" in value:
        return _with_messages(value, "user")
    if isinstance(value.get("input"), list):
        return value
    if "role" in value or is_langchain_message(value):
        return {"messages": [_message(value, "user", "input")]}
    return {"messages": [{"role": "user", "content": _only_text(value, INPUT_TEXTS, "input")}]}


def _response(value: Any) -> dict[str, Any] | None:
    if value is None or value == [] or value == {}:
        return None
    if isinstance(value, str):
        return _reply({"role": "assistant", "content": value})
    if isinstance(value, list):
        return _response_list(value)
    if not isinstance(value, dict):
        raise wrong_type("output", "text, an object or a list", value)
    if "messages" in value:
        return _with_messages(value, "assistant")
    if "generations" in value:
        return _response(_first_generation(value))
    if _is_response(value):
        return value
    if is_langchain_message(value) or not {"role", "tool_calls", "function_call"}.isdisjoint(value):
        return _reply(_message(value, "assistant", "output"))
    if isinstance(value.get("content"), list):
        return _reply({"role": "assistant", "content": value["content"]})
    return _reply({"role": "assistant", "content": _only_text(value, OUTPUT_TEXTS, "output")})


def _is_response(value: dict[str, Any]) -> bool:
    if "choices" in value or isinstance(value.get("output"), list):
        return True
    return "content" in value and ("stop_reason" in value or value.get("type") == "message")


def _response_list(items: list[Any]) -> dict[str, Any] | None:
    if len(items) == 1 and isinstance(items[0], str):
        return _reply({"role": "assistant", "content": items[0]})
    found = objects({"output": items}, "output")
    if "message" in found[0]:
        return {"choices": found}
    if "role" not in found[0] and isinstance(found[0].get("type"), str) and not is_langchain_message(found[0]):
        return {"type": "message", "role": "assistant", "content": found}
    return {"messages": [_message(item, "assistant", "output") for item in found]}


def _first_generation(value: dict[str, Any]) -> Any:
    """Return the first message or text of LangChain's LLMResult: ``{"generations": [[{"text", "message"}]]}``."""
    generations = value["generations"]
    while isinstance(generations, list):
        if not generations:
            return None
        generations = generations[0]
    if not isinstance(generations, dict):
        raise wrong_type("each of generations", "an object", generations)
    return generations.get("message") or generations.get("text")


def _with_messages(value: dict[str, Any], role: str) -> dict[str, Any]:
    items = value["messages"]
    if isinstance(items, str):
        return {**value, "messages": [{"role": role, "content": items}]}
    if not isinstance(items, list):
        raise wrong_type("messages", "a list", items)
    items = items[0] if len(items) == 1 and isinstance(items[0], list) else items
    return {**value, "messages": [_message(item, role, "messages") for item in items]}


def _message(item: Any, role: str, where: str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"role": role, "content": item}
    if not isinstance(item, dict):
        raise wrong_type(f"each of {where}", "a message", item)
    if is_langchain_message(item):
        return to_openai_message(item)
    return item if "role" in item else {"role": role, **item}


def _reply(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


def _only_text(value: dict[str, Any], keys: tuple[str, ...], where: str) -> str:
    """Return the text of an object that says one thing; which of several would be the words is a guess."""
    texts = [value[key] for key in keys if isinstance(value.get(key), str)]
    if len(texts) != 1:
        raise BadShape(f"{where} must hold messages or one text under {', '.join(keys)}")
    return str(texts[0])
