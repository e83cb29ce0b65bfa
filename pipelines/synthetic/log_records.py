"""Chat logs as Kafka records, seeded and of any size, each with the truth about what was planted in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Literal

import orjson

from pipelines.synthetic.broken_records import BREAKAGES, broken_value
from pipelines.synthetic.dialogues import Dialogue, DialogueWriter
from pipelines.synthetic.log_formats import FORMATS, GENERATED, WITH_USER_ID
from pipelines.synthetic.personal_values import PersonalValues
from pipelines.synthetic.renderers.entries import Clock, Entry
from pipelines.synthetic.renderers.traits import Trait
from schemas.records import CONSENT_HEADER, FEEDBACK_TOPIC, LOGS_TOPIC, DeadReason

Kind = Literal["chat", "feedback", "broken"]


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted value: its type, the record that first holds it, the field.

    ``kept`` tells whether a landed turn keeps that field, so that a lake without anonymisation must show the value. Not
    kept are user ids, edits in feedback, and all of a broken record.
    """

    type: str
    value: str
    record: int
    where: str
    kept: bool


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One Kafka record. ``number`` counts from 0; ``reason`` is what a broken one must be dead-lettered for."""

    number: int
    value: bytes
    headers: dict[str, str]
    kind: Kind
    topic: str
    format: str
    planted: tuple[Planted, ...] = ()
    reason: DeadReason | None = None


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of what a log holds, each of all conversations (``broken``: of all records); ``formats`` are weights.

    ``feedback`` is the share of answered requests that get a rating or an edit, ``resent`` of records sent twice,
    ``repeated`` of talks that another conversation repeats word for word.
    """

    personal: float = 0.6
    feedback: float = 0.2
    resent: float = 0.03
    repeated: float = 0.04
    broken: float = 0.02
    email_user_ids: float = 0.4
    formats: dict[str, int] = field(
        default_factory=lambda: {
            "openai_chat": 8,
            "anthropic_messages": 4,
            "otel_genai": 3,
            "sharegpt": 5,
            "wildchat": 3,
            "lmsys": 2,
            "oasst_tree": 3,
        }
    )
    consents: dict[str, int] = field(default_factory=lambda: {"": 88, "analytics": 8, "none": 4})


def generate(
    n_conversations: int, seed: int, *, mix: Mix | None = None, breakages: tuple[str, ...] = tuple(BREAKAGES)
) -> Iterator[LogRecord]:
    """Yield the records of ``n_conversations`` invented talks; equal arguments give equal bytes.

    Records of a talk come in order, feedback after its answer, broken records and copies in between. ``breakages``
    narrows the kinds of broken records. ``ValueError`` for a negative number, an unknown breakage, or a format that a
    log cannot be generated in.
    """
    if n_conversations < 0:
        raise ValueError(f"wanted a number of conversations from 0 up, found {n_conversations}")
    if unknown := set(breakages) - set(BREAKAGES):
        raise ValueError(f"wanted breakages out of {', '.join(BREAKAGES)}, found {', '.join(sorted(unknown))}")
    mix = mix or Mix()
    if unknown := set(mix.formats) - set(GENERATED):
        raise ValueError(f"wanted formats out of {', '.join(GENERATED)}, found {', '.join(sorted(unknown))}")
    writer = _LogWriter(Random(seed), mix, breakages)  # noqa: S311 - reproducible, not secret
    for _ in range(n_conversations):
        yield from writer.conversation()


