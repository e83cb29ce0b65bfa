"""The four roles, and the names that formats have for them."""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Message
from pipelines.intake.shape import BadShape, wrong_type
from schemas.records import DeadReason

ROLE_OF = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
}


def role_of(name: Any) -> str:
    """Return system, user, assistant or tool for a format's role name.

    Raises BadShape: ``unknown_role`` for a name that no format defines, ``bad_shape`` when it is no string. The name
    found stays out of the text, since a broken log may hold anything there.
    """
    if not isinstance(name, str):
        raise wrong_type("role", "a string", name)
    role = ROLE_OF.get(name) or ROLE_OF.get(name.lower())
    if role is None:
        raise BadShape(f"role must be one of {', '.join(ROLE_OF)}", DeadReason.UNKNOWN_ROLE)
    return role


def chain(messages: list[Message]) -> list[Message]:
    """Link messages into one path, in place: each follows the last one that is no system message.

    A date in a system prompt must not fork a talk, so system messages hang at the root and have no children.
    """
    last = -1
    for index, message in enumerate(messages):
        if message.role == "system":
            message.parent = -1
        else:
            message.parent = last
            last = index
    return messages


def last_of_chain(messages: list[Message]) -> int:
    """Return the index of the last message that is no system message, the parent of a reply; -1 without one."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role != "system":
            return index
    return -1
