"""Claude data export: ``chat_messages`` with ``sender``, linked by ``parent_message_uuid`` where the export has it.

Source: the conversations file of the export. Blocks are those of the Messages API, but calls and their results stand
in one message of the assistant; here they are messages in the same order.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, MediaPart, Message, Talk
from pipelines.intake.media import linked_media
from pipelines.intake.readers.anthropic_messages import read_blocks, read_tool_result
from pipelines.intake.readers.parent_links import parents_first, shown_path
from pipelines.intake.roles import role_of
from pipelines.intake.shape import (
    BadShape,
    first_id,
    objects,
    optional_id,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
)

NAME = "claude_export"
VERSION = 1
TELLS = frozenset({"chat_messages"})
EXCLUDES: frozenset[str] = frozenset()


def matches(entry: Entry) -> bool:
    """Tell by a ``chat_messages`` list."""
    return isinstance(entry.get("chat_messages"), list)


def read(entry: Entry) -> Talk:
    """Read all branches, parents first; without parent links the list is one path.

    Raises BadShape for wrong types, an id used twice, a cycle, or no telling which branch is shown.
    """
    sources = objects(entry, "chat_messages")
    names = [optional_id(source, "uuid") or f"#{number}" for number, source in enumerate(sources)]
    source_of = dict(zip(names, sources, strict=True))
    if len(source_of) < len(sources):
        raise BadShape("each of chat_messages must have a uuid of its own")
    if any("parent_message_uuid" in source for source in sources):
        parent_of = {name: optional_id(source, "parent_message_uuid") for name, source in source_of.items()}
    else:
        parent_of = dict(zip(names, [None, *names], strict=False))
    order = parents_first(parent_of)
    shown = shown_path(parent_of, optional_id(entry, "current_leaf_message_uuid"), "current_leaf_message_uuid")
    messages: list[Message] = []
    last_of: dict[str | None, int] = {}
    for name in order:
        last_of[name] = last_of.get(parent_of[name], -1)
        for message in _read_message(source_of[name]):
            message.parent = last_of[name]
            if name not in shown:
                message.flags.append(flags.BRANCH_INACTIVE)
            last_of[name] = len(messages)
            messages.append(message)
    account = optional_object(entry, "account")
    return Talk(messages, first_id(entry, "uuid"), first_id(account, "uuid"))


def _read_message(source: dict[str, Any]) -> list[Message]:
    """Return what a message says, cut where a tool answered; the last piece of a reply carries its id."""
    role = role_of(source.get("sender"))
    pieces: list[Message] = []
    spoken: list[dict[str, Any]] = []
    blocks = objects(source, "content") or [{"type": "text", "text": text_or_empty(source, "text")}]
    for block in blocks:
        if block.get("type") == "tool_result":
            if spoken:
                pieces.append(_spoken(role, spoken))
            pieces.append(read_tool_result(block))
            spoken = []
        else:
            spoken.append(block)
    if spoken:
        pieces.append(_spoken(role, spoken))
    pieces[-1].parts += _read_files(source)
    created_at = optional_time(source, "created_at")
    for piece in pieces:
        piece.created_at = created_at
    if role == "assistant":
        pieces[-1].response_id = optional_id(source, "uuid")
        if source.get("truncated") is True:
            pieces[-1].flags.append(flags.UPSTREAM_TRUNCATED)
    return pieces


def _spoken(role: str, blocks: list[dict[str, Any]]) -> Message:
    message = Message(role)
    read_blocks(message, blocks)
    return message


def _read_files(source: dict[str, Any]) -> list[MediaPart]:
    """Return attachments by their extracted text, which is all that the export keeps, and files by their id."""
    parts = []
    for attachment in objects(source, "attachments"):
        media_type = optional_text(attachment, "file_type")
        content = text_or_empty(attachment, "extracted_content").encode("utf-8", "surrogatepass")
        if content:
            parts.append(MediaPart("file", media_type, bytes=len(content), content=content))
        elif name := optional_text(attachment, "file_name"):
            parts.append(linked_media("file", media_type, name))
    for file in objects(source, "files"):
        if uri := first_id(file, "file_uuid", "file_name"):
            parts.append(linked_media("file", None, uri))
    return parts
