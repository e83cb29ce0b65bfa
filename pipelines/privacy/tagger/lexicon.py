"""What is known of a word by itself: given name, family name, place, ordinary word, cue. Only hashes are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger.cues import CUES
from pipelines.privacy.tagger.tokens import LETTER, Words, Words64, pack, tokenize

GIVEN, FAMILY, COMMON, PLACE = 1, 2, 4, 8
TITLE_CUE, INTRO_CUE, PARTICLE, STREET, NOT_A_PERSON, EPONYM_CUE, SUFFIX, COMPANY_CUE = (1 << n for n in range(4, 12))
EPONYM_NAME, DEGREE, NAME_WORD, SAYS_NAME = (1 << n for n in range(12, 16))
FOR_RULES = EPONYM_NAME | DEGREE | NAME_WORD | SAYS_NAME
"""Signs that the network does not see."""
LISTS: Mapping[str, int] = {"given": GIVEN, "family": FAMILY, "common": COMMON, "place": PLACE}
"""Lists that the weights carry."""
CUE_SIGNS: Mapping[str, int] = {
    "title": TITLE_CUE,
    "intro": INTRO_CUE,
    "particle": PARTICLE,
    "street": STREET,
    "not_a_person": NOT_A_PERSON,
    "eponym": EPONYM_CUE,
    "suffix": SUFFIX,
    "company": COMPANY_CUE,
    "eponym_name": EPONYM_NAME,
    "degree": DEGREE,
    "name_word": NAME_WORD,
    "says_name": SAYS_NAME,
}
"""Lists that stand in ``cues``."""

_HALF = np.uint64(32)


def lexemes_of(texts: Iterable[str]) -> Words64:
    """Return the hashes of all words (two letters or more) in some texts, sorted, each once."""
    buffer, _ = pack([text.encode() for text in texts])
    tokens = tokenize(buffer)
    return np.unique(tokens.words.lexeme[(tokens.code == LETTER) & (tokens.words.length > 1)])


def short(lexemes: Words64) -> npt.NDArray[np.uint32]:
    """Return the halves of hashes that lists keep, sorted."""
    return np.unique((lexemes >> _HALF).astype(np.uint32))


class Lexicon:
    """Signs of words as bits. ``lists`` are sorted halves of hashes by name; a missing list is empty."""

    def __init__(self, lists: Mapping[str, npt.NDArray[np.uint32]]) -> None:
        self._lists = [(sign, lists[name]) for name, sign in LISTS.items() if name in lists and lists[name].size]
        self._lists += [(sign, short(lexemes_of([CUES[name]]))) for name, sign in CUE_SIGNS.items()]

    def signs(self, words: Words) -> npt.NDArray[np.uint16]:
        """Return the signs of words as bits."""
        halves = (words.lexeme >> _HALF).astype(np.uint32)
        signs = np.zeros(halves.size, np.uint16)
        for sign, known in self._lists:
            at = np.minimum(np.searchsorted(known, halves), known.size - 1)
            signs |= np.where(known[at] == halves, np.uint16(sign), np.uint16(0))
        return signs
