"""Chunks of the OpenAI chat completions API -> the whole response.

Source: OpenAI chat completions API, streaming. Pieces of a tool call belong together by choice and tool index: only
the first one has an id (BerriAI/litellm issue 20711), and a new id at the same index begins a new call (issue 7621).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.intake.items import Entry
from pipelines.intake.shape import BadShape, objects, optional_id, optional_object, optional_text
from pipelines.intake.streams.pieces import OF_LOGS, first_of, logged_owner, piece_id, place_in
from pipelines.intake.tool_arguments import compact_json

NAME = "openai_chunks"
OPENS_WITH_NAME = False
ENDS_WITH_DONE = True

OBJECT = "chat.completion.chunk"
REASONING_KEYS = ("reasoning_content", "reasoning")


@dataclass(slots=True)
class _Call:
    """A tool call so far."""

    id: str | None = None
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, function: dict[str, Any]) -> None:
        name = optional_text(function, "name") or ""
        if name != self.name:  # some servers repeat the whole name in every piece
            self.name += name
        arguments = function.get("arguments", function.get("input"))
        if isinstance(arguments, (dict, list)):
            arguments = compact_json(arguments, "arguments")
        self.arguments.append(optional_text({"arguments": arguments}, "arguments") or "")

    def function(self) -> dict[str, str]:
        return {"name": self.name, "arguments": "".join(self.arguments)}


@dataclass(slots=True)
class _Choice:
    """One of the answers so far. ``current`` holds the call that goes on at each tool index."""

    role: str | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    current: dict[int | None, _Call] = field(default_factory=dict)
    by_id: dict[tuple[int | None, str], _Call] = field(default_factory=dict)
    legacy_call: _Call | None = None
    audio: dict[str, list[str]] | None = None
    audio_id: str | None = None
    finish_reason: str | None = None

    def add_text(self, key: str, text: str | None) -> None:
        if text is not None:
            self.texts.setdefault(key, []).append(text)

    def text(self, key: str) -> str | None:
        return "".join(self.texts[key]) if key in self.texts else None


def matches(entry: Entry) -> bool:
    """Tell by the object's name, or by choices with a ``delta``. Never raises."""
    choices = entry.get("choices")
    if entry.get("object") == OBJECT:
        return (choices is None or isinstance(choices, list)) and OF_LOGS.isdisjoint(entry)
    if not isinstance(choices, list) or not OF_LOGS.isdisjoint(entry):
        return False
    return any(isinstance(choice, dict) and "delta" in choice and "message" not in choice for choice in choices)


def key(entry: Entry) -> str | None:
    """Return the completion id; None in a chunk without one, as Azure's first. Never raises."""
    return piece_id(entry, "id")


def names_stream(entry: Entry) -> bool:
    """Tell whether the key of the piece is that of its whole stream."""
    return key(entry) is not None


def keys_closed_by(entry: Entry) -> list[str]:  # noqa: ARG001 - the signature of every format
    """Return nothing: no log entry closes a stream of chunks."""
    return []


def is_whole(pieces: Sequence[Entry]) -> bool:
    """Tell whether each choice has its role, which comes first, and its finish reason, which comes last."""
    try:
        choices = _choices(pieces)
    except BadShape:
        return False
    return bool(choices) and all(choice.role and choice.finish_reason for choice in choices.values())


def join(pieces: Sequence[Entry]) -> Entry:
    """Return one chat completion, choices by index; without an end its ``finish_reason`` is null.

    Pieces count in the order given. Raises BadShape for a field of another type.
    """
    whole = {name: first_of(pieces, name) for name in ("id", "created", "model")}
    choices = [
        {"index": index, "message": _message(choice), "finish_reason": choice.finish_reason}
        for index, choice in sorted(_choices(pieces).items())
    ]
    usage = first_of(reversed(pieces), "usage")
    return {**logged_owner(pieces), **whole, "object": "chat.completion", "choices": choices, "usage": usage}


def _choices(pieces: Sequence[Entry]) -> dict[int, _Choice]:
    choices: dict[int, _Choice] = {}
    for piece in pieces:
        for item in objects(piece, "choices"):
            choice = choices.setdefault(place_in(item, "index") or 0, _Choice())
            _add_delta(choice, optional_object(item, "delta") or {})
            choice.finish_reason = optional_text(item, "finish_reason") or choice.finish_reason
    return choices


def _add_delta(choice: _Choice, delta: dict[str, Any]) -> None:
    choice.role = choice.role or optional_text(delta, "role")
    choice.add_text("content", _content(delta))
    choice.add_text("refusal", optional_text(delta, "refusal"))
    for name in REASONING_KEYS:  # some servers write the same words under both names
        if (thought := optional_text(delta, name)) is not None:
            choice.add_text("reasoning_content", thought)
            break
    for item in objects(delta, "tool_calls"):
        _call_of(choice, item).add(optional_object(item, "function") or optional_object(item, "custom") or {})
    if (legacy := optional_object(delta, "function_call")) is not None:
        choice.legacy_call = choice.legacy_call or _Call()
        choice.legacy_call.add(legacy)
    if (audio := optional_object(delta, "audio")) is not None:
        _add_audio(choice, audio)


def _content(delta: dict[str, Any]) -> str | None:
    """Return the text of a delta, of parts where a server sends a list of them."""
    if isinstance(delta.get("content"), list):
        return "".join(optional_text(part, "text") or "" for part in objects(delta, "content"))
    return optional_text(delta, "content")


def _call_of(choice: _Choice, item: dict[str, Any]) -> _Call:
    """Return the call that the piece belongs to: by its id, else the one that goes on at its index, else a new one."""
    index, call_id = place_in(item, "index"), optional_id(item, "id")
    call = choice.current.get(index) if call_id is None else choice.by_id.get((index, call_id))
    if call is None and call_id is not None and index in choice.current and choice.current[index].id is None:
        call = choice.current[index]
    if call is None:
        call = _Call()
        choice.calls.append(call)
    choice.current[index] = call
    if call_id is not None:
        call.id = call_id
        choice.by_id[index, call_id] = call
    return call


def _add_audio(choice: _Choice, audio: dict[str, Any]) -> None:
    choice.audio = choice.audio or {"data": [], "transcript": []}
    choice.audio_id = choice.audio_id or optional_id(audio, "id")
    for name, texts in choice.audio.items():
        texts.append(optional_text(audio, name) or "")


def _message(choice: _Choice) -> dict[str, Any]:
    message: dict[str, Any] = {"role": choice.role or "assistant", "content": choice.text("content")}
    for name in ("refusal", "reasoning_content"):
        if text := choice.text(name):
            message[name] = text
    if choice.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": call.function()} for call in choice.calls
        ]
    if choice.legacy_call is not None:
        message["function_call"] = choice.legacy_call.function()
    if choice.audio is not None:
        message["audio"] = {"id": choice.audio_id, **{name: "".join(texts) for name, texts in choice.audio.items()}}
    return message
