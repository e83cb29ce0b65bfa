"""What the pieces of all streams have in common: ids read without a fault, places, and whose talk it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pipelines.intake.items import Entry
from pipelines.intake.shape import wrong_type
from schemas.shared_columns import CONSENTS

OF_LOGS = frozenset({"messages", "request", "conversations", "conversation", "feedback", "stop_reason", "role"})
"""Keys of whole logs; an entry with one of them is no lone piece."""

OWNER_KEYS = ("conversation_id", "user_id", "user", "safety_identifier")


def piece_id(holder: Any, *keys: str) -> str | None:
    """Return the id under the first of ``keys`` that has one, None without any or for another type. Never raises."""
    if isinstance(holder, dict):
        for key in keys:
            value = holder.get(key)
            if isinstance(value, str) and value:
                return value
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return None


def place_in(piece: dict[str, Any], key: str) -> int | None:
    """Return the whole number under ``key``; None when absent or null. Raises BadShape for any other type."""
    value = piece.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise wrong_type(key, "a whole number", value)


def first_of(pieces: Iterable[Entry], key: str) -> Any:
    """Return the first value under ``key`` that is neither null nor empty; None without any."""
    for piece in pieces:
        if value := piece.get(key):
            return value
    return None


def logged_owner(pieces: Sequence[Entry]) -> Entry:
    """Return whose talk it is as loggers write it beside the pieces: the first of each id, the strictest consent.

    A consent that nobody defines goes before all others: it must not be taken for a yes.
    """
    found = {key: value for key in OWNER_KEYS if (value := first_of(pieces, key)) is not None}
    consents = [piece["consent"] for piece in pieces if piece.get("consent") is not None]
    if consents:
        unknown = [consent for consent in consents if consent not in CONSENTS]
        found["consent"] = unknown[0] if unknown else max(consents, key=CONSENTS.index)
    return found
