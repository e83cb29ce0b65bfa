"""What the key of a JSON value says about it: names of places, works and goods are no names of persons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pipelines.privacy.scan import PERSON, Span, words_of

_OF_THINGS_WORDS = """
airline airport album app area brand building carrier category city color colour company country county course cuisine
currency device dish district event file film food function genre hotel industry ingredient item kind label language
location make manufacturer meal merchant model movie museum neighborhood neighbourhood operation org organisation
organization park place platform product property province region repository restaurant role route salon school service
show sku song sport state station status store subject team theater theatre timezone title tool tour track type unit
university vehicle vendor venue version
"""
OF_THINGS = frozenset(_OF_THINGS_WORDS.split())


@lru_cache(maxsize=4096)
def names_a_thing(label: str) -> bool:
    """Tell whether a key such as ``restaurant_name`` or ``movieTitle`` is that of a thing, by its first words."""
    words = words_of(label)
    return bool(words) and words[0] in OF_THINGS


def fitting_label(label: str, text: str, tagged: Sequence[Span]) -> list[Span]:
    """Return the names and addresses that may stand in the value under ``label``, or in a key, whose label is empty.

    A key is a name only as a whole and with two words: {"Nina Olmi": 3} is a list of persons, {"price": 3} is not.
    """
    if not label:
        return [span for span in tagged if span.end - span.start == len(text) and " " in text]
    return [span for span in tagged if span.kind != PERSON] if names_a_thing(label) else list(tagged)
