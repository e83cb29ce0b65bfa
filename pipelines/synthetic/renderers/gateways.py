"""Gateways that log each call with both bodies: LiteLLM, Helicone, Databricks inference tables."""

from __future__ import annotations

import json

from pipelines.synthetic.dialogues import Dialogue
from pipelines.synthetic.renderers.entries import MODELS, Clock, Entry, Json, answers, conversation_id, iso
from pipelines.synthetic.renderers.openai_chat import openai_choices, openai_messages


def litellm(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One StandardLoggingPayload an answer, the session among what the caller sent along."""
    session, model, entries = conversation_id(dialogue, clock, "session-", 16), clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        response_id = f"chatcmpl-{clock.hex(24)}"
        entry: Json = {
            "id": response_id, "trace_id": clock.hex(32), "call_type": "acompletion", "stream": False,
            "status": "success", "custom_llm_provider": "mill", "model": model, "startTime": float(clock.tick()),
            "endTime": clock.now + 0.5, "response_cost": 0.0, "cache_hit": False, "end_user": dialogue.user_id,
            "metadata": {"requester_metadata": {"session_id": session}},
            "messages": openai_messages(dialogue, place),
            "response": {"id": response_id, "model": model, "choices": openai_choices(line, texts)},
            "error_str": None, "model_parameters": {}, "hidden_params": {},
        }  # fmt: skip
        entries.append(Entry(entry, place + 1, response_id))
    return entries


def helicone(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One line of the export an answer, the session among the request's properties."""
    session, model, entries = conversation_id(dialogue, clock, "session-", 16), clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        response_id = f"chatcmpl-{clock.hex(24)}"
        entry: Json = {
            "request_id": clock.hex(32), "request_created_at": iso(clock.tick()),
            "request_path": "/v1/chat/completions", "request_user_id": dialogue.user_id, "request_model": model,
            "request_properties": {"Helicone-Session-Id": session},
            "request_body": {"model": model, "messages": openai_messages(dialogue, place)},
            "response_id": response_id, "response_created_at": iso(clock.tick()), "response_status": 200,
            "response_model": model, "response_body": {"id": response_id, "choices": openai_choices(line, texts)},
            "provider": "CUSTOM", "feedback_rating": None, "signed_body_url": None, "scores": {},
        }  # fmt: skip
        entries.append(Entry(entry, place + 1, response_id))
    return entries


def databricks_inference(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One row an answer, both bodies as JSON text."""
    session, model, entries = conversation_id(dialogue, clock, "session-", 16), clock.random.choice(MODELS), []
    for place, line, texts in answers(dialogue):
        response_id = f"chatcmpl-{clock.hex(24)}"
        context = {"conversation_id": session, **({"user_id": dialogue.user_id} if dialogue.user_id else {})}
        request = {"messages": openai_messages(dialogue, place), "context": context}
        response = {"id": response_id, "model": model, "choices": openai_choices(line, texts)}
        entry: Json = {
            "databricks_request_id": clock.hex(32), "request_time": iso(clock.tick()), "status_code": 200,
            "execution_duration_ms": 412, "request": json.dumps(request), "response": json.dumps(response),
            "logging_error_codes": [], "served_entity_id": "entity-1",
        }  # fmt: skip
        entries.append(Entry(entry, place + 1, response_id))
    return entries
