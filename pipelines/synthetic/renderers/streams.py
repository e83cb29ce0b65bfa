"""Streamed answers in pieces: OpenAI's chunks, Anthropic's events, the events of OpenAI Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pipelines.synthetic.dialogues import Call, Dialogue, Line
from pipelines.synthetic.renderers.anthropic_messages import anthropic_blocks
from pipelines.synthetic.renderers.entries import MODELS, Clock, Entry, Json, answers, arguments_text, owner
from pipelines.synthetic.renderers.openai_responses import responses_body


def server_sent_events(pieces: Sequence[Json], *, is_closed: bool = True) -> bytes:
    """Return the pieces as the text in which a server streams them, with OpenAI's end mark where it ``is_closed``."""
    events = [f"data: {json.dumps(piece, ensure_ascii=False)}\n\n" for piece in pieces]
    return "".join([*events, "data: [DONE]\n\n" if is_closed else ""]).encode()


def openai_chunks(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One list of chunks an answer; an alternative is a second choice in the same chunks."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        head = {"id": f"chatcmpl-{clock.hex(24)}", "object": "chat.completion.chunk", "created": clock.tick()}
        head["model"] = model
        running = [list(_choice_deltas(index, line, text, clock)) for index, text in enumerate(texts)]
        choices = _interleaved(running, clock)
        pieces: list[Json] = [{**head, "choices": [choice]} for choice in choices]
        pieces[0] |= owner(dialogue)
        pieces.append({**head, "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
        entries.append(Entry(pieces, place + 1, str(head["id"])))
    return entries


def anthropic_events(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One list of events an answer, alternatives as streams of their own."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        for text in texts:
            message: Json = {"id": f"msg_{clock.hex(24)}", "type": "message", "role": "assistant", "model": model}
            message |= {"content": [], "stop_reason": None, "usage": {"input_tokens": 9, "output_tokens": 1}}
            pieces: list[Json] = [{"type": "message_start", "message": message, **owner(dialogue)}, {"type": "ping"}]
            for index, block in enumerate(anthropic_blocks(line, text)):
                pieces += _block_events(index, block, clock)
            reason = "tool_use" if line.calls else "end_turn"
            pieces.append({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}})
            entries.append(Entry([*pieces, {"type": "message_stop"}], place + 1, message["id"]))
    return entries


def responses_events(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One list of events an answer, alternatives as streams of their own; some servers end without the output."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        for text in texts:
            whole = responses_body(line, text, model, clock)
            begun = {**whole, "status": "in_progress", "output": []}
            events: list[Json] = [{"type": "response.created", "response": begun, **owner(dialogue)}]
            for index, item in enumerate(whole["output"]):
                events += _item_events(index, item, clock)
            ended = whole if clock.random.random() < 0.5 else {**whole, "output": []}
            events.append({"type": "response.completed", "response": ended, **owner(dialogue)})
            pieces = [{**event, "sequence_number": number} for number, event in enumerate(events)]
            entries.append(Entry(pieces, place + 1, whole["id"]))
    return entries


def _pieces(text: str, clock: Clock) -> list[str]:
    """Cut a text at random places."""
    cuts = sorted(clock.random.randrange(len(text) + 1) for _ in range(min(len(text), 3)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _choice_deltas(index: int, line: Line, text: str, clock: Clock) -> Iterator[Json]:
    yield {"index": index, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    for piece in _pieces(text, clock):
        yield {"index": index, "delta": {"content": piece}, "finish_reason": None}
    for number, call in enumerate(line.calls):
        for delta in _call_deltas(number, call, clock):
            yield {"index": index, "delta": {"tool_calls": [delta]}, "finish_reason": None}
    yield {"index": index, "delta": {}, "finish_reason": "tool_calls" if line.calls else "stop"}


def _call_deltas(number: int, call: Call, clock: Clock) -> Iterator[Json]:
    begin = {"index": number, "id": call.id, "type": "function"}
    yield {**begin, "function": {"name": call.name, "arguments": ""}}
    for piece in _pieces(arguments_text(call), clock):
        yield {"index": number, "id": None, "function": {"arguments": piece}}


def _interleaved(running: list[list[Json]], clock: Clock) -> Iterator[Json]:
    """Yield the deltas of all choices, each choice's in their order."""
    left = [deltas for deltas in running if deltas]
    while left:
        deltas = clock.random.choice(left)
        yield deltas.pop(0)
        left = [deltas for deltas in left if deltas]


def _block_events(index: int, block: Json, clock: Clock) -> list[Json]:
    if block["type"] == "text":
        start = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"], clock)]
    else:
        start = {**block, "input": {}}
        written = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written, clock)]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _item_events(index: int, item: Json, clock: Clock) -> list[Json]:
    place = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        begun: Json = {**item, "content": []}
        text, kind, place["content_index"] = item["content"][0]["text"], "output_text", 0
    else:
        begun = {**item, "arguments": ""}
        text, kind = item["arguments"], "function_call_arguments"
    events = [{"type": "response.output_item.added", "output_index": index, "item": begun}]
    events += [{"type": f"response.{kind}.delta", **place, "delta": piece} for piece in _pieces(text, clock)]
    if clock.random.random() < 0.5:
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return events
