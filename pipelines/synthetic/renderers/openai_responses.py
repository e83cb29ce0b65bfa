"""OpenAI Responses: the talk as a row of items, words and calls of one turn side by side."""

from __future__ import annotations

from pipelines.synthetic.dialogues import Dialogue, Line, Media
from pipelines.synthetic.renderers.entries import (
    MODELS,
    Clock,
    Entry,
    Json,
    answers,
    arguments_text,
    data_uri,
    encoded,
)


def openai_responses(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record an answer: request with all items before, response; alternatives as records of their own."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        request: Json = {"model": model, "input": [item for one in dialogue.lines[:place] for item in _items(one)]}
        if dialogue.system:
            request["instructions"] = dialogue.system
        if dialogue.user_id:
            request["safety_identifier"] = dialogue.user_id
        if dialogue.conversation_id:
            request["conversation"] = {"id": dialogue.conversation_id}
        for text in texts:
            response = responses_body(line, text, model, clock)
            entries.append(Entry({"request": request, "response": response}, place + 1, response["id"]))
    return entries


def responses_body(line: Line, text: str, model: str, clock: Clock) -> Json:
    """Return the response that gives an answer with one of its texts."""
    return {
        "id": f"resp_{clock.hex(24)}", "object": "response", "created_at": clock.tick(), "status": "completed",
        "model": model, "output": _answer_items(line, text, clock),
    }  # fmt: skip


def _answer_items(line: Line, text: str, clock: Clock) -> list[Json]:
    items: list[Json] = []
    if text or not line.calls:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"id": f"msg_{clock.hex(24)}", "type": "message", "role": "assistant", "content": content})
    return items + [{"id": f"fc_{clock.hex(24)}", **item} for item in _call_items(line)]


def _items(line: Line) -> list[Json]:
    if line.role == "tool":
        return [{"type": "function_call_output", "call_id": line.call_id, "output": line.text}]
    if line.role == "user":
        words = [{"type": "input_text", "text": line.text}] if line.text or not line.media else []
        return [{"type": "message", "role": "user", "content": words + [_part(media) for media in line.media]}]
    words = [{"type": "output_text", "text": line.text}] if line.text or not line.calls else []
    said = [{"type": "message", "role": "assistant", "content": words}] if words else []
    return said + _call_items(line)


def _call_items(line: Line) -> list[Json]:
    return [
        {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": arguments_text(one)}
        for one in line.calls
    ]


def _part(media: Media) -> Json:
    if media.kind == "image":
        return {"type": "input_image", "image_url": data_uri(media)}
    if media.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": encoded(media), "format": "wav"}}
    return {"type": "input_file", "file_data": data_uri(media), "filename": "order.pdf"}
