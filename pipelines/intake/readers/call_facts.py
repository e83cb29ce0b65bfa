"""What a gateway or tracing log says about a call beside its bodies: times, model, and the id that feedback names."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pipelines.intake.items import Message, Talk


@dataclass(frozen=True, slots=True)
class CallFacts:
    """Facts of one call. They fill gaps: what a body itself says about a message wins.

    ``response_id`` is what the log calls the call; it serves as response id where the body has none.
    """

    asked_at: dt.datetime | None = None
    answered_at: dt.datetime | None = None
    model: str | None = None
    response_id: str | None = None

    def add_to(self, talk: Talk, answered: bool) -> list[Message]:
        """Give the last message asked its time and the replies the rest, in place; return the replies.

        ``answered`` says that the call has a response: without one, an assistant's words at the end are history.
        """
        replies = replies_of(talk.messages) if answered else []
        asked = len(talk.messages) - len(replies) - 1
        if asked >= 0 and talk.messages[asked].created_at is None:
            talk.messages[asked].created_at = self.asked_at
        for message in replies:
            message.created_at = message.created_at or self.answered_at
            message.model = message.model or self.model
            message.response_id = message.response_id or self.response_id
            message.span_id = message.span_id or self.response_id
        return replies


def replies_of(messages: list[Message]) -> list[Message]:
    """Return the answers at the end of a talk: one, or several siblings; empty where another role has the last word."""
    first = len(messages)
    while first and messages[first - 1].role == "assistant" and messages[first - 1].parent == messages[-1].parent:
        first -= 1
    return messages[first:]
