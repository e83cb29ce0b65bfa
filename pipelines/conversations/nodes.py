"""A turn as assembly sees it: ids, times and counts, no text."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A turn as assembly sees it. ``arrived`` orders turns by arrival: landed_at, then coordinates.

    ``alone`` tells that the message was logged without its history; ``previous_response_id`` names the answer before.
    ``inactive`` tells that the source itself shows another branch. ``feedback`` counts all, thumbs up, thumbs down and
    edits; ``call_ids`` are the ids of its tool calls, ``tool_call_id`` the call that a tool's result answers.
    """

    turn_id: str
    parent_id: str
    role: str
    at: dt.datetime
    arrived: tuple[Any, ...]
    consent: str
    system_turn_id: str | None = None
    conversation_ref: str | None = None
    user_ref: str | None = None
    stream: str = "default"
    lang: str | None = None
    lang_score: float | None = None
    keep: bool = False
    is_truncated: bool = False
    text_sketch: int | None = None
    n_words: int = 0
    call_ids: tuple[str | None, ...] = ()
    tool_call_id: str | None = None
    feedback: tuple[int, ...] = (0, 0, 0, 0)
    content_id: str = ""
    response_id: str | None = None
    previous_response_id: str | None = None
    alone: bool = False
    inactive: bool = False
