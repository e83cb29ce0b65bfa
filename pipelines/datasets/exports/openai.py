"""OpenAI's chat JSONL for fine-tuning, with tools and weights, and its preference form.

Fields: OpenAI's guides on supervised fine-tuning, function calling and direct preference optimization. Together and
Fireworks read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipelines.datasets.exports.example import Example, Message, UnfitExampleError, last_of
from pipelines.datasets.exports.form import Form, Record, kind_and_split


def record(example: Example) -> Record:
    """Return messages with their weights or, for a preference, input and both outputs."""
    tools: dict[str, Any] = {"tools": list(example.tools)} if example.tools else {}
    if example.kind == "preference":
        sides = {"preferred_output": example.chosen, "non_preferred_output": example.rejected}
        told: dict[str, Any] = {"input": {"messages": [message(m) for m in example.prompt], **tools}}
        return told | {name: [message(last_of(side))] for name, side in sides.items()}
    return {"messages": [*_earlier(example.prompt), *_target(example)], **tools}


def message(one: Message) -> dict[str, Any]:
    """Return a message as the API takes it: arguments as a string, no content beside bare tool calls."""
    if one.role == "tool" and not one.call_id:
        raise UnfitExampleError("a tool message that answers no call")
    told: dict[str, Any] = {"role": one.role}
    if one.text or not one.calls:
        told["content"] = one.text
    if one.calls:
        told["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments or "{}"}}
            for c in one.calls
        ]
    if one.role == "tool":
        told["tool_call_id"] = one.call_id
    return told


def _earlier(prompt: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the prompt; its answers are examples of their own and weigh nothing here."""
    return [message(m) | ({"weight": 0} if m.role == "assistant" else {}) for m in prompt]


def _target(example: Example) -> list[dict[str, Any]]:
    marked = zip(example.completion, example.learned, strict=True)
    return [message(m) | ({"weight": int(is_learned)} if m.role == "assistant" else {}) for m, is_learned in marked]


FORM = Form(
    name="openai",
    words="OpenAI chat JSONL: messages with weights and tools, preferences as input and two outputs.",
    encoding="jsonl",
    kinds=("sft", "conversation", "preference"),
    record=record,
    file_name=kind_and_split("jsonl"),
)
