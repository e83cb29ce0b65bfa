"""MLflow traces: a row of ``search_traces`` or of a trace table, or ``{"info", "data"}`` as ``Trace.to_dict`` gives it.

Source: mlflow, entities/trace.py and trace_info.py. Request and response are input and output of the root span.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Entry, Rating, Talk
from pipelines.intake.json_text import load_json
from pipelines.intake.readers.call_facts import CallFacts
from pipelines.intake.readers.mlflow_assessments import read_assessment
from pipelines.intake.readers.traced_call import read_traced_call
from pipelines.intake.shape import BadShape, first_id, objects, optional_object, optional_time
from schemas.records import DeadReason

NAME = "mlflow_trace"
VERSION = 1
TELLS = frozenset({"trace_metadata", "request_preview", "spans", "info"})
EXCLUDES: frozenset[str] = frozenset()

ID_KEYS = ("trace_id", "request_id")
SESSION_KEY, USER_KEY = "mlflow.trace.session", "mlflow.trace.user"
INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"


def matches(entry: Entry) -> bool:
    """Tell by the trace's id beside a column that only traces have, in the row or in its ``info``."""
    info = entry.get("info")
    if isinstance(info, dict):
        return isinstance(entry.get("data"), dict) and any(key in info for key in ID_KEYS)
    if "info" in entry or "messages" in entry or TELLS.isdisjoint(entry):
        return False
    return any(key in entry for key in ID_KEYS) and ("request" in entry or "response" in entry or "spans" in entry)


def read(entry: Entry) -> Talk:
    """Read the call and its assessments; previews may be cut and are not read. Raises BadShape for another type."""
    info, data = optional_object(entry, "info"), optional_object(entry, "data")
    info, data = (entry, entry) if info is None else (info, data or {})
    request, response = _call(data)
    ratings = [rating for item in objects(info, "assessments") if (rating := read_assessment(item)) is not None]
    if request is None and response is None and not ratings:
        raise BadShape("the trace holds neither request nor response", DeadReason.NO_MESSAGES)
    talk = Talk([]) if request is None and response is None else read_traced_call(request, response)
    asked_at = optional_time(info, "request_time") or optional_time(info, "timestamp_ms")
    facts = CallFacts(asked_at, response_id=first_id(info, *ID_KEYS))
    replies = facts.add_to(talk, response is not None)
    _place(talk, info)
    talk.ratings = [_targeted(rating, talk, len(replies) == 1, facts.response_id) for rating in ratings]
    return talk


def _call(data: dict[str, Any]) -> tuple[Any, Any]:
    """Return request and response, from the row or else from the span without a parent."""
    if data.get("request") is not None or data.get("response") is not None:
        return _plain(data.get("request")), _plain(data.get("response"))
    for span in objects(data, "spans"):
        if not (span.get("parent_id") or span.get("parent_span_id")):
            attributes = optional_object(span, "attributes") or {}
            inputs, outputs = attributes.get(INPUTS), attributes.get(OUTPUTS)
            return _plain(span.get("inputs", inputs)), _plain(span.get("outputs", outputs))
    return None, None


def _plain(value: Any) -> Any:
    """Decode JSON text, even of a bare string: spans and tables write every value so. Other text is itself."""
    if not isinstance(value, str):
        return value
    try:
        loaded = load_json(value, "request or response")
    except BadShape:
        return value
    return loaded if isinstance(loaded, (str, list, dict)) else value


def _place(talk: Talk, info: dict[str, Any]) -> None:
    for key in ("trace_metadata", "request_metadata", "tags"):
        metadata = optional_object(info, key)
        talk.conversation_id = talk.conversation_id or first_id(metadata, SESSION_KEY)
        talk.user_id = talk.user_id or first_id(metadata, USER_KEY)


def _targeted(rating: Rating, talk: Talk, answered: bool, response_id: str | None) -> Rating:
    rating.target = len(talk.messages) - 1 if answered else None
    rating.response_id = None if answered else response_id
    return rating
