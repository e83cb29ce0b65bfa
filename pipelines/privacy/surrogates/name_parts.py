"""One part of a name: which name it is, in which ending, and its surrogate, keyed by the part alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.name_pools import (
    FEMALE,
    LANGUAGES,
    MALE,
    SURNAME,
    Kind,
    bare,
    known_names,
    names,
)
from pipelines.privacy.surrogates.nicknames import FULL_NAMES

PERSON = "PERSON"
_ATTEMPTS = 8
_MIN_ALIKE = 3
"""Fewest names to draw from."""
_MIN_LANGUAGES = 6
"""In how many languages a letter must begin that many names of each role to serve as initial."""
_SHORT, _LONG = 4, 8

_SCRIPTS = (
    ("latin", 0x41, 0x24F), ("greek", 0x370, 0x3FF), ("cyrillic", 0x400, 0x52F), ("arabic", 0x600, 0x6FF),
    ("devanagari", 0x900, 0x97F), ("latin", 0x1E00, 0x1EFF), ("han", 0x4E00, 0x9FFF), ("hangul", 0xAC00, 0xD7A3),
)  # fmt: skip
_POLISH_ADJECTIVE = re.compile(r"(.+(?:[sc]|dz)k)(i|a|iego|iej|iemu|im|ich|ą)")
_POLISH_OF_WOMEN = re.compile(r"(.{2,})(ę|y|i|ie|ą|o)")
_POLISH_OF_MEN = re.compile(r"(.{3,})(owi|em|ie|a|u)")
_RUSSIAN_OF_WOMEN = re.compile(r"(.+(?:[оеё]в|ин))(а)")


class Part(NamedTuple):
    """A part of a name: ``base`` keys its surrogate; ``ending`` is grammar that the surrogate takes over."""

    base: str
    kind: Kind
    ending: str = ""


def script_of(letter: str) -> str | None:
    """Return the script of a letter where there are names for it, or None."""
    if "A" <= letter <= "z":
        return "latin"
    code = ord(letter)
    return next((script for script, first, last in _SCRIPTS if first <= code <= last), None)


@lru_cache(maxsize=16384)
def read_part(word: str) -> Part:
    """Return what a word is as a part of a name, by itself alone, so that each place of it is read alike.

    ``Webers`` is Weber with an ending, ``Kowalska`` Kowalski, ``Johnny`` Jonathan; what no list knows is a surname.
    """
    name = bare(word)
    known = known_names()
    full = FULL_NAMES.get(name)
    if full is not None:
        return Part(full, known.get(full, Kind("en", SURNAME)))
    adjective = _POLISH_ADJECTIVE.fullmatch(word.lower())
    if adjective and (name not in known or known[name].role == SURNAME):
        ending = "" if adjective[2] == "i" else adjective[2]
        return Part(f"{bare(adjective[1])}i", Kind("pl", SURNAME), ending)
    if name in known and not word.lower().endswith(("ę", "ą")):
        return Part(name, known[name])
    script = script_of(word[0])
    return _inflected(word.lower()) or Part(name, Kind(_guessed(name) if script == "latin" else script or "", SURNAME))


def _inflected(low: str) -> Part | None:
    known = known_names()
    if low.endswith("s") and len(low) > _SHORT and (base := bare(low[:-1])) in known:
        return Part(base, known[base], "s")
    for form, rest, language in (
        (_POLISH_OF_WOMEN, "a", Kind("pl", FEMALE)),
        (_POLISH_OF_MEN, "", Kind("pl", MALE)),
        (_RUSSIAN_OF_WOMEN, "", Kind("cyrillic", SURNAME)),
    ):
        found = form.fullmatch(low)
        base = bare(found[1]) + rest if found else ""
        if found and (language.role == SURNAME or base in _bare_names(language)):
            return Part(base, language, found[2])
    return None


@lru_cache(maxsize=16)
def _bare_names(kind: Kind) -> frozenset[str]:
    return frozenset(map(bare, names(*kind)))


_ENDINGS = (
    ("pl", ("ak", "czyk", "wicz", "arz", "yk")), ("es", ("ez", "ero", "illo")), ("it", ("ini", "etti", "elli", "ucci")),
    ("de", ("mann", "berg", "hauer", "stein", "bach")), ("nl", ("stra", "huis", "sen", "ink")),
    ("pt", ("eira", "eiro", "ães")), ("fr", ("eau", "ault", "ard", "oux")),
)  # fmt: skip


def _guessed(name: str) -> str:
    return next((language for language, ends in _ENDINGS if name.endswith(ends)), "en")


def part_surrogate(part: Part, draws: Draws) -> str | None:
    """Return another name of the same kind, as its list writes it, with the ending; None where there is no list.

    Its first letter depends on the first letter alone, so that initials stand for it. Never the name itself.
    """
    if not part.kind.language:
        return None
    initial = initial_surrogate(part.base[0], draws) if part.kind.language in LANGUAGES else None
    for attempt in range(_ATTEMPTS):
        pool = _pool(part.kind, initial, _length_class(part.base), part.base.endswith(("ski", "cki", "dzki")))
        drawn = draws.one_of(pool, PERSON, "part", part.base, str(attempt))
        if bare(drawn) != part.base:
            return _with_ending(drawn, part.ending)
    return None


def initial_surrogate(letter: str, draws: Draws) -> str:
    """Return the lower-case letter that surrogates of names with this first letter begin with; keyed."""
    low = bare(letter)[:1]
    place = ord(low) - ord("a")
    if not 0 <= place < 26:
        return low
    order = _shuffled_initials(draws.pseudonyms.number(draws.tenant, PERSON, draws.scope, "initials"))
    return order[place % len(order)]


@lru_cache(maxsize=1024)
def _shuffled_initials(rest: int) -> list[str]:
    order = list(_initials())
    for last in range(len(order) - 1, 0, -1):
        rest, chosen = divmod(rest, last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


@lru_cache(maxsize=1)
def _initials() -> tuple[str, ...]:
    """Return the letters that names of each role begin with in most languages."""
    counts = {
        (language, role): Counter(bare(name)[0] for name in names(language, role))
        for language in LANGUAGES
        for role in (MALE, FEMALE, SURNAME)
    }

    def serves(letter: str, language: str) -> bool:
        return all(counts[language, role][letter] >= _MIN_ALIKE for role in (MALE, FEMALE, SURNAME))

    letters = "abcdefghijklmnopqrstuvwxyz"
    return tuple(c for c in letters if sum(serves(c, language) for language in LANGUAGES) >= _MIN_LANGUAGES)


@lru_cache(maxsize=8192)
def _pool(kind: Kind, initial: str | None, length: int, is_adjective: bool) -> tuple[str, ...]:
    """Return the names to draw from: of the language, initial and length class, as far as there are enough."""
    own = names(*kind)
    if initial is None:
        return own
    if is_adjective:
        own = tuple(name for name in own if name.endswith(("ski", "cki", "dzki")))
    own = tuple(name for name in own if bare(name)[0] == initial)
    if len(own) < _MIN_ALIKE and not is_adjective:
        everywhere = (name for language in LANGUAGES for name in names(language, kind.role))
        own = tuple(dict.fromkeys(name for name in everywhere if bare(name)[0] == initial))
    if not own:
        own = names(*kind)
    alike = tuple(name for name in own if _length_class(name) == length)
    return alike if len(alike) >= _MIN_ALIKE else own


def _length_class(name: str) -> int:
    return (len(name) > _SHORT) + (len(name) >= _LONG)


def _with_ending(name: str, ending: str) -> str:
    if not ending or ending == "s":
        return name + ending
    if name.endswith("ki"):
        return name[:-1] + ending
    if name.endswith("a"):
        stem = name[:-1]
        return stem + ("i" if ending == "y" and stem[-1] in "kg" else ending)
    return name + ending
