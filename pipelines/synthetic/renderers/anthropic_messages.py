"""Anthropic Messages: content in blocks, results of tools in user messages."""

from __future__ import annotations

from typing import Any

from pipelines.synthetic.dialogues import Dialogue, Line, Media
from pipelines.synthetic.renderers.entries import MEDIA_TYPES, MODELS, Clock, Entry, Json, answers, encoded


def anthropic_messages(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record an answer, alternatives as records of their own."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        request: Json = {"model": model, "max_tokens": 512}
        if dialogue.system:
            request["system"] = [{"type": "text", "text": dialogue.system}]
        if dialogue.user_id:
            request["metadata"] = {"user_id": dialogue.user_id}
        request["messages"] = [_message(one) for one in dialogue.lines[:place]]
        for text in texts:
            response: Json = {
                "id": f"msg_{clock.hex(24)}", "type": "message", "role": "assistant", "model": model,
                "content": anthropic_blocks(line, text), "stop_reason": "tool_use" if line.calls else "end_turn",
                "usage": {"input_tokens": 40 * place + 9, "output_tokens": len(line.text) // 4},
            }  # fmt: skip
            entry: Json = {"request": request, "response": response}
            if dialogue.conversation_id:
                entry["conversation_id"] = dialogue.conversation_id
            entries.append(Entry(entry, place + 1, response["id"]))
    return entries


def anthropic_blocks(line: Line, text: str) -> list[Json]:
    """Return the content of an answer: its words, then its calls."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    return blocks + [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in line.calls]


def _message(line: Line) -> Json:
    if line.role == "tool":
        result = {"type": "tool_result", "tool_use_id": line.call_id, "content": line.text, "is_error": False}
        return {"role": "user", "content": [result]}
    return {"role": line.role, "content": _content(line) if line.role == "user" else anthropic_blocks(line, line.text)}


def _content(line: Line) -> Any:
    if not line.media:
        return line.text
    words = [{"type": "text", "text": line.text}] if line.text else []
    return words + [_block(media) for media in line.media]


def _block(media: Media) -> Json:
    source = {"type": "base64", "media_type": MEDIA_TYPES[media.kind], "data": encoded(media)}
    return {"type": "image" if media.kind == "image" else "document", "source": source}
