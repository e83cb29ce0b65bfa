"""WildChat-1M and its older edition: a ``conversation`` of role/content turns with moderation labels.

Source: the data set cards of WildChat. A missing ``redacted`` or ``toxic`` says nothing, so it sets no flag.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import first_id, objects, optional_text, optional_time, text_or_empty

NAME = "wildchat"
VERSION = 1
TELLS = frozenset({"conversation"})
EXCLUDES: frozenset[str] = frozenset()


def matches(entry: Entry) -> bool:
    """Tell by ``conversation_hash``, ``detoxify_moderation`` or turns with ``turn_identifier``."""
    talk = entry.get("conversation")
    if not isinstance(talk, list) or "messages" in entry or "conversations" in entry:
        return False
    first = talk[0] if talk and isinstance(talk[0], dict) else {}
    if "human" in first:
        return False
    return "conversation_hash" in entry or "detoxify_moderation" in entry or "turn_identifier" in first


def read(entry: Entry) -> Talk:
    """Read the turns; the only user id is a hashed address. Raises BadShape for a field of another type."""
    turns = objects(entry, "conversation")
    messages = chain([_read_message(turn) for turn in turns])
    add_model_and_moderation(messages, entry)
    user_id = first_id(entry, "hashed_ip")
    for turn in turns:
        user_id = user_id or first_id(turn, "hashed_ip")
    return Talk(messages, first_id(entry, "conversation_hash", "conversation_id"), user_id)


def add_model_and_moderation(messages: list[Message], entry: Entry) -> None:
    """Give replies the talk's model, and flag the messages that the source's moderation flagged, in place."""
    model = optional_text(entry, "model")
    labels = objects(entry, "openai_moderation")
    for index, message in enumerate(messages):
        if message.role == "assistant":
            message.model = model
        if index < len(labels) and labels[index].get("flagged") is True and flags.UPSTREAM_FLAGGED not in message.flags:
            message.flags.append(flags.UPSTREAM_FLAGGED)


def _read_message(turn: dict[str, Any]) -> Message:
    message = Message(role_of(turn.get("role")), text_or_empty(turn, "content"))
    message.created_at = optional_time(turn, "timestamp")
    if turn.get("redacted") is True:
        message.flags.append(flags.UPSTREAM_REDACTED)
    if turn.get("toxic") is True:
        message.flags.append(flags.UPSTREAM_FLAGGED)
    return message
