"""What customers tell of persons and addresses: sentences with invented ones, and what of them to search for."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from pipelines.synthetic.invented_names import InventedNames, InventedPerson
from pipelines.synthetic.language import Language


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence and its answer. ``values`` are (type, text as it stands in the sentence), ``fields`` the same as JSON.

    Of a person the family name and a given name that is new are searched for, of an address the street and the town:
    with none of them there the whole is not there either.
    """

    sentence: str
    answer: str
    values: tuple[tuple[str, str], ...]
    fields: dict[str, Any]


class PersonTalk:
    """Writes sentences with persons and addresses from one source of randomness; each names somebody new.

    ``LookupError`` when a language has no invented name left.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = InventedNames(random)
        self._given: set[str] = set()

    def told(self, spoken: Language) -> Told:
        """Return a sentence about a person, or one with an address."""
        return self.person(spoken) if self._random.random() < 0.65 else self.address(spoken)

    def person(self, spoken: Language) -> Told:
        """Return a sentence with the name of a person in one of the forms that people write."""
        person = self._names.person(spoken.code)
        forms = {
            "name": person.name, "low": person.name.lower(), "caps": person.name.upper(), "given": person.given,
            "family": person.surname,
        }  # fmt: skip
        sentence = self._random.choice(spoken.persons).format(**forms)
        answers = spoken.person_answers if person.given in sentence else spoken.welcomes
        answer = self._random.choice(answers).format(**forms)
        values = [("PERSON", _as_written(sentence, person.family))]
        if person.given.lower() in sentence.lower() and person.given not in self._given:
            self._given.add(person.given)
            values.append(("PERSON", _as_written(sentence, person.given)))
        written = person.name if person.given in sentence else person.surname
        return Told(sentence, answer, tuple(values), {"name": written})

    def address(self, spoken: Language) -> Told:
        """Return a sentence with a postal address in the form of its country, on one line or two."""
        address, values = self._address(spoken)
        sentence = self._random.choice(spoken.addresses).format(address=address)
        answer = self._random.choice(spoken.address_answers).format(address=address.replace("\n", ", "))
        return Told(sentence, answer, values, {"address": address})

    def record(self, spoken: Language) -> Told:
        """Return a customer with an address as a tool finds them, in ``fields``; no sentence tells of them."""
        person = self._names.person(spoken.code)
        address, street_and_town = self._address(spoken)
        values = [("PERSON", person.family), *street_and_town]
        if person.given not in self._given:
            self._given.add(person.given)
            values.append(("PERSON", person.given))
        fields = {"first_name": person.given, "last_name": person.surname, "shipping_address": address}
        return Told("", "", tuple(values), fields)

    def english(self) -> InventedPerson:
        """Return a person with an English name."""
        return self._names.person("en")

    def _address(self, spoken: Language) -> tuple[str, tuple[tuple[str, str], ...]]:
        street, town = self._names.street(spoken.code), self._names.town(spoken.code)
        draw = self._random.randrange
        address = self._random.choice(spoken.address_shapes).format(
            street=street, town=town, number=draw(1, 180), digit=draw(1, 10), digits=draw(100, 1000)
        )
        return address, (("ADDRESS", street), ("ADDRESS", town))


def _as_written(sentence: str, name: str) -> str:
    """Return a name in the case that a sentence has it in."""
    return next(form for form in (name, name.lower(), name.upper()) if form in sentence)
