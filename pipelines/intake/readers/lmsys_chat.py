"""LMSYS-Chat-1M: a ``conversation`` of role/content turns with ``conversation_id`` and OpenAI's moderation.

Source: the data set card of LMSYS-Chat-1M. Names are replaced upstream by NAME_1, NAME_2, …
"""

from __future__ import annotations

import re
from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.readers.wildchat import add_model_and_moderation
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import objects, optional_id, text_or_empty

NAME = "lmsys_chat"
VERSION = 1
TELLS = frozenset({"conversation"})
EXCLUDES: frozenset[str] = frozenset()

OF_WILDCHAT = frozenset({"conversation_hash", "detoxify_moderation"})
_REDACTED_NAME = re.compile(r"\bNAME_[0-9]+\b")


def matches(entry: Entry) -> bool:
    """Tell by ``openai_moderation`` beside ``conversation_id``, without the keys of WildChat."""
    talk = entry.get("conversation")
    if not isinstance(talk, list) or "messages" in entry or "conversations" in entry:
        return False
    first = talk[0] if talk and isinstance(talk[0], dict) else {}
    if "human" in first or "turn_identifier" in first or not OF_WILDCHAT.isdisjoint(entry):
        return False
    return "openai_moderation" in entry and "conversation_id" in entry


def read(entry: Entry) -> Talk:
    """Read the turns; there is no user id. Raises BadShape for a field of another type."""
    messages = chain([_read_message(turn) for turn in objects(entry, "conversation")])
    add_model_and_moderation(messages, entry)
    return Talk(messages, optional_id(entry, "conversation_id"))


def _read_message(turn: dict[str, Any]) -> Message:
    message = Message(role_of(turn.get("role")), text_or_empty(turn, "content"))
    if "NAME_" in message.text and _REDACTED_NAME.search(message.text):
        message.flags.append(flags.UPSTREAM_REDACTED)
    return message
