"""What logs of chat requests have in common, whatever API the request was for."""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Entry

OF_OTHER_FORMATS = frozenset({"call_type", "request_body", "observations", "conversations", "conversation"})
"""Keys of gateway and tracing logs that also carry ``messages``; those have rules of their own."""


def request_of(entry: Entry) -> dict[str, Any] | None:
    """Return the object that holds ``messages``: the entry itself, or its ``request``; None without either."""
    if "messages" in entry:
        return entry
    request = entry.get("request")
    return request if isinstance(request, dict) and "messages" in request else None
