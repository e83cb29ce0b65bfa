"""ChatGPT data export: ``mapping``, a tree of nodes, and ``current_node``, the end of the branch that is shown.

Source: the conversations file of the export. All branches are read; messages off the shown one are flagged. What the
model thought goes to the reply below it, and what a user set up for all talks becomes a system message.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.items import Entry, MediaPart, Message, Talk, ToolCall
from pipelines.intake.media import linked_media, other_part
from pipelines.intake.readers.parent_links import parents_first, shown_path
from pipelines.intake.roles import role_of
from pipelines.intake.shape import (
    first_id,
    objects,
    optional_id,
    optional_list,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
    wrong_type,
)
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json

NAME = "chatgpt_export"
VERSION = 1
TELLS = frozenset({"mapping"})
EXCLUDES: frozenset[str] = frozenset()

SETTINGS = frozenset({"user_editable_context", "model_editable_context"})
"""Content types that hold what applies to all talks of an account; nobody said it in this one."""

THOUGHTS = frozenset({"thoughts", "reasoning_recap"})

TEXT_KEYS = {
    "text": (),
    "multimodal_text": (),
    "code": ("text",),
    "execution_output": ("text",),
    "system_error": ("text",),
    "tether_quote": ("text",),
    "tether_browsing_display": ("result", "summary"),
    "sonic_webpage": ("text",),
    "user_editable_context": ("user_profile", "user_instructions"),
    "model_editable_context": ("model_set_context",),
}
"""Where each content type keeps text beside ``parts``."""

MEDIA_PARTS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}
CUT_STATES = frozenset({"in_progress", "finished_partial_completion"})


def matches(entry: Entry) -> bool:
    """Tell by a ``mapping`` object beside ``current_node``."""
    return isinstance(entry.get("mapping"), dict) and "current_node" in entry


def read(entry: Entry) -> Talk:
    """Read all branches, parents first. Raises BadShape for wrong types, a cycle, or no telling which branch is shown.

    A node whose parent is missing begins a branch of its own.
    """
    mapping = optional_object(entry, "mapping") or {}
    parent_of: dict[str, str | None] = {}
    for name, node in mapping.items():
        if not isinstance(node, dict):
            raise wrong_type("each of mapping", "an object", node)
        parent_of[name] = optional_id(node, "parent")
    order = parents_first(parent_of)
    shown = shown_path(parent_of, optional_id(entry, "current_node"), "current_node")
    tree = _Tree(parent_of, shown)
    for name in order:
        tree.add(name, optional_object(mapping[name], "message"))
    conversation_id = first_id(entry, "conversation_id", "id") or (order[0] if order else None)
    return Talk(tree.messages, conversation_id)


class _Tree:
    """Grows the messages of a talk node by node, leaving out nodes that say nothing."""

    def __init__(self, parent_of: dict[str, str | None], shown: set[str]) -> None:
        self.messages: list[Message] = []
        self._parent_of = parent_of
        self._leaves = parent_of.keys() - set(parent_of.values())
        self._shown = shown
        self._index_of: dict[str, int] = {}
        self._thought_above: dict[str, str | None] = {}
        self._thoughts: dict[str, tuple[str, str | None]] = {}

    def add(self, name: str, source: dict[str, Any] | None) -> None:
        above = self._parent_of[name]
        parent = -1 if above is None else self._index_of.get(above, -1)
        thought = None if above is None else self._thought_above.get(above)
        message = None if source is None else _read_message(source, name)
        if message is not None and _is_thought(message):
            self._thoughts[name] = (message.reasoning or "", thought)
            thought, message = name, None
        elif message is not None and message.role == "user" and thought in self._thoughts:
            parent = self._append(Message("assistant", parent=parent, reasoning=self._take(thought)), name)
        if message is not None and not (message.role == "system" and not message.text and not message.parts):
            index = self._place(message, parent, thought, name)
            parent = parent if message.role == "system" else index
        if name in self._leaves and thought in self._thoughts:
            parent = self._append(Message("assistant", parent=parent, reasoning=self._take(thought)), name)
        self._index_of[name] = parent
        self._thought_above[name] = thought

    def _place(self, message: Message, parent: int, thought: str | None, name: str) -> int:
        message.parent = -1 if message.role == "system" else parent
        if message.role == "assistant":
            message.reasoning = self._take(thought)
        return self._append(message, name)

    def _append(self, message: Message, name: str) -> int:
        if name not in self._shown:
            message.flags.append(flags.BRANCH_INACTIVE)
        self.messages.append(message)
        return len(self.messages) - 1

    def _take(self, thought: str | None) -> str | None:
        """Return the thoughts above a reply that no other reply has taken, oldest first."""
        texts = []
        while thought is not None and thought in self._thoughts:
            text, thought = self._thoughts.pop(thought)
            texts.append(text)
        return join_texts(reversed(texts)) or None


def _is_thought(message: Message) -> bool:
    return message.reasoning is not None


def _read_message(source: dict[str, Any], name: str) -> Message | None:
    """Read a node's message; what the model thought comes back as ``reasoning`` alone."""
    author = optional_object(source, "author") or {}
    content = optional_object(source, "content") or {}
    kind = optional_text(content, "content_type") or "text"
    message = Message(role_of(author.get("role")))
    message.created_at = optional_time(source, "create_time")
    if kind in SETTINGS:
        message.role = "system"
    if kind in THOUGHTS:
        return Message("assistant", reasoning=_thoughts(content))
    _read_content(message, content, kind)
    metadata = optional_object(source, "metadata") or {}
    _read_attachments(message, metadata)
    if message.role == "tool":
        message.tool_name = optional_text(author, "name")
    elif message.role == "assistant":
        recipient = optional_text(source, "recipient") or "all"
        if recipient != "all":
            message.tool_calls = [ToolCall(None, recipient, message.text)]
            message.text = ""
        elif source.get("channel") == "analysis":
            return Message("assistant", reasoning=message.text)
        message.response_id = optional_id(source, "id") or name
        _read_ending(message, source, metadata)
    return message


