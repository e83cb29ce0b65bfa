"""The open chat set: talks in twelve languages, code, tool JSON, logs, and texts that only look personal.

Everything is invented here. No name and no sentence is one that a detector of ours was trained with or written after:
names stand in no list of the training, templates in no other module. Equal arguments give equal sets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random

from privacy_sets import personal_values as values
from privacy_sets.code_texts import ASKED, LOG_LINES, PYTHON, TOOL_JSON
from privacy_sets.filling import Value, fill
from privacy_sets.hard_negatives import HARD_NEGATIVES
from privacy_sets.labelled import Gold, LabelledSet, Sample
from privacy_sets.languages.all_languages import LANGUAGES
from privacy_sets.languages.english import ENGLISH
from privacy_sets.languages.form import ChatLanguage
from privacy_sets.personas import Persona

NAME = "chat"
NEGATIVES = "hard-negatives"
SEED = 20_260_401
ENGLISH_SHARE = 0.3
FENCE = "```"


def chat_set(conversations: int = 400, seed: int = SEED) -> LabelledSet:
    """Return talks of two to eight turns; one person writes each, and a second one is spoken of."""
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    samples = [sample for place in range(conversations) for sample in _Talk(random, f"chat-{place}").turns()]
    return LabelledSet(NAME, tuple(samples))


def hard_negatives(texts: int = 400, seed: int = SEED) -> LabelledSet:
    """Return texts without a personal value, that must come out as they went in."""
    random = Random(seed + 1)  # noqa: S311 - reproducible, not secret
    samples = []
    for place in range(texts):
        text, _ = fill(HARD_NEGATIVES[place % len(HARD_NEGATIVES)], lambda gap: machine_value(random, gap))
        samples.append(Sample(text, conversation=f"{NEGATIVES}-{place}", must_keep=(text,)))
    return LabelledSet(NEGATIVES, tuple(samples))


def machine_value(random: Random, gap: str) -> Value:
    """Return what a machine writes: ``uuid``, ``hash``, ``epoch``, ``version``, ``order``, ``color``, ``small``."""
    drawn = random.getrandbits(128)
    texts: dict[str, Callable[[], str]] = {
        "uuid": lambda: values.grouped(f"{drawn:032x}", (8, 4, 4, 4, 12), "-"),
        "hash": lambda: f"{drawn:032x}",
        "epoch": lambda: str(1_767_225_600_000 + drawn % 10**10),
        "version": lambda: f"{drawn % 9}.{drawn // 9 % 40}.{drawn // 360 % 20}",
        "order": lambda: f"R-{drawn % 10**6:06}",
        "color": lambda: f"{drawn % 16**6:06x}",
        "small": lambda: f"{10 + drawn % 90}",
    }
    return Value(texts[gap]())


class _Talk:
    """One conversation under construction."""

    def __init__(self, random: Random, name: str) -> None:
        self.random, self.name = random, name
        draw = random.random()
        self.language: ChatLanguage = ENGLISH if draw < ENGLISH_SHARE else random.choice(LANGUAGES[1:])
        self.writer = Persona(random, self.language, f"{name}/writer")
        self.other = Persona(random, self.language, f"{name}/other")
        while self.other.given == self.writer.given or self.other.family == self.writer.family:
            self.other = Persona(random, self.language, f"{name}/other")

    def turns(self) -> Iterator[Sample]:
        for _ in range(self.random.choice((1, 2, 2, 3))):
            yield from self.random.choices(
                (self._told, self._neutral, self._code, self._tool, self._log), weights=(55, 20, 8, 12, 5)
            )[0]()

    def _told(self) -> Iterator[Sample]:
        yield self._sample(self._amid(self.random.choice(self.language.told)))
        yield self._sample(self._amid(self.random.choice(self.language.replies)))

    def _neutral(self) -> Iterator[Sample]:
        for text in self.random.choice(self.language.neutral):
            yield self._sample(text)

    def _code(self) -> Iterator[Sample]:
        block = f"{self.random.choice(ASKED)}\n\n{FENCE}python\n{self.random.choice(PYTHON)}{FENCE}"
        yield self._sample(block, "python")

    def _tool(self) -> Iterator[Sample]:
        indent = self.random.choice((None, None, 2))
        template = json.dumps(self.random.choice(TOOL_JSON), indent=indent)
        text, gold = fill(template, self._value, in_json=True)
        yield Sample(text, gold, self.name, self.language.code, "json")

    def _amid(self, sentence: str) -> str:
        """Put a sentence between others that are about no person, as long turns have it."""
        others = [
            self.random.choice(self.random.choice(self.language.neutral)) for _ in range(self.random.randrange(5))
        ]
        place = self.random.randrange(len(others) + 1)
        return self.random.choice(("\n\n", " ")).join([*others[:place], sentence, *others[place:]])

    def _log(self) -> Iterator[Sample]:
        yield self._sample(self.random.choice(LOG_LINES))

    def _sample(self, template: str, structure: str = "") -> Sample:
        text, gold = fill(template, self._value)
        return Sample(text, gold, self.name, self.language.code, structure)

    def _value(self, gap: str) -> Value:
        if gap in ("uuid", "hash", "epoch", "version", "order", "color", "small"):
            return machine_value(self.random, gap)
        if gap == "other":
            return self.other.value("full")
        if gap.startswith("other_"):
            return self.other.value(gap.removeprefix("other_"))
        return self.writer.value(gap)


def long_notes(notes: int = 12, size: int = 50_000, seed: int = SEED) -> LabelledSet:
    """Return notes of at least ``size`` characters each: turns of many talks, joined by blank lines."""
    random = Random(seed + 2)  # noqa: S311 - reproducible, not secret
    return LabelledSet("notes-50kB", tuple(_note(random, place, size) for place in range(notes)))


def _note(random: Random, place: int, size: int) -> Sample:
    pieces: list[str] = []
    gold: list[Gold] = []
    length = talk = 0
    while length < size:
        for turn in _Talk(random, f"note-{place}/{talk}").turns():
            gold += _moved(turn.gold, length)
            pieces.append(turn.text)
            length += len(turn.text) + 2
        talk += 1
    return Sample("\n\n".join(pieces), tuple(gold), f"note-{place}")


def _moved(gold: Sequence[Gold], by: int) -> list[Gold]:
    return [Gold(one.start + by, one.end + by, one.kind, one.entity) for one in gold]
