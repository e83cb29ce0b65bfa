"""TRL's conversational forms: prompt-completion, preference with an explicit prompt, unpaired, each with tools.

Fields: TRL's documentation, dataset formats. Arguments of a tool call are an object there. ``datasets`` 4.7 and later
reads tools and arguments that differ from row to row.
"""

from __future__ import annotations

from typing import Any

from pipelines.datasets.exports.example import KINDS, Example, Message, UnfitExampleError
from pipelines.datasets.exports.form import Form, Record, kind_and_split

NOT_LEARNED = "answers that are not learned"
SIDES = {"sft": ("completion",), "unpaired": ("completion",), "preference": ("chosen", "rejected")}


def record(example: Example) -> Record:
    """Return the prompt, the sides of the example's kind, the label of an unpaired one, and tools where there are.

    A conversation is told as messages, for ``assistant_only_loss``: TRL has no mask, and learns all of its answers.
    """
    tools: dict[str, Any] = {"tools": list(example.tools)} if example.tools else {}
    if example.kind == "conversation":
        learned = (False,) * len(example.prompt) + example.learned
        if any(m.role == "assistant" and not mark for m, mark in zip(example.messages, learned, strict=True)):
            raise UnfitExampleError(NOT_LEARNED)
        return {"messages": [message(m) for m in example.messages], **tools}
    told: dict[str, Any] = {"prompt": [message(m) for m in example.prompt]}
    for side in SIDES[example.kind]:
        told[side] = [message(m) for m in getattr(example, side)]
        if not told[side]:
            raise UnfitExampleError("an empty side")
    if example.kind == "unpaired":
        if example.label is None:
            raise UnfitExampleError("an unpaired example without a label")
        told["label"] = example.label
    return told | tools


def message(one: Message) -> dict[str, Any]:
    """Return a message for a chat template: arguments as an object, the name of its tool on a tool message."""
    told: dict[str, Any] = {"role": one.role, "content": one.text}
    if one.calls:
        told["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.parsed}} for c in one.calls
        ]
    if one.role == "tool":
        told |= {key: value for key, value in (("name", one.name), ("tool_call_id", one.call_id)) if value}
    return told


FORM = Form(
    name="trl",
    words="TRL: prompt-completion, talks, preference and unpaired JSONL with tools; loss on the answers.",
    encoding="jsonl",
    kinds=KINDS,
    record=record,
    file_name=kind_and_split("jsonl"),
)
