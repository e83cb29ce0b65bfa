"""What the key of a JSON value says about it: ``first_name`` is of a person, ``restaurant_name`` of a thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import PERSON, Span, words_of
from pipelines.privacy.surrogates.persons import canonical_person

_OF_THINGS_WORDS = """
airline airport album app area brand building carrier category city color colour company country county course cuisine
currency device dish district event file film food function genre hotel industry ingredient item kind label language
location make manufacturer meal merchant model movie museum neighborhood neighbourhood operation org organisation
organization park place platform product property province region repository restaurant role route salon school service
show sku song sport state station status store subject team theater theatre timezone title tool tour track type unit
university vehicle vendor venue version
"""
OF_THINGS = frozenset(_OF_THINGS_WORDS.split())
_OF_PERSONS_WORDS = """
firstname lastname fullname givenname familyname middlename maidenname birthname legalname surname forename
vorname nachname familienname vollername nombrecompleto nombreyapellidos apellido apellidos prenom prénom nomcomplet
nomdefamille cognome nomeecognome nomecompleto sobrenome apelido voornaam achternaam volledigenaam imię imie nazwisko
imięinazwisko imieinazwisko
"""
_OF_PERSONS = frozenset(_OF_PERSONS_WORDS.split())
_PERSONS_WORDS = """
agent applicant attendee beneficiary buyer caller candidate cardholder child client contact customer doctor driver
employee father guest holder manager member mother nurse passenger patient payee payer person physician recipient sender
spouse student teacher user
"""
_PERSONS = frozenset(_PERSONS_WORDS.split())
_NOBODY_WORDS = """
admin agent anonymous customer default guest name none null optional required root string system test text unknown user
"""
_NOBODY = frozenset(_NOBODY_WORDS.split())
_NAME = re.compile(r"[^\W\d_]+(?:(?:[-'’. ]|\. | - |, )[^\W\d_]+){0,6}\.?")
_LONGEST = 80


@lru_cache(maxsize=4096)
def names_a_thing(label: str) -> bool:
    """Tell whether a key such as ``restaurant_name`` or ``movieTitle`` is that of a thing, by its first words."""
    words = words_of(label)
    return bool(words) and words[0] in OF_THINGS


@lru_cache(maxsize=4096)
def names_a_person(label: str, owner: str | None = None) -> bool:
    """Tell whether a key such as ``first_name`` or ``patientName`` holds the name of a person.

    ``name`` alone does where ``owner``, the key of the object that it stands in, says so: a ``customer``.
    """
    words = words_of(label)
    if words == ("name",) and owner:
        words = (*words_of(owner), "name")
    if "".join(words) in _OF_PERSONS:
        return True
    return len(words) > 1 and words[-1] == "name" and words[-2].removesuffix("s") in _PERSONS


def whole_name(text: str) -> list[Span]:
    """Return all of a text as a name; nothing where it cannot be one.

    That is one with digits or other marks, too long, or a placeholder.
    """
    bare = text.strip()
    if len(bare) > _LONGEST or not _NAME.fullmatch(bare) or bare.lower() in _NOBODY or is_placeholder(bare):
        return []
    start = text.index(bare)
    return [Span(start, start + len(bare), PERSON, canonical_person(bare))]


def fitting_label(label: str, text: str, tagged: Sequence[Span], owner: str | None = None) -> list[Span]:
    """Return the names and addresses that may stand in the value under ``label``, or in a key, whose label is empty.

    ``owner`` is the key of the object around it, which tells what a bare ``name`` is of.

    A key is a name only as a whole and with two words: {"Nina Olmi": 3} is a list of persons, {"price": 3} is not.
    """
    if not label:
        return [span for span in tagged if span.end - span.start == len(text) and " " in text]
    is_thing = names_a_thing(owner if label.lower() == "name" and owner else label)
    return [span for span in tagged if span.kind != PERSON] if is_thing else list(tagged)
