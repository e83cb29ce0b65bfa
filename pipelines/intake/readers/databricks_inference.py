"""Databricks inference tables: one row a request to a serving endpoint, both bodies as JSON text.

Source: Databricks documentation, inference tables. Custom models have ``timestamp_ms`` and ``execution_time_ms``, AI
Gateway ``request_time``, ``execution_duration_ms`` and ``requester``, its beta ``event_time`` and ``invocation_id``. An
answer counts only with a status of 200 to 299: an error body is not what the model said.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Entry, Talk
from pipelines.intake.json_text import load_body, looks_like_json
from pipelines.intake.readers.call_facts import CallFacts
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.readers.served_tables import is_served_table, read_served_table
from pipelines.intake.shape import BadShape, first_id, optional_list, optional_number, optional_object, optional_time
from schemas.records import DeadReason

NAME = "databricks_inference"
VERSION = 1
TELLS = frozenset({"databricks_request_id", "served_entity_id", "logging_error_codes"})
EXCLUDES: frozenset[str] = frozenset()

ID_KEYS = ("databricks_request_id", "invocation_id")
TIME_KEYS = ("request_time", "timestamp_ms", "event_time")


def matches(entry: Entry) -> bool:
    """Tell by the request id, the served entity or the logging errors beside ``request`` and ``response``."""
    return not TELLS.isdisjoint(entry) and "request" in entry and "response" in entry


def read(entry: Entry) -> Talk:
    """Read the call. Raises BadShape: wrong types, no chat, or ``no_messages`` where the table logged no body.

    The user is the one that the caller names, else the ``requester``, a person or an application.
    """
    request = load_body(entry.get("request"), "request")
    answered = _is_success(entry)
    response = entry.get("response") if answered else None
    if not request and not response:
        codes = len(optional_list(entry, "logging_error_codes"))
        raise BadShape(f"the table holds no body, with {codes} logging_error_codes", DeadReason.NO_MESSAGES)
    if is_served_table(request):
        text = response if isinstance(response, str) and not looks_like_json(response) else None
        talk = read_served_table(request, load_body(response, "response") if text is None else text)
    else:
        talk = read_exchange(request, response)
    facts = CallFacts(_asked_at(entry), response_id=first_id(entry, *ID_KEYS))
    facts.add_to(talk, answered and bool(response))
    _place(talk, entry, request)
    return talk


def _is_success(entry: Entry) -> bool:
    """Tell by the status code, which older tables hold as a string; a missing one says nothing against the answer."""
    code = entry.get("status_code")
    if isinstance(code, str) and code.isdecimal() and len(code) <= 3:
        code = int(code)
    status = optional_number({"status_code": code}, "status_code")
    return status is None or 200 <= status < 300


def _asked_at(entry: Entry) -> Any:
    for key in TIME_KEYS:
        if (asked_at := optional_time(entry, key)) is not None:
            return asked_at
    return None


def _place(talk: Talk, entry: Entry, request: Any) -> None:
    """Set conversation and user from what an agent's caller sends along; the table itself has only a requester."""
    body = request if isinstance(request, dict) else {}
    for key in ("context", "custom_inputs", "databricks_options"):
        sent = optional_object(body, key)
        talk.conversation_id = talk.conversation_id or first_id(sent, "conversation_id", "session_id", "thread_id")
        talk.user_id = talk.user_id or first_id(sent, "user_id")
    talk.user_id = talk.user_id or first_id(entry, "requester")
