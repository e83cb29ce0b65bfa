"""One row a message, as the dump of a table of messages: role, content, conversation, own id or time.

Such a row does not tell what was said before, so its identity is the source's id; assembly orders the rows by time.
Content may be that of the chat completions API or, with ``thread_id``, of OpenAI's Assistants API.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Talk
from pipelines.intake.readers import openai_chat
from pipelines.intake.shape import BadShape, first_id, optional_id, optional_text, optional_time

NAME = "message_log"
VERSION = 1
TELLS = frozenset({"role"})
EXCLUDES: frozenset[str] = frozenset()

CONVERSATION_KEYS = ("conversation_id", "session_id", "thread_id", "chat_id")
ID_KEYS = ("message_id", "id", "uuid")
TIME_KEYS = ("created_at", "timestamp", "created")
OF_OTHERS = frozenset(
    {"messages", "request", "response", "choices", "conversation", "conversations", "attributes", "stop_reason"}
)


def matches(entry: Entry) -> bool:
    """Tell by ``role`` with ``content`` or ``text``, a conversation id, and an id or a time of the message."""
    if "role" not in entry or not ("content" in entry or "text" in entry) or entry.get("type") == "message":
        return False
    if not OF_OTHERS.isdisjoint(entry):
        return False
    return any(key in entry for key in CONVERSATION_KEYS) and any(key in entry for key in (*ID_KEYS, *TIME_KEYS))


def read(entry: Entry) -> Talk:
    """Read the message. Raises BadShape for wrong types, and without a conversation or an id or a time."""
    conversation_id = first_id(entry, *CONVERSATION_KEYS)
    if conversation_id is None:
        raise BadShape(f"a message must name its conversation by {', '.join(CONVERSATION_KEYS)}")
    content = entry["content"] if entry.get("content") is not None else entry.get("text")
    message = openai_chat.read_message({**entry, "content": _plain_parts(content)})
    message.source_id = first_id(entry, *ID_KEYS)
    for key in TIME_KEYS:
        message.created_at = message.created_at or optional_time(entry, key)
    if message.source_id is None:
        if message.created_at is None:
            raise BadShape("a message must have an id or a time")
        message.source_id = f"{message.created_at.isoformat()} {message.role}"
    # Rows of replies seldom name the user: as the talk's own, the user would set questions and replies apart.
    message.user_id = optional_id(entry, "user_id")
    if message.role == "assistant":
        message.model = optional_text(entry, "model")
        message.response_id = first_id(entry, "response_id", *ID_KEYS)
        message.finish_reason = optional_text(entry, "finish_reason")
    message.flags.append(flags.WITHOUT_HISTORY)
    return Talk([message], conversation_id)


def _plain_parts(content: Any) -> Any:
    """Return content with the Assistants API's text objects (``{"value": …}``) as plain text."""
    if not isinstance(content, list):
        return content
    return [_plain_part(part) for part in content]


def _plain_part(part: Any) -> Any:
    text = part.get("text") if isinstance(part, dict) else None
    return {**part, "text": text.get("value")} if isinstance(text, dict) else part
