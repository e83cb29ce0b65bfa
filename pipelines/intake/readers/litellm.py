"""LiteLLM's StandardLoggingPayload, bare or under ``standard_logging_object`` as its callbacks write it.

Source: BerriAI/litellm, logging_spec.md and types/utils.py. What it redacts is no content: such a message is left out,
and the next one that is left says so. A failed call has no reply, its history is kept.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.json_text import looks_like_json
from pipelines.intake.readers.call_facts import CallFacts
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.shape import BadShape, first_id, optional_object, optional_text, optional_time
from pipelines.intake.tool_definitions import offer_tools
from schemas.records import DeadReason

NAME = "litellm"
VERSION = 1
TELLS = frozenset({"call_type", "standard_logging_object"})
EXCLUDES: frozenset[str] = frozenset()

OWN_KEYS = frozenset({"startTime", "hidden_params", "model_parameters", "response_cost"})
REDACTED = "redacted-by-litellm"
"""Stands for every message and answer where message logging is switched off (litellm, redact_messages.py)."""

SESSION_KEYS = ("session_id", "litellm_session_id", "conversation_id")
"""The docs tell callers to send ``litellm_session_id``; ``trace_id`` also groups mere retries, so it is no talk."""

PROMPT_CALLS = frozenset({"text_completion", "atext_completion", "responses", "aresponses"})
"""Calls whose input may be plain text; in all others text in place of messages means redaction."""

OTHER_CALLS = ("embedding", "image", "moderation", "transcription", "speech", "rerank")


def matches(entry: Entry) -> bool:
    """Tell by ``call_type`` beside another key of the payload, at the top or in the callbacks' wrapper."""
    payload = entry.get("standard_logging_object", entry)
    return isinstance(payload, dict) and "call_type" in payload and not OWN_KEYS.isdisjoint(payload)


def read(entry: Entry) -> Talk:
    """Read history and reply. Raises BadShape: wrong types, no chat call, or nothing left after redaction."""
    payload = entry if "call_type" in entry else optional_object(entry, "standard_logging_object") or {}
    call_type = optional_text(payload, "call_type") or ""
    if any(other in call_type for other in OTHER_CALLS):
        raise BadShape("a call of this call_type holds no talk", DeadReason.NO_MESSAGES)
    request = _request(payload, call_type)
    response = None if optional_text(payload, "status") == "failure" else _response(payload)
    if request is None and response is None:
        raise BadShape("messages and response are redacted or absent", DeadReason.NO_MESSAGES)
    talk = read_exchange(request, response)
    _drop_redacted(talk, history_lost=request is None and payload.get("messages") is not None)
    if isinstance(parameters := payload.get("model_parameters"), dict):
        offer_tools(talk.messages, parameters)
    for message in _facts(payload).add_to(talk, response is not None):
        if payload.get("cache_hit") is True:
            message.flags.append(flags.CACHE_HIT)
    metadata = optional_object(payload, "metadata") or {}
    sent = optional_object(metadata, "requester_metadata")
    talk.conversation_id = first_id(sent, *SESSION_KEYS) or first_id(metadata, *SESSION_KEYS) or talk.conversation_id
    talk.user_id = first_id(payload, "end_user") or first_id(metadata, "user_api_key_end_user_id") or talk.user_id
    return talk


def _facts(payload: dict[str, Any]) -> CallFacts:
    return CallFacts(
        optional_time(payload, "startTime"),
        optional_time(payload, "endTime"),
        optional_text(payload, "model"),
        first_id(payload, "id"),
    )


def _request(payload: dict[str, Any], call_type: str) -> Any:
    value = payload.get("messages")
    if isinstance(value, str) and not looks_like_json(value):
        if value == REDACTED or not value or call_type not in PROMPT_CALLS:
            return None
        value = [{"role": "user", "content": value}]
    response = payload.get("response")
    if isinstance(value, list) and isinstance(response, dict) and isinstance(response.get("output"), list):
        return {"input": value}
    return value or None


def _response(payload: dict[str, Any]) -> Any:
    value = payload.get("response")
    if isinstance(value, str) and not looks_like_json(value):
        return None
    if isinstance(value, dict) and value.keys() == {"text"}:
        return None
    return value or None


def _drop_redacted(talk: Talk, history_lost: bool) -> None:
    """Leave out redacted messages, link over them, and flag the message after each gap, in place."""
    kept: list[Message] = []
    places: list[int] = []
    gap = history_lost
    for message in talk.messages:
        message.parent = -1 if message.parent < 0 else places[message.parent]
        message.reasoning = None if message.reasoning == REDACTED else message.reasoning
        redacted = message.text == REDACTED
        if redacted and not message.tool_calls and not message.parts:
            places.append(message.parent)
            gap = True
            continue
        if redacted:
            message.text = ""
        if redacted or gap:
            message.flags.append(flags.UPSTREAM_REDACTED)
            gap = False
        places.append(len(kept))
        kept.append(message)
    if talk.messages and not kept:
        raise BadShape("messages and response are redacted", DeadReason.NO_MESSAGES)
    talk.messages = kept
