"""LLaMA-Factory's ShareGPT form with its ``dataset_info.json``: SFT with tools, preference, KTO.

Fields: LLaMA-Factory, data/README.md. A talk alternates: human or observation, then gpt or function_call; a talk that
does not is skipped by the trainer, so it is left out here and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from pipelines.datasets.exports.example import Example, Message, UnfitExampleError, last_of
from pipelines.datasets.exports.form import Form, Record, Subject, kind_and_split

ASKING, ANSWERING = ("human", "observation"), ("gpt", "function_call")
SEVERAL_RESULTS = "\n</tool_response>\n<tool_response>\n"
"""Between results of calls that were made at once, as LLaMA-Factory joins those of OpenAI's form."""


def record(example: Example) -> Record:
    """Return the talk, system and tools beside it; a preference's ``chosen`` and ``rejected``, or ``kto_tag``."""
    is_pair = example.kind == "preference"
    systems = [m.text for m in example.prompt if m.role == "system"]
    if len(systems) > 1 or (systems and example.prompt[0].role != "system"):
        raise UnfitExampleError("a system message inside the talk")
    talk = _talk([m for m in (example.prompt if is_pair else example.messages) if m.role != "system"])
    if not talk or len(talk) % 2 != is_pair:
        raise UnfitExampleError("roles that do not alternate")
    told: dict[str, Any] = {"conversations": talk}
    if is_pair:
        told |= {side: _turn(last_of(getattr(example, side))) for side in ("chosen", "rejected")}
    if example.kind == "unpaired":
        if example.label is None:
            raise UnfitExampleError("an unpaired example without a label")
        told["kto_tag"] = example.label
    tools = orjson.dumps([tool.get("function", tool) for tool in example.tools]).decode() if example.tools else ""
    return told | {"system": systems[0] if systems else "", "tools": tools}


def dataset_info(subject: Subject) -> dict[str, bytes]:
    """Return ``dataset_info.json``: each file of records under the name VERSION_KIND_SPLIT."""
    entries = {}
    for file in subject.files:
        columns = {"messages": "conversations", "system": "system", "tools": "tools"}
        entry: dict[str, Any] = {"file_name": file.name, "formatting": "sharegpt", "columns": columns}
        if file.kind == "preference":
            entry["ranking"] = True
            columns |= {"chosen": "chosen", "rejected": "rejected"}
        if file.kind == "unpaired":
            columns["kto_tag"] = "kto_tag"
        entries[f"{subject.name}_{file.kind}_{file.split}"] = entry | {"columns": columns}
    return {"dataset_info.json": orjson.dumps(entries, option=orjson.OPT_INDENT_2) + b"\n"}


def _talk(messages: Sequence[Message]) -> list[dict[str, str]]:
    talk: list[dict[str, str]] = []
    for one in messages:
        turn = _turn(one)
        if turn["from"] == "observation" and talk and talk[-1]["from"] == "observation":
            talk[-1]["value"] += SEVERAL_RESULTS + turn["value"]
            continue
        if turn["from"] not in (ANSWERING if len(talk) % 2 else ASKING):
            raise UnfitExampleError("roles that do not alternate")
        talk.append(turn)
    return talk


def _turn(one: Message) -> dict[str, str]:
    if one.calls:
        if one.text.strip():
            raise UnfitExampleError("text beside tool calls")
        calls = [{"name": call.name, "arguments": call.parsed} for call in one.calls]
        return {"from": "function_call", "value": orjson.dumps(calls[0] if len(calls) == 1 else calls).decode()}
    return {"from": {"user": "human", "assistant": "gpt", "tool": "observation"}[one.role], "value": one.text}


FORM = Form(
    name="llama-factory",
    words="LLaMA-Factory: ShareGPT JSONL with dataset_info.json; train it with mask_history: true.",
    encoding="jsonl",
    kinds=("sft", "preference", "unpaired"),
    record=record,
    file_name=kind_and_split("jsonl"),
    side_files=dataset_info,
)
