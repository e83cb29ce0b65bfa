"""Definitions of the functions that a request offered the model, whatever API it was for, in one form.

Sources: OpenAI chat completions (``tools``, and ``functions`` before them) and Responses, Anthropic Messages
(``input_schema``), OpenTelemetry ``gen_ai.tool.definitions``. The form is OpenAI's, which chat templates, TRL and
LLaMA-Factory read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipelines.intake.items import Message
from pipelines.intake.json_text import load_json, looks_like_json
from pipelines.intake.shape import BadShape
from pipelines.intake.tool_arguments import compact_json

KEYS = ("tools", "functions")
PARAMETER_KEYS = ("parameters", "input_schema", "inputSchema")
KINDS = (None, "function", "custom")
"""Anthropic may call a tool with a schema ``custom``; OpenAI's custom tools have no schema and are no functions."""


def offer_tools(messages: Iterable[Message], *requests: Mapping[str, Any]) -> None:
    """Give each answer the definitions of the first request that has any, in place; what an answer has stays."""
    for request in requests:
        for key in KEYS:
            if request.get(key) and (tools := tool_definitions(request[key])) is not None:
                for message in messages:
                    if message.role == "assistant" and message.tools is None:
                        message.tools = tools
                return


def tool_definitions(logged: Any) -> str | None:
    """Return the functions of a logged list as JSON in OpenAI's form; None where it has none.

    A list or JSON text of one. What has no name, and tools that the provider runs and describes itself (web search),
    are left out; so is a list that cannot be read: it does not cost the talk.
    """
    try:
        if isinstance(logged, str) and looks_like_json(logged):
            logged = load_json(logged, "tools")
        if not isinstance(logged, list):
            return None
        functions = [function for one in logged if (function := _function(one)) is not None]
        return compact_json(functions, "tools") if functions else None
    except BadShape:
        return None


def _function(logged: Any) -> dict[str, Any] | None:
    """Return one definition; ``strict`` and what else says how to call it is no part of what it is."""
    if not isinstance(logged, dict) or logged.get("type") not in KINDS:
        return None
    inner = logged.get("function")
    told = inner if isinstance(inner, dict) else logged
    name, description = told.get("name"), told.get("description")
    schemas = [told[key] for key in PARAMETER_KEYS if isinstance(told.get(key), dict)]
    if not isinstance(name, str) or not name or (logged.get("type") == "custom" and not schemas):
        return None
    function: dict[str, Any] = {"name": name}
    if isinstance(description, str) and description:
        function["description"] = description
    if schemas:
        function["parameters"] = schemas[0]
    return {"type": "function", "function": function}
