"""Examples as columns of one type whatever their tools are: arguments and tool definitions as strings of JSON."""

from __future__ import annotations

from typing import Any

import orjson
import pyarrow as pa

from pipelines.datasets.exports.example import Example, Kind, Message, UnfitExampleError

CALL = pa.struct(
    [
        ("id", pa.string()),
        ("type", pa.string()),
        ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())])),
    ]
)
MESSAGES = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("content", pa.string()),
            ("tool_calls", pa.list_(CALL)),
            ("tool_call_id", pa.string()),
            ("name", pa.string()),
        ]
    )
)
SIDES: dict[Kind, tuple[str, ...]] = {
    "sft": ("completion",),
    "conversation": ("completion",),
    "preference": ("chosen", "rejected"),
    "unpaired": ("completion",),
}


def schema(kind: Kind) -> pa.Schema:
    """Return the columns of a kind: prompt, its sides, label or mask, tools, language, source."""
    label = [("label", pa.bool_())] if kind == "unpaired" else []
    mask = [("loss_mask", pa.list_(pa.bool_()))] if kind == "conversation" else []
    sides = [(side, MESSAGES) for side in ("prompt", *SIDES[kind])]
    texts = [(name, pa.string()) for name in ("tools", "language", "source")]
    return pa.schema([*sides, *label, *mask, *texts])


def record(example: Example) -> dict[str, Any]:
    """Return the values of an example's columns; no tools are null."""
    told: dict[str, Any] = {}
    for side in ("prompt", *SIDES[example.kind]):
        told[side] = [message(m) for m in getattr(example, side)]
        if side != "prompt" and not told[side]:
            raise UnfitExampleError("an empty side")
    if example.kind == "unpaired":
        told["label"] = example.label
    if example.kind == "conversation":
        told["loss_mask"] = list(example.learned)
    tools = orjson.dumps(list(example.tools)).decode() if example.tools else None
    return told | {"tools": tools, "language": example.language, "source": example.source}


def message(one: Message) -> dict[str, Any]:
    """Return a message with all of its columns."""
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments or "{}"}}
        for c in one.calls
    ]
    return {
        "role": one.role,
        "content": one.text,
        "tool_calls": calls or None,
        "tool_call_id": one.call_id or None,
        "name": one.name or None,
    }
