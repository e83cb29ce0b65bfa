"""Written dialogues: scenes of a help desk in ten languages, some of which hold planted personal values.

Names and addresses are planted in the eight languages that the tagger finds them in; in the two of other scripts it
promises nothing, and only types with a pattern are planted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pipelines.synthetic.code_samples import code_question
from pipelines.synthetic.invented_names import InventedPerson
from pipelines.synthetic.language import TOLD_TYPES, Language
from pipelines.synthetic.languages import ALL_LANGUAGES
from pipelines.synthetic.person_talk import PersonTalk, Told
from pipelines.synthetic.personal_values import PersonalValues

TYPES = {
    "EMAIL": "EMAIL",
    "PHONE": "PHONE",
    "CREDIT_CARD": "CREDIT_CARD",
    "IBAN": "IBAN",
    "IP_ADDRESS": "IP_ADDRESS",
    "NATIONAL_ID": "NATIONAL_ID",
    "URL_PASSWORD": "SECRET",
    "API_KEY": "SECRET",
    "PASSWORD": "SECRET",
    "CONNECTION": "SECRET",
    "JWT": "SECRET",
}
"""Type of the detectors for each kind of sentence; an American national id is an ``SSN``."""

_TOLD_WEIGHTS = (20, 11, 12, 11, 6, 16, 5, 8, 8, 6, 4)
_LANGUAGE_WEIGHTS = (5, 2, 2, 2, 2, 2, 2, 2, 1, 1)
_REPEATABLE = frozenset({"EMAIL", "PHONE", "CREDIT_CARD", "IBAN", "IP_ADDRESS", "API_KEY"})
_ARGUMENT_KEYS = {"EMAIL": "email", "PHONE": "phone", "CREDIT_CARD": "card_number", "IBAN": "iban"}
_SYSTEM = (
    "You are the help desk of a mail-order shop. Be brief and exact.",
    "Answer in the customer's language. Never guess an order's state.",
    "You help customers with orders, prices and small repairs.",
)


@dataclass(slots=True)
class Call:
    """A call of a tool by the assistant. Arguments that are text stay as the model wrote them, JSON or not."""

    id: str
    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True, slots=True)
class Media:
    """What a user sends beside words: an ``image`` (PNG), ``audio`` (WAV) or a ``file`` (PDF)."""

    kind: str
    content: bytes = b"\0"


@dataclass(slots=True)
class Line:
    """One message. ``alternative`` is a second answer of the assistant in the same place (a regeneration)."""

    role: str
    text: str
    calls: list[Call] = field(default_factory=list)
    call_id: str | None = None
    tool_name: str | None = None
    alternative: str | None = None
    media: list[Media] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planting:
    """A planted value: its type, the line that it first stands in, and the field of that line."""

    type: str
    value: str
    line: int
    where: str


@dataclass(slots=True)
class Dialogue:
    """A whole talk, ending with the assistant. ``user_id`` is an e-mail address in some, planted like the others.

    Without a ``conversation_id`` the formats that need one invent it.
    """

    language: str
    system: str | None
    user_id: str | None
    lines: list[Line] = field(default_factory=list)
    plantings: list[Planting] = field(default_factory=list)
    conversation_id: str | None = None


Scene = Callable[[Dialogue, Language], None]


class DialogueWriter:
    """Writes one dialogue after another from one source of randomness."""

    def __init__(self, random: Random, values: PersonalValues) -> None:
        self._random = random
        self._values = values
        self._persons = PersonTalk(random)
        self._drawn_by: dict[str, Callable[[], str]] = {
            "EMAIL": values.email,
            "CREDIT_CARD": values.card,
            "IBAN": values.iban,
            "IP_ADDRESS": values.ip_address,
            "URL_PASSWORD": values.password,
            "API_KEY": values.api_key,
            "PASSWORD": values.labelled_password,
            "JWT": values.jwt,
        }
        self._calls = 0

    def write(self, *, personal: bool, tools: bool, language: Language | None = None) -> Dialogue:
        """Write a dialogue of one to four scenes; with ``personal`` at least one scene holds a planted value."""
        random = self._random
        spoken = language or random.choices(ALL_LANGUAGES, _LANGUAGE_WEIGHTS)[0]
        dialogue = Dialogue(spoken.code, random.choice((None, *_SYSTEM)), None)
        scenes: list[Scene] = [self._order, self._price, self._task]
        if tools:
            scenes += [self._order_by_tool]
        if spoken.code == "en":
            scenes += [self._code]
        chosen = random.choices(scenes, k=random.choice((1, 1, 2, 3)))
        if personal:
            told: list[Scene] = [self._told, self._saved_by_tool, self._looked_up] if tools else [self._told]
            if spoken.persons:
                told += [self._person, self._person_by_tool, self._person_looked_up] if tools else [self._person]
            for _ in range(random.choice((1, 1, 2))):
                chosen.insert(random.randrange(len(chosen) + 1), random.choice(told))
        for number, scene in enumerate(chosen):
            first = len(dialogue.lines)
            self._play(scene, dialogue, spoken)
            if number == 0 and random.random() < 0.7:
                dialogue.lines[first].text = _opened(random.choice(spoken.openers), dialogue.lines[first].text)
        if random.random() < 0.4:
            self._say(dialogue, random.choice(spoken.thanks), random.choice(spoken.welcomes))
        if random.random() < 0.15:
            self._regenerate(dialogue)
        return dialogue

    def user_email(self) -> str:
        """Return a fresh address that serves as a user id."""
        return self._values.email()

    def user_person(self) -> InventedPerson:
        """Return a fresh person with an English name; ``LookupError`` when there is none left."""
        return self._persons.english()

    def _play(self, scene: Scene, dialogue: Dialogue, spoken: Language) -> None:
        """Write a scene; one that needs a name where none is left tells another value."""
        try:
            scene(dialogue, spoken)
        except LookupError:
            self._told(dialogue, spoken)

    def _say(self, dialogue: Dialogue, question: str, answer: str) -> None:
        dialogue.lines += [Line("user", question), Line("assistant", answer)]

    def _pick(self, sentences: tuple[str, ...], facts: dict[str, Any]) -> str:
        text = self._random.choice(sentences).format(**facts)
        return text[0].upper() + text[1:]

    def _order_facts(self, spoken: Language) -> dict[str, Any]:
        order, city = self._random.randrange(10_000, 99_999), self._random.choice(spoken.cities)
        product, weekday = self._random.choice(spoken.products), spoken.weekday(city)
        return {"order": order, "product": product, "city": city, "weekday": weekday, "days": order % 5 + 1}

    def _order(self, dialogue: Dialogue, spoken: Language) -> None:
        facts = self._order_facts(spoken)
        self._say(dialogue, self._pick(spoken.order_questions, facts), self._pick(spoken.order_answers, facts))

    def _price(self, dialogue: Dialogue, spoken: Language) -> None:
        product, n = self._random.choice(spoken.products), self._random.randrange(2, 13)
        price = spoken.price(product)
        facts = {"product": product, "n": n, "price": price, "total": n * price}
        self._say(dialogue, self._pick(spoken.price_questions, facts), self._pick(spoken.price_answers, facts))

    def _task(self, dialogue: Dialogue, spoken: Language) -> None:
        task, steps = self._random.choice(spoken.tasks)
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        answer = f"{self._pick(spoken.task_answers, {'task': task})}\n{listed}"
        self._say(dialogue, self._pick(spoken.task_questions, {"task": task}), answer)

    def _code(self, dialogue: Dialogue, spoken: Language) -> None:
        self._say(dialogue, *code_question(self._random))

    def _told(self, dialogue: Dialogue, spoken: Language) -> None:
        kind, sentence, value, _ = self._told_value(dialogue, spoken, "text")
        noted = kind in _REPEATABLE and self._random.random() < 0.5
        answer = self._pick(spoken.noted, {"value": value}) if noted else self._random.choice(spoken.welcomes)
        self._say(dialogue, sentence, answer)

    def _told_value(self, dialogue: Dialogue, spoken: Language, where: str) -> tuple[str, str, str, str]:
        """Plant a value; return its kind, the user's sentence with it, the value and the key of a tool's argument."""
        kind = self._random.choices(TOLD_TYPES, _TOLD_WEIGHTS)[0]
        country, label = self._random.choice(spoken.id_labels)
        if kind == "CONNECTION":
            (shown, value), planted_type = self._values.connection(), TYPES[kind]
        else:
            value, planted_type = self._draw(kind, country)
            shown = value
        sentences = spoken.told[TOLD_TYPES.index(kind)]
        dialogue.plantings.append(Planting(planted_type, value, len(dialogue.lines), where))
        key = _ARGUMENT_KEYS.get(kind, "note")
        return kind, self._pick(sentences, {"value": shown, "label": label}), value, key

    def _draw(self, kind: str, country: str) -> tuple[str, str]:
        values = self._values
        match kind:
            case "PHONE":
                try:
                    return values.phone(), "PHONE"
                except LookupError:
                    return values.card(), "CREDIT_CARD"
            case "NATIONAL_ID":
                return values.national_id(country), "SSN" if country == "SSN" else kind
        return self._drawn_by[kind](), TYPES[kind]

    def _call(self, name: str, arguments: dict[str, Any]) -> Line:
        self._calls += 1
        return Line("assistant", "", [Call(f"call_{self._calls:06}", name, arguments)])

    def _order_by_tool(self, dialogue: Dialogue, spoken: Language) -> None:
        facts = self._order_facts(spoken)
        call = self._call("get_order", {"order": facts["order"], "fields": ["city", "days"]})
        state = '{{"order": {order}, "city": "{city}", "state": "shipped", "days": {days}}}'.format(**facts)
        dialogue.lines += [
            Line("user", self._pick(spoken.order_questions, facts)),
            call,
            Line("tool", state, call_id=call.calls[0].id, tool_name="get_order"),
            Line("assistant", self._pick(spoken.order_answers, facts)),
        ]

    def _saved_by_tool(self, dialogue: Dialogue, spoken: Language) -> None:
        kind, sentence, value, key = self._told_value(dialogue, spoken, "text")
        arguments = {key: value} if key != "note" else {"note": sentence}
        call = self._call("save_contact", {"customer": {"language": spoken.code, **arguments}})
        answer = (
            self._pick(spoken.noted, {"value": value}) if kind in _REPEATABLE else self._random.choice(spoken.welcomes)
        )
        dialogue.lines += [
            Line("user", sentence),
            call,
            Line("tool", '{"saved": true}', call_id=call.calls[0].id, tool_name="save_contact"),
            Line("assistant", answer),
        ]

    def _looked_up(self, dialogue: Dialogue, spoken: Language) -> None:
        """Plant one value in the arguments of a call and two in its result, none of them in the users' words."""
        facts = self._order_facts(spoken)
        first, email, last_ip = len(dialogue.lines), self._values.email(), self._values.ip_address()
        phone, phone_type = self._draw("PHONE", "")
        call = self._call("find_customer", {"query": {"email": email}, "limit": 1})
        found = f'{{"order": {facts["order"]}, "phone": "{phone}", "last_login": {{"ip": "{last_ip}"}}}}'
        dialogue.plantings += [
            Planting("EMAIL", email, first + 1, "tool_arguments"),
            Planting(phone_type, phone, first + 2, "tool_result"),
            Planting("IP_ADDRESS", last_ip, first + 2, "tool_result"),
        ]
        dialogue.lines += [
            Line("user", self._pick(spoken.order_questions, facts)),
            call,
            Line("tool", found, call_id=call.calls[0].id, tool_name="find_customer"),
            Line("assistant", self._pick(spoken.order_answers, facts)),
        ]

    def _person(self, dialogue: Dialogue, spoken: Language) -> None:
        told = self._persons.told(spoken)
        self._plant(dialogue, told)
        self._say(dialogue, told.sentence, told.answer)

    def _person_by_tool(self, dialogue: Dialogue, spoken: Language) -> None:
        told = self._persons.told(spoken)
        self._plant(dialogue, told)
        call = self._call("save_contact", {"customer": {"language": spoken.code, **told.fields}})
        dialogue.lines += [
            Line("user", told.sentence),
            call,
            Line("tool", '{"saved": true}', call_id=call.calls[0].id, tool_name="save_contact"),
            Line("assistant", told.answer),
        ]

    def _person_looked_up(self, dialogue: Dialogue, spoken: Language) -> None:
        """Plant a customer in the arguments of a call and in its result, none of them in the users' words."""
        facts, found = self._order_facts(spoken), self._persons.record(spoken)
        names, address = found.fields, found.fields["shipping_address"]
        call = self._call("find_customer", {"query": {"full_name": f"{names['first_name']} {names['last_name']}"}})
        result = json.dumps({"order": facts["order"], "customer": names}, ensure_ascii=False)
        for kind, value in found.values:
            place, where = (2, "tool_result") if value in address else (1, "tool_arguments")
            dialogue.plantings.append(Planting(kind, value, len(dialogue.lines) + place, where))
        dialogue.lines += [
            Line("user", self._pick(spoken.order_questions, facts)),
            call,
            Line("tool", result, call_id=call.calls[0].id, tool_name="find_customer"),
            Line("assistant", self._pick(spoken.order_answers, facts)),
        ]

    def _plant(self, dialogue: Dialogue, told: Told) -> None:
        line = len(dialogue.lines)
        dialogue.plantings += [Planting(kind, value, line, "text") for kind, value in told.values]

    def _regenerate(self, dialogue: Dialogue) -> None:
        answers = [line for line in dialogue.lines if line.role == "assistant" and not line.calls]
        answer = self._random.choice(answers)
        sentences = answer.text.split("\n")
        answer.alternative = "\n".join([*sentences[:1], *sentences[2:]]) if len(sentences) > 2 else f"OK. {answer.text}"


def _opened(opener: str, sentence: str) -> str:
    """Put a greeting before a sentence, which then goes on in lower case (the English I and capitals stay)."""
    goes_on = opener.endswith(",") and not sentence.startswith("I ") and not sentence[1:2].isupper()
    return f"{opener} {sentence[0].lower() + sentence[1:] if goes_on else sentence}"