def _thoughts(content: dict[str, Any]) -> str:
    texts = [text_or_empty(content, "content")]
    for thought in objects(content, "thoughts"):
        texts += [text_or_empty(thought, "summary"), text_or_empty(thought, "content")]
    return join_texts(texts)


def _read_content(message: Message, content: dict[str, Any], kind: str) -> None:
    texts = [text_or_empty(content, key) for key in TEXT_KEYS.get(kind, ("text",))]
    for part in optional_list(content, "parts"):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            texts.append(_read_part(message, part))
        elif part is not None:
            raise wrong_type("each of parts", "a string or an object", part)
    if kind not in TEXT_KEYS:
        message.flags.append(flags.UNKNOWN_PART)
        message.parts.append(other_part(compact_json(content, "content")))
    message.text = join_texts(texts)


def _read_part(message: Message, part: dict[str, Any]) -> str:
    """Add the media of a part to the message; return its text."""
    kind = part.get("content_type")
    if kind == "audio_transcription":
        return text_or_empty(part, "text")
    if kind == "real_time_user_audio_video_asset_pointer":
        part = optional_object(part, "audio_asset_pointer") or {}
        kind = "audio_asset_pointer"
    media = _media(part, kind)
    if media is None:
        message.flags.append(flags.UNKNOWN_PART)
        media = other_part(compact_json(part, "parts"))
    message.parts.append(media)
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _media(part: dict[str, Any], kind: Any) -> MediaPart | None:
    if isinstance(kind, str) and kind in MEDIA_PARTS and (pointer := optional_text(part, "asset_pointer")):
        return linked_media(MEDIA_PARTS[kind], None, pointer)
    return None


def _read_attachments(message: Message, metadata: dict[str, Any]) -> None:
    """Add uploaded files; an image is listed here too, under the id that ends its asset pointer."""
    shown = {part.uri.rsplit("/", 1)[-1] for part in message.parts if part.uri}
    for attachment in objects(metadata, "attachments"):
        file_id = optional_id(attachment, "id")
        if file_id is not None and file_id not in shown:
            message.parts.append(linked_media("file", optional_text(attachment, "mime_type"), file_id))


def _read_ending(message: Message, source: dict[str, Any], metadata: dict[str, Any]) -> None:
    message.model = optional_text(metadata, "model_slug")
    ending = optional_object(metadata, "finish_details") or {}
    message.finish_reason = optional_text(ending, "type")
    if optional_text(source, "status") in CUT_STATES or message.finish_reason == "interrupted":
        message.flags.append(flags.STREAM_INCOMPLETE)
