"""OpenAI chat completions: request and response of each answer, or the messages alone."""

from __future__ import annotations

from typing import Any

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
    owner,
)

_TOOLS = ("get_order", "save_contact", "find_customer")


def openai_chat(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record an answer: request with history, response; an alternative is a second choice or record."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        request: Json = {"model": model, "messages": openai_messages(dialogue, place), "temperature": 0.2}
        if dialogue.user_id:
            request["user"] = dialogue.user_id
        if any(one.calls for one in dialogue.lines):
            request["tools"] = [
                {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in _TOOLS
            ]
        together = len(texts) == 1 or clock.random.random() < 0.5
        for batch in [texts] if together else [[text] for text in texts]:
            usage = {"prompt_tokens": 40 * place + 9, "completion_tokens": len(line.text) // 4}
            response: Json = {
                "id": f"chatcmpl-{clock.hex(24)}", "object": "chat.completion", "created": clock.tick(), "model": model,
                "choices": openai_choices(line, batch), "usage": usage,
            }  # fmt: skip
            envelope = {"timestamp": clock.now, "workload_id": "help-desk", "client_id": "shop", "request": request}
            if dialogue.conversation_id:
                envelope["conversation_id"] = dialogue.conversation_id
            entries.append(Entry({**envelope, "response": response}, place + 1, response["id"]))
    return entries


def plain_messages(dialogue: Dialogue, clock: Clock) -> list[Entry]:  # noqa: ARG001 - the signature of every renderer
    """One record a talk: nothing but its messages and whose they are."""
    messages = openai_messages(dialogue, len(dialogue.lines))
    return [Entry({"messages": messages, **owner(dialogue)}, len(dialogue.lines))]


def openai_messages(dialogue: Dialogue, count: int) -> list[Json]:
    """Return the system prompt and the first ``count`` lines as messages of the chat completions API."""
    system = [{"role": "system", "content": dialogue.system}] if dialogue.system else []
    return system + [openai_message(line) for line in dialogue.lines[:count]]


def openai_message(line: Line) -> Json:
    """Return a line as a message of the chat completions API."""
    message: Json = {"role": line.role, "content": _content(line)}
    if line.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": arguments_text(one)}}
            for one in line.calls
        ]
    if line.call_id:
        message["tool_call_id"] = line.call_id
    return message


def openai_choices(line: Line, texts: list[str]) -> list[Json]:
    """Return the choices of a response: the line with each of its texts."""
    reason = "tool_calls" if line.calls else "stop"
    return [
        {"index": index, "message": {**openai_message(line), "content": text or None}, "finish_reason": reason}
        for index, text in enumerate(texts)
    ]


def _content(line: Line) -> Any:
    if not line.media:
        return line.text or None
    words = [{"type": "text", "text": line.text}] if line.text else []
    return words + [_part(media) for media in line.media]


def _part(media: Media) -> Json:
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": data_uri(media)}}
    if media.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": encoded(media), "format": "wav"}}
    return {"type": "file", "file": {"file_data": data_uri(media), "filename": "order.pdf"}}
