"""Tracing tools: Langfuse traces with one generation an answer, MLflow traces with the call in their root span."""

from __future__ import annotations

import json

from pipelines.synthetic.dialogues import Dialogue
from pipelines.synthetic.renderers.entries import MODELS, Clock, Entry, Json, answers, conversation_id, iso
from pipelines.synthetic.renderers.openai_chat import openai_choices, openai_messages


def langfuse(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One trace an answer; an alternative is a second generation with the same input."""
    session, model, entries = conversation_id(dialogue, clock, "session-", 16), clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        trace_id, asked = clock.hex(32), openai_messages(dialogue, place)
        generations: list[Json] = [
            {
                "id": clock.hex(16), "traceId": trace_id, "type": "GENERATION", "parentObservationId": None,
                "startTime": iso(clock.tick()), "endTime": iso(clock.tick()), "model": model, "input": asked,
                "output": choice["message"], "level": "DEFAULT",
            }
            for choice in openai_choices(line, texts)
        ]  # fmt: skip
        trace: Json = {
            "id": trace_id, "timestamp": generations[0]["startTime"], "name": "help-desk", "sessionId": session,
            "userId": dialogue.user_id, "tags": [], "metadata": {}, "observations": generations, "scores": [],
        }  # fmt: skip
        entries.append(Entry(trace, place + 1, generations[0]["id"]))
    return entries


def mlflow_trace(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One row of a trace table an answer, session and user in its metadata."""
    session, model, entries = conversation_id(dialogue, clock, "session-", 16), clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        response_id = f"chatcmpl-{clock.hex(24)}"
        metadata = {"mlflow.trace.session": session}
        if dialogue.user_id:
            metadata["mlflow.trace.user"] = dialogue.user_id
        request = {"model": model, "messages": openai_messages(dialogue, place)}
        response = {"id": response_id, "model": model, "choices": openai_choices(line, texts)}
        entry: Json = {
            "trace_id": f"tr-{clock.hex(32)}", "request_time": 1000 * clock.tick(), "state": "OK",
            "request": json.dumps(request), "response": json.dumps(response), "trace_metadata": metadata, "tags": {},
            "spans": [], "assessments": [],
        }  # fmt: skip
        entries.append(Entry(entry, place + 1, response_id))
    return entries
