"""Talks that share their beginning, folded into one tree: what is equal so far is one message, not two."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pipelines.intake.items import Message
from pipelines.intake.tool_arguments import canonical_arguments

LATER_FACTS = (
    "model", "response_id", "span_id", "finish_reason", "created_at", "reasoning", "tool_call_id", "tool_name",
    "tools",
)  # fmt: skip
"""Fields that one log of a message has and another lacks; the first value that is there counts."""


class PrefixTree:
    """Collects messages under the longest equal prefix. ``messages`` is ready for a Talk: parents come first."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._places: dict[Hashable, int] = {}
        self._system: int | None = None

    def add(self, branch: Sequence[Message]) -> list[int]:
        """Add linked messages (parents are indices in ``branch``); return the place of each in ``messages``.

        Equal means equal role, text, tool calls and media under the same parent. A system message that is no longer
        the one in force is added again, since the messages after it must find it right before them.
        """
        places: list[int] = []
        for message in branch:
            parent = -1 if message.parent < 0 else places[message.parent]
            key = (parent, _content(message))
            place = self._places.get(key)
            if place is None or (message.role == "system" and place != self._system):
                place = len(self.messages)
                self._places[key] = place
                message.parent = parent
                self.messages.append(message)
            elif self.messages[place] is not message:
                _complete(self.messages[place], message)
            if message.role == "system":
                self._system = place
            places.append(place)
        return places


def _content(message: Message) -> Hashable:
    calls = [(call.name, canonical_arguments(call.arguments) or call.arguments) for call in message.tool_calls]
    parts = [(part.type, part.sha256, part.content) for part in message.parts]
    return message.role, message.text.strip(), tuple(calls), tuple(parts)


def _complete(known: Message, same: Message) -> None:
    for name in LATER_FACTS:
        if getattr(known, name) is None:
            setattr(known, name, getattr(same, name))
    known.flags += [flag for flag in same.flags if flag not in known.flags]
