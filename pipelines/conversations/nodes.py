"""A turn as assembly sees it: ids, times and counts, no text."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A turn as assembly sees it. ``arrived`` orders turns by arrival: landed_at, then coordinates.

    ``alone`` tells that the message was logged without its history; ``previous_response_id`` names the answer before.
    ``inactive`` tells that the source itself shows another branch.
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
    keep: bool = False
    feedback: tuple[int, ...] = (0, 0, 0, 0)
    content_id: str = ""
    response_id: str | None = None
    previous_response_id: str | None = None
    alone: bool = False
    inactive: bool = False
