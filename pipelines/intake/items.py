"""What adapters make of a log record: turns, feedback, fragments, rejections. Raw text, in worker memory only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.records import DeadReason

Buffer = bytes
"""The built-in type, for classes that have a field of its name."""


@dataclass(slots=True)
class ToolCall:
    """A call of a tool: its argument string is kept exactly as logged, or the logged object as compact JSON."""

    id: str | None
    name: str
    arguments: str


@dataclass(slots=True)
class MediaPart:
    """An image, audio clip or file as a reference. ``sha256`` is a keyed digest (hex) of the inline bytes or the URI.

    ``content`` holds what is to be digested between the adapter and the identity; it is None in a finished turn.
    """

    type: str
    media_type: str | None = None
    sha256: str | None = None
    bytes: int | None = None
    uri: str | None = None
    content: Buffer | None = field(default=None, repr=False)


@dataclass(slots=True)
class Message:
    """One message as a format gives it, before identity. ``parent`` indexes the talk's messages; -1 is the root.

    ``user_id`` names the author where a talk has several; None means the talk's user. ``source_id`` is the source's own
    id of a message that is logged without its history; ``previous_response_id`` the answer that it replies to, where
    the history lives in a chain of responses; ``span_id`` the id that a tracer or gateway gave the call. ``tools`` are
    the functions that its request offered, as JSON.
    """

    role: str
    text: str = ""
    parent: int = -1
    reasoning: str | None = None
    parts: list[MediaPart] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_call_id: str | None = None
    tool_name: str | None = None
    model: str | None = None
    response_id: str | None = None
    span_id: str | None = None
    finish_reason: str | None = None
    created_at: dt.datetime | None = None
    flags: list[str] = field(default_factory=list)
    user_id: str | None = None
    source_id: str | None = None
    previous_response_id: str | None = None
    tools: str | None = None


@dataclass(slots=True)
class Rating:
    """Feedback as a format gives it.

    ``target`` indexes the talk's messages; without it ``turn_id``, ``response_id`` or the whole talk is judged.
    ``measure`` names what an evaluation measured.
    """

    kind: str
    value: float | None = None
    text: str | None = None
    target: int | None = None
    response_id: str | None = None
    created_at: dt.datetime | None = None
    turn_id: str | None = None
    measure: str | None = None


@dataclass(slots=True)
class Talk:
    """What one log entry says: messages with their parents, whose talk it is, and feedback inside the log.

    ``previous_response_id`` names the answer before the first message, where the log holds only what came after it.
    """

    messages: list[Message]
    conversation_id: str | None = None
    user_id: str | None = None
    consent: str | None = None
    ratings: list[Rating] = field(default_factory=list)
    previous_response_id: str | None = None


@dataclass(slots=True)
class Turn:
    """A message with its keyed identity and place in the record; the raw text is still in it."""

    entry: int
    position: int
    message: Message
    turn_id: str
    parent_id: str
    root_id: str
    system_turn_id: str | None
    content_id: str
    conversation_ref: str | None
    user_ref: str | None
    user_id: str | None
    tenant: str
    stream: str
    consent: str
    source: str
    adapter_version: int


@dataclass(slots=True)
class Feedback:
    """A rating with its keyed identity and place in the record; an edit's raw text is still in it."""

    entry: int
    position: int
    rating: Rating
    feedback_id: str
    target_turn_id: str | None
    user_ref: str | None
    user_id: str | None
    tenant: str
    stream: str
    consent: str
    source: str
    adapter_version: int
    conversation_ref: str | None = None


@dataclass(slots=True)
class Rejection:
    """An item that cannot be used. ``detail`` holds names and counts, never values of the record.

    ``payload`` is the part of the record that was rejected; None means the whole record.
    """

    entry: int
    position: int
    reason: DeadReason
    detail: str
    tenant: str
    consent: str
    payload: Buffer | None = field(default=None, repr=False)


@dataclass(slots=True)
class Fragment:
    """A piece of a streamed answer that cannot be read without the others.

    ``key`` is the keyed reference that all its pieces share; ``payload`` the piece alone, None means the whole record.
    """

    entry: int
    position: int
    key: str
    tenant: str
    consent: str
    payload: Buffer | None = field(default=None, repr=False)


Item = Turn | Feedback | Fragment | Rejection
Headers = Mapping[str, bytes]
"""Kafka headers by name; the last of a repeated name counts."""

Entry = dict[str, Any]
