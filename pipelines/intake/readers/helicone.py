"""Helicone's export: one request a line with both bodies, its properties, and the feedback that it got.

Source: Helicone/helicone, the HeliconeRequest interface and its export tool. An answer counts only with a status of
200 to 299: an error body is not what the model said, so such a call keeps its history alone.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Rating, Talk
from pipelines.intake.readers.call_facts import CallFacts
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.readers.feedback_names import thumb_of
from pipelines.intake.shape import (
    BadShape,
    first_id,
    optional_id,
    optional_number,
    optional_object,
    optional_text,
    optional_time,
    wrong_type,
)
from schemas.records import DeadReason

NAME = "helicone"
VERSION = 1
TELLS = frozenset({"request_body", "response_body", "signed_body_url"})
EXCLUDES: frozenset[str] = frozenset()

OWN_KEYS = frozenset({"request_id", "request_created_at", "request_properties", "request_path", "response_status"})
BOOLEAN_SUFFIX = "-hcone-bool"
"""Ends the names of yes-or-no scores, whose value is 1 or 0 then."""

FEEDBACK_SCORE = "helicone-score-feedback"
"""The score under which ``feedback_rating`` is repeated."""


def matches(entry: Entry) -> bool:
    """Tell by a body, or the link to both, beside another column of the export."""
    return not TELLS.isdisjoint(entry) and not OWN_KEYS.isdisjoint(entry)


def read(entry: Entry) -> Talk:
    """Read bodies and feedback. Raises BadShape: wrong types, or ``no_messages`` where the bodies are elsewhere."""
    status = optional_number(entry, "response_status")
    answered = status is None or 200 <= status < 300
    request, response = _body(entry, "request_body"), _body(entry, "response_body")
    if request is None and (response is None or not answered):
        link = "; signed_body_url links to them" if entry.get("signed_body_url") is not None else ""
        raise BadShape(f"request_body and response_body are absent{link}", DeadReason.NO_MESSAGES)
    talk = read_exchange(request, response if answered else None)
    replies = _facts(entry).add_to(talk, answered and response is not None)
    for message in replies:
        message.model = optional_text(entry, "response_model") or message.model
        if request is None:
            message.flags.append(flags.BODY_MISSING)
    properties = optional_object(entry, "request_properties")
    talk.conversation_id = first_id(properties, "Helicone-Session-Id") or talk.conversation_id
    talk.user_id = optional_id(entry, "request_user_id") or talk.user_id
    talk.ratings = _ratings(entry)
    for rating in talk.ratings:
        rating.target = len(talk.messages) - 1 if len(replies) == 1 else None
        rating.response_id = None if rating.target is not None else optional_id(entry, "response_id")
    return talk


def _body(entry: Entry, key: str) -> Any:
    """Return a body; None where Helicone left a note in its place (too large, kept elsewhere)."""
    body = entry.get(key)
    return None if not body or (isinstance(body, dict) and "helicone_message" in body) else body


def _facts(entry: Entry) -> CallFacts:
    return CallFacts(
        optional_time(entry, "request_created_at"),
        optional_time(entry, "response_created_at"),
        optional_text(entry, "request_model"),
        first_id(entry, "response_id", "request_id"),
    )


def _ratings(entry: Entry) -> list[Rating]:
    ratings = []
    given = entry.get("feedback_rating")
    if given is not None:
        if not isinstance(given, bool):
            raise wrong_type("feedback_rating", "a boolean", given)
        ratings.append(Rating("thumb", 1.0 if given else -1.0, created_at=optional_time(entry, "feedback_created_at")))
    for name, score in (optional_object(entry, "scores") or {}).items():
        if score is not None and (name != FEEDBACK_SCORE or given is None):
            ratings.append(_score(name, score))
    return ratings


def _score(name: str, score: Any) -> Rating:
    """Read a score: a number, a boolean, or ``{"value", "valueType"}``."""
    value = score.get("value") if isinstance(score, dict) else score
    yes_or_no = isinstance(value, bool) or name.endswith(BOOLEAN_SUFFIX) or name == FEEDBACK_SCORE
    number = float(value) if isinstance(value, bool) else optional_number({"each of scores": value}, "each of scores")
    measure = name.removesuffix(BOOLEAN_SUFFIX)
    if yes_or_no and number is not None and (thumb := thumb_of(measure, number > 0)) is not None:
        return Rating("thumb", thumb)
    return Rating("evaluation" if yes_or_no else "score", number, measure=measure)
