"""Turns as training sets write them in one field: a string, a dialogue string, a message, or a list of messages."""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Message
from pipelines.intake.readers import openai_chat, sharegpt
from pipelines.intake.readers.dialogue_text import read_dialogue
from pipelines.intake.shape import optional_text, wrong_type


def read_turns(value: Any, where: str, role: str) -> list[Message]:
    """Return the turns of a field, not yet linked. A plain string is one turn of ``role``; null is none.

    Messages are role/content objects or ShareGPT's from/value. Raises BadShape for anything else; ``where`` names the
    field.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return read_dialogue(value) or [Message(role, value)]
    if isinstance(value, dict):
        return [_read_turn(value)]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise wrong_type(where, "a string, a message or a list of messages", value)
    return [_read_turn(item) for item in value]


def read_question(entry: dict[str, Any], text_key: str, more_key: str) -> list[Message]:
    """Return an instruction and what it is about, parted by a blank line, as one user turn; none when both are empty.

    Raises BadShape for other types than string.
    """
    texts = [optional_text(entry, text_key), optional_text(entry, more_key)]
    question = "\n\n".join(filter(None, texts))
    return [Message("user", question)] if question else []


def _read_turn(item: dict[str, Any]) -> Message:
    return sharegpt.read_message(item) if "from" in item else openai_chat.read_message(item)
