"""Every kept string of a turn or a rating, anonymised together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pipelines.intake.items import Feedback, Message, Rating, Turn
from pipelines.privacy.anonymizer import Anonymized, Anonymizer, Row, Whose
from pipelines.privacy.folding import fold

_STRINGS = (
    "reasoning", "tool_call_id", "tool_name", "model", "response_id", "span_id", "previous_response_id",
    "finish_reason",
)  # fmt: skip

Redaction = tuple[str, int, int, str]
"""JSON pointer of the column, start and end in code points of the new text, type: as in ``REDACTIONS``."""


@dataclass(slots=True)
class AnonymizedTurn:
    """The message of a turn without its personal values; ``counts`` are replaced spans by type."""

    message: Message
    redactions: list[Redaction]
    counts: dict[str, int]


@dataclass(slots=True)
class AnonymizedFeedback:
    """A rating without the personal values of its text and ids."""

    rating: Rating
    redactions: list[Redaction]
    counts: dict[str, int]


def anonymize_turn(turn: Turn, anonymizer: Anonymizer) -> AnonymizedTurn:
    """Return the turn's message with all strings that a row keeps anonymised; the turn itself is not changed.

    The raw user id of the turn counts as a known value. Raises ``LeftValueError`` when the proof fails.
    """
    return _with_turn(turn, _merged([_fields(row, anonymizer) for row in _rows_of(turn)]))


def anonymize_feedback(feedback: Feedback, anonymizer: Anonymizer) -> AnonymizedFeedback:
    """Return the rating with its text and response id anonymised; the feedback itself is not changed."""
    return _with_feedback(feedback, _merged([_fields(row, anonymizer) for row in _rows_of(feedback)]))


def anonymize_items(
    items: Sequence[Turn | Feedback], anonymizer: Anonymizer
) -> list[AnonymizedTurn | AnonymizedFeedback | Exception]:
    """Anonymise turns and ratings as the two functions above do, with one call of the second tier for all of them.

    An error in the place of an item means that it must not pass; its neighbours are not touched by it.
    """
    # Requests repeat the talk so far: equal rows are read once.
    places: dict[Hashable, int] = {}
    rows: list[Row] = []
    places_of: list[list[int]] = []
    for item in items:
        places_of.append([])
        for row in _rows_of(item):
            place = places.setdefault((row.tenant, tuple(row.fields.items()), row.known, row.whose), len(rows))
            if place == len(rows):
                rows.append(row)
            places_of[-1].append(place)
    found = anonymizer.batch(rows)
    return [_clean(item, [found[place] for place in own]) for item, own in zip(items, places_of, strict=True)]


def _rows_of(item: Turn | Feedback) -> list[Row]:
    """Return what is anonymised together; tools stand alone and are nobody's, since a tenant's requests repeat them."""
    if isinstance(item, Feedback):
        return [_feedback_row(item)]
    row, tools = _turn_row(item), item.message.tools
    if not tools:
        return [row]
    named = [known for known in row.known if fold(known).text.strip().lower() in _comparable(tools)]
    return [row, Row(row.tenant, {"/tools": tools}, tuple(named))]


@lru_cache(maxsize=64)
def _comparable(tools: str) -> str:
    return fold(tools).text.lower()


def _fields(row: Row, anonymizer: Anonymizer) -> dict[str, Anonymized]:
    return anonymizer.fields(row.tenant, row.fields, row.known, whose=row.whose)


def _merged(found: Sequence[dict[str, Anonymized]]) -> dict[str, Anonymized]:
    return found[0] if len(found) == 1 else {pointer: clean for fields in found for pointer, clean in fields.items()}


def _clean(
    item: Turn | Feedback, found: Sequence[dict[str, Anonymized] | Exception]
) -> AnonymizedTurn | AnonymizedFeedback | Exception:
    fields: list[dict[str, Anonymized]] = []
    for one in found:
        if isinstance(one, Exception):
            return one
        fields.append(one)
    clean = _merged(fields)
    return _with_turn(item, clean) if isinstance(item, Turn) else _with_feedback(item, clean)


def _turn_row(turn: Turn) -> Row:
    whose = Whose(turn.user_ref, turn.conversation_ref or turn.root_id)
    return Row(turn.tenant, dict(_strings(turn.message)), _known(turn.user_id), whose)


def _feedback_row(feedback: Feedback) -> Row:
    rating = feedback.rating
    strings = {"/text": rating.text, "/target_response_id": rating.response_id, "/measure": rating.measure}
    fields = {pointer: text for pointer, text in strings.items() if text}
    whose = Whose(feedback.user_ref, feedback.conversation_ref)
    return Row(feedback.tenant, fields, _known(feedback.user_id), whose)


def _with_turn(turn: Turn, clean: dict[str, Anonymized]) -> AnonymizedTurn:
    redactions = _redactions(clean)
    if not redactions:
        return AnonymizedTurn(turn.message, [], {})
    return AnonymizedTurn(_rebuilt(turn.message, clean), redactions, _counts(redactions))


def _with_feedback(feedback: Feedback, clean: dict[str, Anonymized]) -> AnonymizedFeedback:
    rating = feedback.rating
    redactions = _redactions(clean)
    if not redactions:
        return AnonymizedFeedback(rating, [], {})
    text = _new(clean, "/text", rating.text)
    response_id = _new(clean, "/target_response_id", rating.response_id)
    measure = _new(clean, "/measure", rating.measure)
    edited = replace(rating, text=text, response_id=response_id, measure=measure)
    return AnonymizedFeedback(edited, redactions, _counts(redactions))


def _strings(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the pointer and text of every string of a message that reaches a row and is not our own."""
    if message.text:
        yield "/text", message.text
    for name in _STRINGS:
        value = getattr(message, name)
        if value:
            yield f"/{name}", value
    for i, call in enumerate(message.tool_calls):
        for name, value in (("id", call.id), ("name", call.name), ("arguments", call.arguments)):
            if value:
                yield f"/tool_calls/{i}/{name}", value
    for i, part in enumerate(message.parts):
        for name, value in (("type", part.type), ("media_type", part.media_type), ("uri", part.uri)):
            if value:
                yield f"/parts/{i}/{name}", value


