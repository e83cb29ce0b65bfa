"""Events of the OpenAI Responses API -> the whole response.

Source: OpenAI Responses API, streaming; crate openai-interface 0.9.0. The events that end a stream carry the whole
response and are log entries by themselves; pieces are joined only without one, or where it came without output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.intake.items import Entry
from pipelines.intake.shape import optional_id, optional_object, optional_text, text_or_empty
from pipelines.intake.streams.pieces import OF_LOGS, logged_owner, piece_id, place_in

NAME = "responses_events"
OPENS_WITH_NAME = False
ENDS_WITH_DONE = False

STATUS_OF_END = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})

TEXTS = {
    "output_text": ("content", "output_text", "text", "message"),
    "refusal": ("content", "refusal", "refusal", "message"),
    "reasoning_text": ("content", "reasoning_text", "text", "reasoning"),
    "reasoning_summary_text": ("summary", "summary_text", "text", "reasoning"),
}
"""Events of texts: the list of the item that the text is in, the type and field of its part, the type of the item."""

ARGUMENTS = {
    "function_call_arguments": ("arguments", "function_call"),
    "custom_tool_call_input": ("input", "custom_tool_call"),
    "mcp_call_arguments": ("arguments", "mcp_call"),
}
"""Events of arguments: the field of the item, and the item's type."""

PARTS = {"content_part": ("content", "message"), "reasoning_summary_part": ("summary", "reasoning")}
INDEX_OF = {"content": "content_index", "summary": "summary_index"}


@dataclass(slots=True)
class _Text:
    """A text so far; ``whole`` is the text of the event that ends it."""

    pieces: list[str] = field(default_factory=list)
    whole: str | None = None

    def add(self, stage: str, event: Entry, name: str) -> None:
        if stage == "delta":
            self.pieces.append(text_or_empty(event, "delta"))
        elif stage == "done" and (whole := optional_text(event, name)) is not None:
            self.whole = whole

    def text(self) -> str:
        return "".join(self.pieces) if self.whole is None else self.whole


@dataclass(slots=True)
class _Item:
    """An output item so far. ``texts`` go by list, index, type and field; ``parts`` of other types are whole."""

    index: int | None
    id: str | None
    kind: str
    item: dict[str, Any] = field(default_factory=dict)
    done: bool = False
    texts: dict[tuple[str, int, str, str], _Text] = field(default_factory=dict)
    parts: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    arguments: dict[str, _Text] = field(default_factory=dict)


def is_terminal(entry: Entry) -> bool:
    """Tell whether an event ends a stream and carries the whole response: a log entry by itself. Never raises."""
    kind = entry.get("type")
    return isinstance(kind, str) and kind in STATUS_OF_END and isinstance(entry.get("response"), dict)


def matches(entry: Entry) -> bool:
    """Tell by the type of the event; one that carries the whole response is no lone piece. Never raises."""
    kind = entry.get("type")
    if not isinstance(kind, str) or not OF_LOGS.isdisjoint(entry):
        return False
    if kind == "error":
        return "sequence_number" in entry and not isinstance(entry.get("error"), dict)
    return kind.startswith("response.") and not is_terminal(entry)


def key(entry: Entry) -> str | None:
    """Return the response id where the event has it, else the item id; None without either. Never raises."""
    return _response_id(entry) or piece_id(entry, "item_id") or piece_id(entry.get("item"), "id")


def names_stream(entry: Entry) -> bool:
    """Tell whether the key of the event is that of its whole stream: most events name their item alone."""
    return _response_id(entry) is not None


def keys_closed_by(entry: Entry) -> list[str]:
    """Return the keys that events before this one may have had, where it carries the whole response. Never raises."""
    if not is_terminal(entry):
        return []
    output = entry["response"].get("output")
    ids = [piece_id(item, "id") for item in output] if isinstance(output, list) else []
    return list(dict.fromkeys(found for found in (key(entry), *ids) if found is not None))


def is_whole(pieces: Sequence[Entry]) -> bool:
    """Tell whether the whole response is there, or a beginning and an end: of the response, or by an error.

    Some servers leave the output out of the event that ends the stream; pieces before it may be elsewhere then.
    """
    kinds = {kind for piece in pieces if isinstance(kind := piece.get("type"), str)}
    if any(is_terminal(piece) and piece["response"].get("output") for piece in pieces):
        return True
    return not kinds.isdisjoint(BEGINNINGS) and ("error" in kinds or not kinds.isdisjoint(STATUS_OF_END))


