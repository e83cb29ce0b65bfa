"""Feedback as Turnmill's own topic takes it: ``{"feedback": {"kind", "value", …}}`` about a turn, response or talk."""

from __future__ import annotations

import re
from typing import Any

from pipelines.intake.items import Entry, Rating, Talk
from pipelines.intake.shape import BadShape, optional_id, optional_number, optional_object, optional_text, optional_time
from schemas.shared_columns import FEEDBACK_KINDS

NAME = "turnmill_feedback"
VERSION = 1
TELLS = frozenset({"feedback"})
EXCLUDES: frozenset[str] = frozenset()

OF_LOGS = frozenset({"messages", "request", "response", "choices", "conversation", "conversations", "attributes"})
_TURN_ID = re.compile("[0-9a-f]{32}")


def matches(entry: Entry) -> bool:
    """Tell by a ``feedback`` object in an entry that is no log of a talk."""
    return isinstance(entry.get("feedback"), dict) and OF_LOGS.isdisjoint(entry)


def read(entry: Entry) -> Talk:
    """Read one rating. Raises BadShape for wrong types, an unknown kind, a missing value or a missing target."""
    feedback = optional_object(entry, "feedback") or {}
    kind = optional_text(feedback, "kind")
    if kind not in FEEDBACK_KINDS:
        raise BadShape(f"kind must be one of {', '.join(FEEDBACK_KINDS)}")
    rating = Rating(kind, _value(feedback, kind), optional_text(feedback, "text"))
    rating.response_id = optional_id(feedback, "response_id")
    rating.turn_id = optional_text(feedback, "turn_id") or None
    rating.created_at = optional_time(feedback, "created_at")
    rating.measure = optional_text(feedback, "measure")
    if rating.turn_id is not None and not _TURN_ID.fullmatch(rating.turn_id):
        raise BadShape("turn_id must be 32 lower-case hex characters")
    if kind == "edit" and rating.text is None:
        raise BadShape("an edit must hold text")
    conversation_id = optional_id(feedback, "conversation_id")
    if rating.turn_id is None and rating.response_id is None and conversation_id is None:
        raise BadShape("feedback must name turn_id, response_id or conversation_id")
    consent = optional_text(feedback, "consent")
    return Talk([], conversation_id, optional_id(feedback, "user_id"), consent, [rating])


def _value(feedback: dict[str, Any], kind: str) -> float | None:
    value = feedback.get("value")
    if kind == "thumb":
        named = {True: 1.0, False: -1.0, "up": 1.0, "down": -1.0}
        if isinstance(value, (bool, str)) and value in named:
            return named[value]
        if isinstance(value, bool) or value not in (1, -1):
            raise BadShape("the value of a thumb must be 1 or -1, true or false, up or down")
    if isinstance(value, bool):
        return float(value)
    number = optional_number(feedback, "value")
    if number is None and kind in ("stars", "score", "rank", "vote"):
        raise BadShape(f"the value of {kind} must be a number")
    return number
