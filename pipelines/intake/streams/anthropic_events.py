"""Events of the Anthropic Messages API -> the whole message.

Source: Anthropic Messages API, streaming, as described by vLLM's protocol classes. Only ``message_start`` names the
message. Signatures of thinking are left out: they are never trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.intake.items import Entry
from pipelines.intake.shape import optional_object, optional_text, text_or_empty
from pipelines.intake.streams.pieces import OF_LOGS, logged_owner, piece_id, place_in
from pipelines.intake.tool_arguments import canonical_arguments

NAME = "anthropic_events"
OPENS_WITH_NAME = True
ENDS_WITH_DONE = False

HELD_BY = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
    "content_block_stop": None,
    "message_delta": "delta",
    "message_stop": None,
    "ping": None,
    "error": "error",
}
"""Types of events, each with the object that it must hold."""

DELTA_FIELDS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("tool_use", "partial_json"),
}
"""Types of deltas, each with the type of its block and its field."""

LEFT_OUT = frozenset({"signature_delta", "citations_delta"})


@dataclass(slots=True)
class _Block:
    """A content block so far: as it began, and the texts of its deltas by their field."""

    start: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    others: list[dict[str, Any]] = field(default_factory=list)


def matches(entry: Entry) -> bool:
    """Tell by the type of the event and the object that it must hold. Never raises."""
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in HELD_BY or not OF_LOGS.isdisjoint(entry):
        return False
    held = HELD_BY[kind]
    return held is None or isinstance(entry.get(held), dict)


def key(entry: Entry) -> str | None:
    """Return the message id in ``message_start``; None in all other events. Never raises."""
    return piece_id(entry.get("message"), "id") if entry.get("type") == "message_start" else None


def names_stream(entry: Entry) -> bool:
    """Tell whether the event begins a message."""
    return entry.get("type") == "message_start"


def keys_closed_by(entry: Entry) -> list[str]:  # noqa: ARG001 - the signature of every format
    """Return nothing: no log entry closes a stream of events."""
    return []


def is_whole(pieces: Sequence[Entry]) -> bool:
    """Tell whether the events begin with ``message_start`` and nothing more comes: a stop, or an error, is there."""
    kinds = [piece.get("type") for piece in pieces if piece.get("type") != "ping"]
    return bool(kinds) and kinds[0] == "message_start" and ("message_stop" in kinds or "error" in kinds)


def join(pieces: Sequence[Entry]) -> Entry:
    """Return one message, blocks by index; without an end its ``stop_reason`` is null.

    Events count in the order given. Arguments that do not parse stay text. Raises BadShape for a field of another type.
    """
    message: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    ends: dict[str, Any] = {}
    for piece in pieces:
        kind = piece.get("type")
        if kind == "message_start":
            message = message or optional_object(piece, "message") or {}
        elif kind == "content_block_start":
            _block(blocks, piece).start = optional_object(piece, "content_block") or {}
        elif kind == "content_block_delta":
            _add_delta(_block(blocks, piece), optional_object(piece, "delta") or {})
        elif kind == "message_delta":
            delta = optional_object(piece, "delta") or {}
            ends |= {name: value for name, value in delta.items() if value is not None}
    content = [part for _, block in sorted(blocks.items()) for part in _parts(block)]
    return {
        **logged_owner(pieces),
        **message,
        "type": "message",
        "role": message.get("role") or "assistant",
        "content": content or message.get("content") or [],
        "stop_reason": None,
        **ends,
    }


def _block(blocks: dict[int, _Block], piece: Entry) -> _Block:
    return blocks.setdefault(place_in(piece, "index") or 0, _Block())


def _add_delta(block: _Block, delta: dict[str, Any]) -> None:
    kind = optional_text(delta, "type") or ""
    if kind in DELTA_FIELDS:
        block_type, name = DELTA_FIELDS[kind]
        block.start.setdefault("type", block_type)
        block.texts.setdefault(name, []).append(text_or_empty(delta, name))
    elif kind not in LEFT_OUT:
        block.others.append(delta)


def _parts(block: _Block) -> list[dict[str, Any]]:
    """Return the finished block, and deltas of unknown types behind it, which the reader keeps as unknown parts."""
    texts = {name: "".join(pieces) for name, pieces in block.texts.items()}
    finished = dict(block.start)
    if partial := texts.pop("partial_json", ""):
        finished["input"] = _tool_input(partial)
    for name, text in texts.items():
        finished[name] = text_or_empty(finished, name) + text
    return [finished, *block.others] if finished else block.others


def _tool_input(text: str) -> Any:
    return text if canonical_arguments(text) is None else json.loads(text)
