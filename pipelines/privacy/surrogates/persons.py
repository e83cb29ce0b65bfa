"""Names of persons, part by part: the same part has the same surrogate in every name, so no state links them."""

from __future__ import annotations

import re
from functools import lru_cache

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.name_parts import (
    PERSON,
    Part,
    initial_surrogate,
    part_surrogate,
    read_part,
    script_of,
)
from pipelines.privacy.surrogates.name_pools import FEMALE, MALE, SURNAME, bare, names

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*\.?")
_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_TITLES = """
mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend father sister judge capt captain lt sgt col gen hon
herr frau fräulein prof dipl ing med phil
señor señora señorita sr sra srta don doña dr dra
monsieur madame mademoiselle m mme mlle maître
senhor senhora dom dona
signor signora signorina sig dott dottoressa avv
dhr mevr mevrouw meneer heer
pan pani panna
господин госпожа
jr jnr snr junior senior ii iii iv phd md esq
"""
TITLES = frozenset(map(bare, _TITLES.split()))
"""Titles and suffixes: not a part of the name, they stay."""
_PARTICLES = """
van von der den de la le les du da das do dos di del della dello degli y e i zu zum zur af av al el bin ben ibn bint ter
ten te auf vom und
"""
PARTICLES = frozenset(_PARTICLES.split())
_GIVEN_NAMES_TOO = frozenset(("al", "ben", "del"))
"""Particles that are given names where a name begins with them: Ben Weber, but Tarek ben Salem."""
_HAN_TITLES = re.compile(r"(?:先生|女士|小姐|老师|太太|医生|教授)$")
_HANGUL_TITLES = re.compile(r"(?:씨|님)$")
_TWO_SIGN_SURNAMES = ("欧阳", "司马", "诸葛", "上官", "司徒", "东方", "夏侯", "皇甫", "尉迟", "公孙", "慕容", "令狐")


def person(text: str, _canonical: str, draws: Draws) -> str | None:
    """Return another person's name in the form of ``text``: parts, initials, titles, case, endings, separators.

    Given names keep gender and language, unknown words are taken for surnames; nicknames share the full name's
    surrogate. None where a script has no list or nothing is a name.
    """
    pieces: list[str] = []
    done = 0
    is_renamed = False
    for found in _WORD.finditer(text):
        word = found[0]
        begins = not text[: found.start()].strip() and bare(word) in _GIVEN_NAMES_TOO
        drawn = word if is_kept(word) and not begins else _renamed(word, draws)
        if drawn is None:
            return None
        is_renamed |= drawn is not word
        pieces += (text[done : found.start()], drawn)
        done = found.end()
    pieces.append(text[done:])
    return "".join(pieces) if is_renamed else None


@lru_cache(maxsize=16384)
def canonical_person(text: str) -> str:
    """Return the parts of a name in bare form: full name for a nickname, endings and titles left out."""
    words = [word for word in _WORD.findall(text) if bare(word.rstrip(".")) not in TITLES]
    parts = [bare(word[0]) if _is_initial(word) else _part(_bare_word(word)).base for word in words]
    return " ".join(parts) or bare(text)


def is_kept(word: str) -> bool:
    """Tell whether a word of a name is a title or a particle, which stay as they are."""
    low = bare(word.rstrip("."))
    if _is_initial(word):
        return word in PARTICLES
    return low in TITLES or (low in PARTICLES and (word.islower() or word.isupper()))


def _is_initial(word: str) -> bool:
    return len(word.rstrip(".")) == 1 and script_of(word[0]) in ("latin", "cyrillic", "greek")


def _bare_word(word: str) -> str:
    return _POSSESSIVE.sub("", word.rstrip("."))


def _renamed(word: str, draws: Draws) -> str | None:
    if _is_initial(word):
        drawn = initial_surrogate(word[0], draws)
        return (drawn.upper() if word[0].isupper() else drawn) + word[1:]
    stem = _bare_word(word)
    script = script_of(stem[0])
    if script in ("han", "hangul"):
        return _without_spaces(word, script, draws)
    drawn_part = part_surrogate(_part(stem), draws)
    return None if drawn_part is None else _in_case_of(stem, drawn_part) + word[len(stem) :]


def _part(stem: str) -> Part:
    return read_part(stem)


def _in_case_of(word: str, name: str) -> str:
    if word.islower():
        return name.lower()
    return name.upper() if word.isupper() and len(word) > 1 else name


def _without_spaces(word: str, script: str, draws: Draws) -> str:
    """Rename a name of Chinese characters or Hangul: the surname first, then one or two signs."""
    title = (_HAN_TITLES if script == "han" else _HANGUL_TITLES).search(word)
    name = word[: title.start()] if title else word
    size = 2 if name.startswith(_TWO_SIGN_SURNAMES) else 1
    surname, given = name[:size], name[size:]
    drawn = _other(surname, names(script, SURNAME), draws) if surname else ""
    if given:
        pool = (*names(script, MALE), *names(script, FEMALE))
        alike = tuple(one for one in pool if len(one) == len(given)) or pool
        drawn += _other(given, alike, draws)
    return drawn + word[len(name) :]


def _other(own: str, pool: tuple[str, ...], draws: Draws) -> str:
    others = tuple(name for name in pool if name != own)
    return draws.one_of(others, PERSON, "part", own)