def _rebuilt(message: Message, clean: dict[str, Anonymized]) -> Message:
    calls = [
        replace(
            call,
            id=_new(clean, f"/tool_calls/{i}/id", call.id),
            name=_new(clean, f"/tool_calls/{i}/name", call.name) or "",
            arguments=_new(clean, f"/tool_calls/{i}/arguments", call.arguments) or "",
        )
        for i, call in enumerate(message.tool_calls)
    ]
    parts = [
        replace(
            part,
            type=_new(clean, f"/parts/{i}/type", part.type) or "",
            media_type=_new(clean, f"/parts/{i}/media_type", part.media_type),
            uri=_new(clean, f"/parts/{i}/uri", part.uri),
        )
        for i, part in enumerate(message.parts)
    ]
    strings: dict[str, Any] = {name: _new(clean, f"/{name}", getattr(message, name)) for name in (*_STRINGS, "tools")}
    text = _new(clean, "/text", message.text) or ""
    return replace(message, text=text, tool_calls=calls, parts=parts, **strings)


def _new(clean: dict[str, Anonymized], pointer: str, old: str | None) -> str | None:
    found = clean.get(pointer)
    return old if found is None else found.text


def _redactions(clean: dict[str, Anonymized]) -> list[Redaction]:
    return [(pointer, *span) for pointer, found in clean.items() for span in found.redactions]


def _counts(redactions: list[Redaction]) -> dict[str, int]:
    return dict(Counter(kind for *_, kind in redactions))


def _known(user_id: str | None) -> Sequence[str]:
    return (user_id,) if user_id else ()
