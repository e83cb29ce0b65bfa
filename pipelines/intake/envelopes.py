"""What logs of chat requests have in common, whatever API the request was for."""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Entry

OF_OTHER_FORMATS = frozenset(
    {
        "call_type",
        "conversation",
        "conversations",
        "databricks_request_id",
        "logging_error_codes",
        "observations",
        "rejected",
        "request_body",
        "request_preview",
        "response_body",
        "served_entity_id",
        "signed_body_url",
        "spans",
        "standard_logging_object",
        "trace_metadata",
    }
)
"""Keys of gateway and tracing logs and of training sets that also carry ``messages``; those have own rules."""


def request_of(entry: Entry) -> dict[str, Any] | None:
    """Return the object that holds ``messages``: the entry itself, or its ``request``; None without either."""
    if "messages" in entry:
        return entry
    request = entry.get("request")
    return request if isinstance(request, dict) and "messages" in request else None


def is_text_completion(entry: Entry) -> bool:
    """Tell whether an envelope or a bare response is of the completions API, whose choices hold ``text``."""
    response = entry if "choices" in entry else entry.get("response")
    if isinstance(response, dict) and isinstance(choices := response.get("choices"), list):
        if response.get("object") == "text_completion":
            return True
        if choices and isinstance(choices[0], dict):
            return "text" in choices[0] and "message" not in choices[0]
    request = entry.get("request")
    return isinstance(request, dict) and "input" not in request and isinstance(request.get("prompt"), (str, list))
