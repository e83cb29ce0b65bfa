"""Texts by which conversations are compared: what was said and done in them, by whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from pipelines.intake.items import Message, ToolCall

INSTRUCTIONS = frozenset({"system", "developer"})
"""Roles whose messages all talks with an assistant share: as part of a talk they would make all of them alike."""


@dataclass(frozen=True)
class TalkText:
    """``exact`` tells which talks are equal, ``compared`` which are nearly so."""

    exact: str
    compared: str


def talk_text(messages: Iterable[Message]) -> TalkText:
    """Join the messages of a talk, each with its role and its tool calls (name and arguments, no ids).

    Media stand as their digests. Instructions count where talks are equal, and are left out where they are nearly so,
    unless there is nothing else.
    """
    told = [(one.role, _told(one)) for one in messages]
    exact = _joined(told)
    spoken = [(role, text) for role, text in told if role not in INSTRUCTIONS]
    return TalkText(exact, _joined(spoken) if spoken else exact)


def _joined(told: list[tuple[str, str]]) -> str:
    return "\n\n".join(f"{role}: {text}" for role, text in told)


def _told(message: Message) -> str:
    media = [part.sha256 or part.uri or part.type for part in message.parts]
    return "\n".join((message.text, *media, *map(_call, message.tool_calls)))


def _call(call: ToolCall) -> str:
    """Return name and arguments, arguments in canonical form where they are JSON."""
    try:
        arguments = orjson.dumps(orjson.loads(call.arguments), option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONDecodeError:
        arguments = call.arguments
    return f"{call.name} {arguments}"
