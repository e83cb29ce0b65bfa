"""Open Assistant message trees: every reply links to its parent, ranks and labels are feedback.

Source: oasst-data, schemas.py. Rank 0 is the best sibling. Deleted messages go with all replies below them.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Rating, Talk
from pipelines.intake.roles import role_of
from pipelines.intake.shape import (
    objects,
    optional_id,
    optional_number,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
)

NAME = "oasst_tree"
VERSION = 1
TELLS = frozenset({"message_tree_id"})
EXCLUDES: frozenset[str] = frozenset()


def matches(entry: Entry) -> bool:
    """Tell by ``message_tree_id`` with a ``prompt`` object."""
    return "message_tree_id" in entry and isinstance(entry.get("prompt"), dict)


def read(entry: Entry) -> Talk:
    """Read the tree, parents first, each message's replies in logged order. Raises BadShape for wrong types."""
    talk = Talk([], optional_id(entry, "message_tree_id"))
    waiting = [(node, -1) for node in [optional_object(entry, "prompt")] if node is not None]
    if waiting:
        talk.user_id = optional_id(waiting[0][0], "user_id")
    while waiting:
        node, parent = waiting.pop()
        if node.get("deleted") is True:
            if parent >= 0 and flags.REPLY_DELETED not in talk.messages[parent].flags:
                talk.messages[parent].flags.append(flags.REPLY_DELETED)
            continue
        message = _read_message(node, parent)
        index = len(talk.messages)
        talk.messages.append(message)
        talk.ratings += _read_ratings(node, index)
        below = parent if message.role == "system" else index
        waiting += [(reply, below) for reply in reversed(objects(node, "replies"))]
    return talk


def _read_message(node: dict[str, Any], parent: int) -> Message:
    message = Message(role_of(node.get("role")), text_or_empty(node, "text"), parent)
    message.user_id = optional_id(node, "user_id")
    message.response_id = optional_id(node, "message_id") if message.role == "assistant" else None
    message.model = optional_text(node, "model_name") if message.role == "assistant" else None
    message.created_at = optional_time(node, "created_date")
    if node.get("synthetic") is True:
        message.flags.append(flags.SYNTHETIC)
    if message.role == "system":
        message.parent = -1
    return message


def _read_ratings(node: dict[str, Any], target: int) -> list[Rating]:
    """Return the rank among siblings, the mean quality label (0 to 1) and the balance of thumbs."""
    ratings = []
    if (rank := optional_number(node, "rank")) is not None:
        ratings.append(Rating("rank", rank, target=target))
    quality = optional_object(optional_object(node, "labels") or {}, "quality")
    if quality is not None and (value := optional_number(quality, "value")) is not None:
        ratings.append(Rating("score", value, target=target, measure="quality"))
    emojis = optional_object(node, "emojis") or {}
    ups, downs = optional_number(emojis, "+1"), optional_number(emojis, "-1")
    if ups is not None or downs is not None:
        ratings.append(Rating("vote", (ups or 0.0) - (downs or 0.0), target=target))
    return ratings
