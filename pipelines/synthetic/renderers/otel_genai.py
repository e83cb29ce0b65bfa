"""OpenTelemetry GenAI: events with structured attributes, the same as OTLP/JSON, and the older one event a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pipelines.synthetic.dialogues import Dialogue, Line
from pipelines.synthetic.renderers.entries import (
    MEDIA_TYPES,
    MODELS,
    Clock,
    Entry,
    Json,
    answers,
    conversation_id,
    encoded,
)
from pipelines.synthetic.renderers.openai_chat import openai_choices, openai_message


def otel_genai(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One event an answer, by the attributes of the GenAI conventions; alternatives as further output messages."""
    return [
        Entry({"event_name": "gen_ai.client.inference.operation.details", **call}, lines, response_id)
        for call, lines, response_id in _calls(dialogue, clock)
    ]


def otlp_spans(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One OTLP/JSON export request an answer: the call as a span whose messages are JSON text."""
    entries = []
    for call, lines, response_id in _calls(dialogue, clock):
        span = {
            "traceId": call["trace_id"], "spanId": call["span_id"], "name": "chat",
            "endTimeUnixNano": str(call["timestamp"] * 10**9),
            "attributes": [{"key": key, "value": _any_value(value)} for key, value in call["attributes"].items()],
        }  # fmt: skip
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "help-desk"}}]}
        scopes = [{"scope": {"name": "mill"}, "spans": [span]}]
        entries.append(Entry({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}, lines, response_id))
    return entries


def otel_message_events(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One list of events an answer, as conventions up to 1.36 have it: each message before, then the choices."""
    conversation, entries = conversation_id(dialogue, clock, "conv-", 16), []
    for place, line, texts in answers(dialogue):
        said = [("gen_ai.system.message", {"content": dialogue.system})] if dialogue.system else []
        said += [(f"gen_ai.{one.role}.message", _body(one)) for one in dialogue.lines[:place]]
        said += [("gen_ai.choice", choice) for choice in openai_choices(line, texts)]
        ids = {"trace_id": clock.hex(32), "span_id": clock.hex(16)}
        attributes = {"gen_ai.system": "mill", "gen_ai.conversation.id": conversation}
        if dialogue.user_id:
            attributes["user.id"] = dialogue.user_id
        start = clock.tick() * 10**9
        events = [
            {"event_name": name, **ids, "timestamp": start + number, "attributes": attributes, "body": body}
            for number, (name, body) in enumerate(said)
        ]
        entries.append(Entry(events, place + 1, ids["span_id"]))
    return entries


def _calls(dialogue: Dialogue, clock: Clock) -> Iterator[tuple[Json, int, str]]:
    """Yield ids, time and attributes of each model call, the lines that it holds, and its response id."""
    conversation, model = conversation_id(dialogue, clock, "conv-", 16), clock.random.choice(MODELS)
    for place, line, texts in answers(dialogue):
        finish = "tool_call" if line.calls else "stop"
        outputs = [{"role": "assistant", "parts": _parts(line, text), "finish_reason": finish} for text in texts]
        response_id = f"resp-{clock.hex(20)}"
        attributes: Json = {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "mill", "gen_ai.request.model": model,
            "gen_ai.conversation.id": conversation, "gen_ai.response.id": response_id,
            "gen_ai.response.finish_reasons": [finish for _ in outputs],
            "gen_ai.input.messages": [
                {"role": one.role, "parts": _parts(one, one.text)} for one in dialogue.lines[:place]
            ],
            "gen_ai.output.messages": outputs,
        }  # fmt: skip
        if dialogue.system:
            attributes["gen_ai.system_instructions"] = [{"type": "text", "content": dialogue.system}]
        if dialogue.user_id:
            attributes["user.id"] = dialogue.user_id
        ids = {"trace_id": clock.hex(32), "span_id": clock.hex(16), "timestamp": clock.tick()}
        yield {**ids, "attributes": attributes}, place + 1, response_id


def _parts(line: Line, text: str) -> list[Json]:
    if line.role == "tool":
        return [{"type": "tool_call_response", "id": line.call_id, "response": text}]
    parts: list[Json] = [{"type": "text", "content": text}] if text else []
    parts += [
        {"type": "blob", "modality": one.kind, "mime_type": MEDIA_TYPES[one.kind], "content": encoded(one)}
        for one in line.media
    ]
    return parts + [
        {"type": "tool_call", "id": one.id, "name": one.name, "arguments": one.arguments} for one in line.calls
    ]


def _any_value(value: Any) -> Json:
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def _body(line: Line) -> Json:
    if line.role == "tool":
        return {"id": line.call_id, "content": line.text}
    message = openai_message(line)
    return {key: message[key] for key in ("content", "tool_calls") if message.get(key)}
