"""ShareGPT and ms-swift's pairs: one record a talk."""

from __future__ import annotations

import json

from pipelines.synthetic.dialogues import Dialogue, Line
from pipelines.synthetic.renderers.entries import Clock, Entry, Json, conversation_id

_SPEAKERS = {"user": "human", "tool": "observation", "assistant": "gpt"}


def sharegpt(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk; calls and results of tools as ``function_call`` and ``observation``."""
    said = [_said(line) for line in dialogue.lines]
    entry: Json = {"id": conversation_id(dialogue, clock, "talk-", 16), "conversations": said}
    if dialogue.system:
        entry["system"] = dialogue.system
    if dialogue.user_id:
        entry["user_id"] = dialogue.user_id
    return [Entry(entry, len(dialogue.lines))]


def human_assistant_pairs(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk; each question stands beside its answer."""
    texts = [line.text for line in dialogue.lines if line.role in ("user", "assistant")]
    pairs = [{"human": texts[place], "assistant": texts[place + 1]} for place in range(0, len(texts) - 1, 2)]
    entry: Json = {"id": conversation_id(dialogue, clock, "talk-", 16), "conversation": pairs}
    if dialogue.system:
        entry["system"] = dialogue.system
    return [Entry(entry, len(dialogue.lines))]


def _said(line: Line) -> Json:
    if not line.calls:
        return {"from": _SPEAKERS[line.role], "value": line.text}
    calls = [{"name": one.name, "arguments": one.arguments} for one in line.calls]
    value = json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False)
    return {"from": "function_call", "value": value}
