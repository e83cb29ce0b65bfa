"""Postal addresses in the form of their country, with streets and towns that are invented."""

from __future__ import annotations

import re
from functools import lru_cache

from pipelines.privacy.surrogates.address_words import GLUED_TYPES, KEPT, STREETS, TOWNS
from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.handles import in_case_of
from pipelines.privacy.surrogates.name_pools import LANGUAGES, bare

_PIECE = re.compile(r"[^\W_]+")
_LINK_WORDS = """
de del la las los el du des le les da do das dos di della dei van der den the of et y e am im
"""
_LINKS = frozenset(_LINK_WORDS.split())
_GLUED = re.compile(rf"(.{{3,}}?)({'|'.join(GLUED_TYPES)})", re.IGNORECASE)
_STATE = re.compile(r"[A-Z]{2}")


def address(text: str, _canonical: str, draws: Draws) -> str | None:
    """Return another address: words for kinds of streets and for countries stay, as do separators and case.

    Names become invented streets before the first comma, line or postal code, towns after it; numbers and codes keep
    their length. Equal words are renamed alike. None where nothing would change.
    """
    language = _language(text)
    pieces: list[str] = []
    done = 0
    in_town = False
    for found in _PIECE.finditer(text):
        gap, piece = text[done : found.start()], found[0]
        in_town |= bool(pieces) and ("," in gap or "\n" in gap or (piece.isdigit() and len(piece) >= 4))
        pieces += (gap, _renamed(piece, language, in_town, draws))
        done = found.end()
    pieces.append(text[done:])
    other = "".join(pieces)
    return other if other != text else None


def _language(text: str) -> str:
    """Return the language that most words for kinds of streets belong to; English where none is known."""
    words = [word.lower() for word in _PIECE.findall(text)]
    glued = [found[2].lower() for word in words if (found := _GLUED.fullmatch(word))]
    known = [word for word in (*words, *glued) if word not in _LINKS]
    return max(LANGUAGES, key=lambda language: sum(word in KEPT[language] for word in known))


def _renamed(piece: str, language: str, in_town: bool, draws: Draws) -> str:
    low = piece.lower()
    if any(c.isdigit() for c in piece):
        return _other_code(piece, draws)
    if low in KEPT[language] or low in _LINKS or (in_town and _STATE.fullmatch(piece)):
        return piece
    if len(piece) == 1:
        return piece
    glued = None if in_town else _GLUED.fullmatch(piece)
    if glued:
        drawn = draws.one_of(STREETS[language], "ADDRESS", "street", bare(glued[1]))
        return in_case_of(piece, drawn.lower()) + glued[2]
    kind, low = "town" if in_town else "street", bare(piece)
    drawn = draws.one_of(_others(kind, language, low), "ADDRESS", kind, low)
    return drawn.upper() if piece.isupper() else drawn.lower() if piece.islower() else drawn


@lru_cache(maxsize=4096)
def _others(kind: str, language: str, name: str) -> tuple[str, ...]:
    options = (TOWNS if kind == "town" else STREETS)[language]
    return tuple(option for option in options if bare(option) != name)


def _other_code(code: str, draws: Draws) -> str:
    """Draw the digits and letters of a number or postal code anew; the first digit is never 0 where it was not."""
    drawn = []
    for place, sign in enumerate(code):
        if sign.isdigit():
            low = int(place == 0 and sign != "0")
            drawn.append(str(draws.below(10 - low, "ADDRESS", "digit", str(place), code) + low))
        elif sign.isascii() and len(code) > 2:
            letter = chr(ord("A") + draws.below(26, "ADDRESS", "letter", str(place), code))
            drawn.append(letter if sign.isupper() else letter.lower())
        else:
            drawn.append(sign)
    return "".join(drawn)