class _LogWriter:
    def __init__(self, random: Random, mix: Mix, breakages: tuple[str, ...]) -> None:
        self._random = random
        self._mix = mix
        self._breakages = breakages
        self._dialogues = DialogueWriter(random, PersonalValues(random))
        self._clock = Clock(random)
        self._number = 0
        self._told_before: list[Dialogue] = []

    def conversation(self) -> Iterator[LogRecord]:
        """Yield the records of one talk, and what a real log mixes in between."""
        random, mix = self._random, self._mix
        name = random.choices(list(mix.formats), list(mix.formats.values()))[0]
        repeated = [one for one in self._told_before if _carries_tools(name) or not _uses_tools(one)]
        if repeated and random.random() < mix.repeated:
            dialogue, plantings = random.choice(repeated), []
        else:
            dialogue = self._dialogues.write(personal=random.random() < mix.personal, tools=_carries_tools(name))
            plantings = list(dialogue.plantings)
            self._remember(dialogue)
        consent = random.choices(list(mix.consents), list(mix.consents.values()))[0]
        headers = {CONSENT_HEADER: consent} if consent else {}
        user_planted = self._name_user(dialogue, name)
        for entry in FORMATS[name].render(dialogue, self._clock):
            due = [one for one in plantings if one.line < entry.lines]
            plantings = [one for one in plantings if one.line >= entry.lines]
            planted = [Planted(one.type, one.value, self._number, one.where, True) for one in due]
            if user_planted:
                planted.append(Planted("EMAIL", user_planted, self._number, "user_id", False))
                user_planted = None
            yield from self._sent(name, entry, headers, tuple(planted))
            if entry.response_id and random.random() < mix.feedback:
                yield self._feedback(entry.response_id, headers)
        dialogue.user_id = None

    def _remember(self, dialogue: Dialogue) -> None:
        self._told_before = [*self._told_before[-30:], dialogue]

    def _name_user(self, dialogue: Dialogue, format_name: str) -> str | None:
        """Give the talk a user id where the format has one; return it when it is a planted address."""
        if format_name not in WITH_USER_ID:
            return None
        if self._random.random() < self._mix.email_user_ids:
            dialogue.user_id = self._dialogues.user_email()
            return dialogue.user_id
        dialogue.user_id = f"customer-{self._clock.hex(10)}" if self._random.random() < 0.7 else None
        return None

    def _sent(
        self, name: str, entry: Entry, headers: dict[str, str], planted: tuple[Planted, ...]
    ) -> Iterator[LogRecord]:
        value = orjson.dumps(entry.json)
        yield self._record(value, headers, "chat", LOGS_TOPIC, name, planted)
        if self._random.random() < self._mix.resent:
            yield self._record(value, headers, "chat", LOGS_TOPIC, name)
        if self._breakages and self._random.random() < self._mix.broken:
            yield self._broken(name)

    def _broken(self, name: str) -> LogRecord:
        """Break a record of a talk of its own, so that its values stand nowhere else."""
        dialogue = self._dialogues.write(personal=True, tools=_carries_tools(name))
        sound = orjson.dumps(FORMATS[name].render(dialogue, self._clock)[-1].json)
        breakage = self._random.choice(self._breakages)
        value = broken_value(breakage, sound, self._random)
        held = [one for one in dialogue.plantings if _holds(value, one.value)]
        planted = tuple(Planted(one.type, one.value, self._number, one.where, False) for one in held)
        return self._record(value, {}, "broken", LOGS_TOPIC, name, planted, BREAKAGES[breakage])

    def _feedback(self, response_id: str, headers: dict[str, str]) -> LogRecord:
        feedback: dict[str, object] = {"response_id": response_id, "created_at": self._clock.tick()}
        planted: tuple[Planted, ...] = ()
        match self._random.choices(("thumb", "stars", "edit", "regenerate"), (6, 2, 2, 1))[0]:
            case "thumb":
                feedback |= {"kind": "thumb", "value": self._random.choice((1, 1, 1, -1))}
            case "stars":
                feedback |= {"kind": "stars", "value": self._random.randrange(1, 6)}
            case "edit":
                text, values = self._edit()
                feedback |= {"kind": "edit", "text": text}
                planted = tuple(Planted(kind, value, self._number, "edit", False) for kind, value in values)
            case other:
                feedback |= {"kind": other}
        value = orjson.dumps({"feedback": feedback})
        return self._record(value, headers, "feedback", FEEDBACK_TOPIC, "turnmill_feedback", planted)

    def _edit(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the words of an edit and what is planted in them: an address of mail, in some a name before it."""
        address = self._dialogues.user_email()
        text, values = f"please send the bill to {address} today.", [("EMAIL", address)]
        try:
            if self._random.random() < 0.5:
                family = self._dialogues.user_person().family
                return f"Better: Dear Mrs {family}, {text}", [("PERSON", family), *values]
        except LookupError:
            pass
        return f"Better: {text}", values

    def _record(
        self,
        value: bytes,
        headers: dict[str, str],
        kind: Kind,
        topic: str,
        name: str,
        planted: tuple[Planted, ...] = (),
        reason: DeadReason | None = None,
    ) -> LogRecord:
        self._number += 1
        return LogRecord(self._number - 1, value, dict(headers), kind, topic, name, planted, reason)


def _holds(record: bytes, value: str) -> bool:
    """Tell whether a record holds a value as it is, or escaped as JSON, once or as JSON inside of JSON."""
    once = json.dumps(value)[1:-1]
    return any(form.encode() in record for form in (value, once, json.dumps(once)[1:-1]))


def _carries_tools(name: str) -> bool:
    return Trait.TOOLS in FORMATS[name].carries


def _uses_tools(dialogue: Dialogue) -> bool:
    return any(line.calls for line in dialogue.lines)
