"""What all renderers share: a log entry, ids and times of a log, the answers of a dialogue, JSON of its calls."""

from __future__ import annotations

import base64
import datetime as dt
import json
from dataclasses import dataclass
from random import Random
from typing import Any

from pipelines.synthetic.dialogues import Call, Dialogue, Line, Media

Json = dict[str, Any]
MODELS = ("mill-small-2", "mill-large-1", "grist-7b")
MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "file": "application/pdf"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One log entry: its JSON, how many lines of the dialogue it holds, and the id that feedback joins on.

    A list is a stream's pieces, each of which may also be a record of its own.
    """

    json: Json | list[Json]
    lines: int
    response_id: str | None = None


@dataclass(slots=True)
class Clock:
    """Ids and times of a log, from its own randomness; times rise by some seconds a call, epoch seconds."""

    random: Random
    now: int = 1_780_000_000

    def tick(self) -> int:
        """Return a later time than the last one."""
        self.now += self.random.randrange(1, 40)
        return self.now

    def hex(self, digits: int) -> str:
        """Return a random id in hex."""
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"


def answers(dialogue: Dialogue) -> list[tuple[int, Line, list[str]]]:
    """Return (lines before, the line, its texts with the alternative last) for each line of the assistant."""
    return [
        (place, line, [line.text, *([line.alternative] if line.alternative else [])])
        for place, line in enumerate(dialogue.lines)
        if line.role == "assistant"
    ]


def conversation_id(dialogue: Dialogue, clock: Clock, prefix: str, digits: int) -> str:
    """Return the dialogue's own conversation id, or an invented one."""
    return dialogue.conversation_id or f"{prefix}{clock.hex(digits)}"


def owner(dialogue: Dialogue, user_key: str = "user_id") -> Json:
    """Return whose talk it is, as loggers write it beside an entry; empty where the dialogue does not say."""
    ids = {"conversation_id": dialogue.conversation_id, user_key: dialogue.user_id}
    return {key: value for key, value in ids.items() if value}


def arguments_text(call: Call) -> str:
    """Return the arguments of a call as the model wrote them."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def encoded(media: Media) -> str:
    """Return the content in base64."""
    return base64.b64encode(media.content).decode()


def data_uri(media: Media) -> str:
    """Return the content as a ``data:`` URI."""
    return f"data:{MEDIA_TYPES[media.kind]};base64,{encoded(media)}"


def iso(seconds: int) -> str:
    """Return the time in ISO 8601."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat().replace("+00:00", "Z")
