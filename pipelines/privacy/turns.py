"""Every kept string of a turn or a rating, anonymised together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.intake.items import Feedback, Message, Rating, Turn
from pipelines.privacy.anonymizer import Anonymized, Anonymizer

_STRINGS = (
    "reasoning", "tool_call_id", "tool_name", "model", "response_id", "previous_response_id", "finish_reason",
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
    message = turn.message
    fields = dict(_strings(message))
    clean = anonymizer.fields(turn.tenant, fields, _known(turn.user_id))
    redactions = _redactions(clean)
    if not redactions:
        return AnonymizedTurn(message, [], {})
    return AnonymizedTurn(_rebuilt(message, clean), redactions, _counts(redactions))


def anonymize_feedback(feedback: Feedback, anonymizer: Anonymizer) -> AnonymizedFeedback:
    """Return the rating with its text and response id anonymised; the feedback itself is not changed."""
    rating = feedback.rating
    strings = {"/text": rating.text, "/target_response_id": rating.response_id, "/measure": rating.measure}
    fields = {pointer: text for pointer, text in strings.items() if text}
    clean = anonymizer.fields(feedback.tenant, fields, _known(feedback.user_id))
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
    strings = {name: _new(clean, f"/{name}", getattr(message, name)) for name in _STRINGS}
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