def join(pieces: Sequence[Entry]) -> Entry:
    """Return one response: that of the last event where it is there, else made of the others, ``status`` null.

    Events count by ``sequence_number`` where they have one, else in the order given. Raises BadShape for a field of
    another type.
    """
    events = in_sequence(pieces)
    response: dict[str, Any] = {}
    status = None
    for event in events:
        kind = event.get("type")
        found = optional_object(event, "response")
        if isinstance(kind, str) and kind in STATUS_OF_END:
            response, status = found or response, (found or {}).get("status") or STATUS_OF_END[kind]
        elif found is not None and status is None:
            response = {**found, **{name: value for name, value in response.items() if value is not None}}
    output = response.get("output") if status is not None else None
    owner = {name: value for name, value in logged_owner(pieces).items() if response.get(name) is None}
    return {
        **response,
        **owner,
        "id": response.get("id") or next(filter(None, map(_response_id, events)), None),
        "object": "response",
        "status": status,
        "output": output or [_finished(item) for item in _items(events)],
    }


def in_sequence(pieces: Sequence[Entry]) -> list[Entry]:
    """Return the events by ``sequence_number``, each number once; those without a number keep their place."""
    numbered: dict[int, Entry] = {}
    slots: list[Entry | None] = []
    for piece in pieces:
        number = place_in(piece, "sequence_number")
        if number is None:
            slots.append(piece)
        elif number not in numbered:
            numbered[number] = piece
            slots.append(None)
    in_order = iter([numbered[number] for number in sorted(numbered)])
    return [next(in_order) if slot is None else slot for slot in slots]


def _response_id(entry: Entry) -> str | None:
    return piece_id(entry.get("response"), "id") or piece_id(entry, "response_id")


def _items(events: Sequence[Entry]) -> list[_Item]:
    """Return the output items that the events tell of, by their index, then as they came."""
    output = _Output()
    for event in events:
        kind = event.get("type")
        if isinstance(kind, str):
            what, _, stage = kind.removeprefix("response.").rpartition(".")
            _add_event(output, event, what, stage)
    return sorted(output.items, key=lambda item: (item.index is None, item.index or 0))


class _Output:
    """The output items so far, found by index (some servers change the ids), by id, else the last of a type."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self.by_index: dict[int, _Item] = {}
        self.by_id: dict[str, _Item] = {}
        self.by_kind: dict[str, _Item] = {}

    def item_of(self, event: Entry, kind: str) -> _Item:
        index = place_in(event, "output_index")
        item_id = optional_id(event, "item_id") or optional_id(optional_object(event, "item") or {}, "id")
        item = self._known(index, item_id, kind)
        if item is None:
            item = _Item(index, item_id, kind)
            self.items.append(item)
        if index is not None:
            item.index = index
            self.by_index[index] = item
        if item_id is not None:
            self.by_id[item_id] = item
        self.by_kind[kind] = item
        return item

    def _known(self, index: int | None, item_id: str | None, kind: str) -> _Item | None:
        if index is not None and index in self.by_index:
            return self.by_index[index]
        if item_id is not None:
            item = self.by_id.get(item_id)
            return item if item is None or index is None or item.index is None else None
        return self.by_kind.get(kind) if index is None else None


def _add_event(output: _Output, event: Entry, what: str, stage: str) -> None:
    if what == "output_item":
        if (found := optional_object(event, "item")) is not None:
            item = output.item_of(event, optional_text(found, "type") or "message")
            if not item.done:
                item.item, item.done = found, stage == "done"
    elif what in TEXTS:
        holder, part_type, name, kind = TEXTS[what]
        place = (holder, place_in(event, INDEX_OF[holder]) or 0, part_type, name)
        output.item_of(event, kind).texts.setdefault(place, _Text()).add(stage, event, name)
    elif what in ARGUMENTS:
        name, kind = ARGUMENTS[what]
        output.item_of(event, kind).arguments.setdefault(name, _Text()).add(stage, event, name)
    elif what in PARTS and stage == "done":
        holder, kind = PARTS[what]
        part = optional_object(event, "part") or {}
        output.item_of(event, kind).parts[holder, place_in(event, INDEX_OF[holder]) or 0] = part


def _finished(item: _Item) -> dict[str, Any]:
    """Return the item as its last event has it, else as it began with the texts and arguments of its pieces."""
    finished = {"type": item.kind, **({} if item.id is None else {"id": item.id}), **item.item}
    if item.done:
        return finished
    for name, text in item.arguments.items():
        finished[name] = text.text()
    parts = dict(item.parts)
    for (holder, index, part_type, name), text in item.texts.items():
        parts.setdefault((holder, index), {"type": part_type, name: text.text()})
    for holder in INDEX_OF:
        places = sorted(place for place in parts if place[0] == holder)
        if places:
            finished[holder] = [parts[place] for place in places]
    if finished["type"] == "message":
        finished.setdefault("role", "assistant")
    return finished
