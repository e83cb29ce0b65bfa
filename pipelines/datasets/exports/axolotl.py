"""Axolotl's ``chat_template`` form with a configuration that reads it: loss on the messages marked to be trained.

Fields: Axolotl's documentation, conversation and rlhf formats. Arguments and parameters of tools are strings of JSON:
Axolotl parses them, and files whose objects differ from row to row do not load as one table.
"""

from __future__ import annotations

from typing import Any

import orjson

from pipelines.datasets.exports.example import Example, Message, last_of
from pipelines.datasets.exports.form import Form, Record, RecordFile, Subject, kind_and_split
from pipelines.datasets.exports.trl import message as chat_message

CONFIGURATION = "axolotl.yaml"


def record(example: Example) -> Record:
    """Return messages, each told whether it is trained; for a preference the prompt, ``chosen`` and ``rejected``."""
    tools = {"tools": [_tool(dict(tool)) for tool in example.tools]} if example.tools else {}
    if example.kind == "preference":
        sides = {side: _message(last_of(getattr(example, side))) for side in ("chosen", "rejected")}
        return {"messages": [_message(m) for m in example.prompt], **sides, **tools}
    earlier = [_message(m) | {"train": False} for m in example.prompt]
    marked = zip(example.completion, example.learned, strict=True)
    return {"messages": [*earlier, *(_message(m) | {"train": is_learned} for m, is_learned in marked)], **tools}


def configuration(subject: Subject) -> dict[str, bytes]:
    """Return the datasets part of an Axolotl configuration; paths are relative to the folder of the export."""
    parts = {"train": "datasets", "validation": "test_datasets"}
    lines = [f"# {subject.name}: put this into your configuration and run Axolotl in this folder."]
    if any(file.kind == "preference" for file in subject.files):
        lines.append("# Preferences are trained by themselves: keep their entries alone, with `rl: dpo`.")
    for split, part in parts.items():
        files = [file for file in subject.files if file.split == split]
        lines += [f"{part}:", *(line for file in files for line in _entry(file))] if files else []
    return {CONFIGURATION: "".join(f"{line}\n" for line in lines).encode()}


def _entry(file: RecordFile) -> list[str]:
    shared = [f"  - path: {file.name}", "    ds_type: json", "    split: train", "    field_messages: messages"]
    if file.kind == "preference":
        return [*shared, "    type: chat_template.default", "    field_chosen: chosen", "    field_rejected: rejected"]
    return [
        *shared, "    type: chat_template", "    field_tools: tools", "    roles_to_train: []",
        "    train_on_eos: turn", "    message_field_training: train",
    ]  # fmt: skip


def _message(one: Message) -> dict[str, Any]:
    told = chat_message(one)
    for call in told.get("tool_calls", ()):
        call["function"]["arguments"] = orjson.dumps(call["function"]["arguments"]).decode()
    return told


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool.get("function")
    if isinstance(function, dict) and "parameters" in function:
        tool["function"] = function | {"parameters": orjson.dumps(function["parameters"]).decode()}
    return tool


FORM = Form(
    name="axolotl",
    words="Axolotl: chat_template JSONL that says which messages are trained, with axolotl.yaml.",
    encoding="jsonl",
    kinds=("sft", "conversation", "preference"),
    record=record,
    file_name=kind_and_split("jsonl"),
    side_files=configuration,
)
