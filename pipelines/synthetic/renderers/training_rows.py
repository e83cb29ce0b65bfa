"""Rows of training sets and message tables: prompt and completion, Alpaca, preference pairs, one row a message."""

from __future__ import annotations

from pipelines.synthetic.dialogues import Dialogue
from pipelines.synthetic.renderers.entries import Clock, Entry, Json, answers, conversation_id, owner
from pipelines.synthetic.renderers.openai_chat import openai_choices, openai_message, openai_messages


def prompt_completion(dialogue: Dialogue, clock: Clock) -> list[Entry]:  # noqa: ARG001 - the signature of all
    """One row an answer: all before it as prompt, the answer as completion."""
    entries = []
    for place, line, texts in answers(dialogue):
        for choice in openai_choices(line, texts):
            row = {"prompt": openai_messages(dialogue, place), "completion": [choice["message"]]}
            entries.append(Entry({**row, **owner(dialogue)}, place + 1))
    return entries


def alpaca(dialogue: Dialogue, clock: Clock) -> list[Entry]:  # noqa: ARG001 - the signature of all
    """One row a talk: earlier exchanges as history, the last one as instruction and output."""
    texts = [line.text for line in dialogue.lines if line.role in ("user", "assistant")]
    *history, last = [texts[place : place + 2] for place in range(0, len(texts) - 1, 2)]
    row: Json = {"instruction": last[0], "input": "", "output": last[1], "history": history, **owner(dialogue)}
    if dialogue.system:
        row["system"] = dialogue.system
    return [Entry(row, len(dialogue.lines))]


def preference_pairs(dialogue: Dialogue, clock: Clock) -> list[Entry]:  # noqa: ARG001 - the signature of all
    """One row an answer that has an alternative: the prompt, the answer as chosen, the alternative as rejected."""
    entries = []
    for place, line, texts in answers(dialogue):
        if len(texts) == 2:
            chosen, rejected = ([choice["message"]] for choice in openai_choices(line, texts))
            row = {"prompt": openai_messages(dialogue, place), "chosen": chosen, "rejected": rejected}
            entries.append(Entry({**row, **owner(dialogue)}, place + 1))
    return entries


def message_log(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One row a message, with an id and a time of its own; alternatives as rows after it."""
    conversation = conversation_id(dialogue, clock, "conv-", 16)
    rows: list[tuple[Json, int]] = []
    if dialogue.system:
        rows.append(({"role": "system", "content": dialogue.system}, 0))
    for place, line in enumerate(dialogue.lines, 1):
        rows.append((openai_message(line), place))
        if line.alternative:
            rows.append(({"role": line.role, "content": line.alternative}, place))
    entries = []
    for message, lines in rows:
        row = {"message_id": clock.hex(16), "conversation_id": conversation, "created_at": clock.tick(), **message}
        if message["role"] == "user" and dialogue.user_id:
            row["user_id"] = dialogue.user_id
        entries.append(Entry(row, lines, row["message_id"] if message["role"] == "assistant" else None))
    return entries
