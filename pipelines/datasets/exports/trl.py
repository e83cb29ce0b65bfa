"""TRL's conversational forms: prompt-completion, preference with an explicit prompt, unpaired, each with tools.

Fields: TRL's documentation, dataset formats. Arguments of a tool call are an object there. ``datasets`` 4.7 and later
reads tools and arguments that differ from row to row.
"""

from __future__ import annotations

from typing import Any

from pipelines.datasets.exports.example import Example, Message, UnfitExampleError
from pipelines.datasets.exports.form import Form, Record, kind_and_split

SIDES = {"sft": ("completion",), "unpaired": ("completion",), "preference": ("chosen", "rejected")}


def record(example: Example) -> Record:
    """Return the prompt, the sides of the example's kind, the label of an unpaired one, and tools where there are."""
    told: dict[str, Any] = {"prompt": [message(m) for m in example.prompt]}
    for side in SIDES[example.kind]:
        told[side] = [message(m) for m in getattr(example, side)]
        if not told[side]:
            raise UnfitExampleError("an empty side")
    if example.kind == "unpaired":
        if example.label is None:
            raise UnfitExampleError("an unpaired example without a label")
        told["label"] = example.label
    return told | ({"tools": list(example.tools)} if example.tools else {})


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
    words="TRL: prompt-completion, preference and unpaired JSONL with tools; loss on the completion.",
    encoding="jsonl",
    kinds=("sft", "preference", "unpaired"),
    record=record,
    file_name=kind_and_split("jsonl"),
)
