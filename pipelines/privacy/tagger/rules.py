"""Names by rule: lists, cues and shapes, over all tokens at once; joined with what the network says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipelines.privacy.tagger import lexicon as signs_of
from pipelines.privacy.tagger.tokens import CAPITALS, INITIAL, INNER, LETTER, PLAIN, TITLE, Tokens

Flags = npt.NDArray[np.bool_]
_DOT = ord(".")


def names_by_rule(tokens: Tokens, signs: npt.NDArray[np.uint16]) -> Flags:
    """Return which tokens are names by rule.

    A capitalised word is one when it follows a title, when it is a given name that is nothing else, or when given name,
    initial, particle and family name stand side by side; never a word that tells of an eponym or a company, or one in
    front of such a word.
    """
    is_word = tokens.code == LETTER
    shape = tokens.words.shape
    capital = is_word & ((shape == TITLE) | (shape == CAPITALS) | (shape == INNER))
    common = _has(signs, signs_of.COMMON)
    title = is_word & _has(signs, signs_of.TITLE_CUE)
    stop = _has(signs, _STOPS) & is_word
    given = capital & _has(signs, signs_of.GIVEN) & ~stop
    family = capital & _has(signs, signs_of.FAMILY) & ~stop
    dot = tokens.code == _DOT
    particle = is_word & _has(signs, signs_of.PARTICLE)
    opened = _next(title) | _next(dot, title)
    opened |= _next(particle & opened)
    opened |= _next(particle & opened)
    named = capital & ~stop & ~title & opened
    named |= particle & opened & (_before(named) | _before(particle & opened & _before(named)))
    listed = is_word & _has(signs, signs_of.GIVEN | signs_of.FAMILY) & ~stop
    named |= listed & (shape == PLAIN) & _next(dot, title)
    only_given = given & ~common
    named |= only_given & (_before(capital & ~stop & ~common) | (~_has(signs, signs_of.PLACE) & (shape == TITLE)))
    named |= family & ~common & _next(given)
    initial = is_word & (shape == INITIAL)
    named |= (only_given | (family & ~common)) & (_next(dot, initial) | _next(initial))
    named |= capital & ~stop & ~common & _next(only_given)
    return named & ~_before(stop & ~_has(signs, signs_of.NOT_A_PERSON))


def degrees(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Return which tokens are what follows a name and belongs to it: ``MD``, ``Jr``."""
    return _has(signs, signs_of.DEGREE) & (tokens.words.shape != PLAIN) & _next(is_name)


def no_names_by_rule(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Return which tokens, taken for names, are none.

    Those are products, weekdays and months that stand alone, without a title or a greeting; eponyms of diseases; parts
    of host names.
    """
    is_word = tokens.code == LETTER
    other = is_name & is_word & _has(signs, signs_of.NOT_A_PERSON)
    if other.any():
        kept = is_name & is_word & ~other
        cue = _has(signs, signs_of.TITLE_CUE | signs_of.INTRO_CUE)
        other &= ~(_next(kept) | _before(kept) | _next(cue) | _next(_next(cue)))
    plain = is_word & (tokens.words.shape == PLAIN)
    return other | (is_name & (_eponyms(tokens, signs, is_name) | (plain & _in_host_name(tokens))))


def _eponyms(tokens: Tokens, signs: npt.NDArray[np.uint16], is_name: Flags) -> Flags:
    """Tell which tokens are names of diseases, with what stands before them: ``Gilles de la Tourette``."""
    chain = (tokens.code == LETTER) & _has(signs, signs_of.EPONYM_NAME) & (tokens.words.shape == TITLE)
    if not chain.any():
        return chain
    title = _has(signs, signs_of.TITLE_CUE)
    chain &= ~(_next(title) | _next(tokens.code == _DOT, title))
    linked = is_name | _has(signs, signs_of.PARTICLE)
    for _ in range(4):
        chain |= _before(chain) & linked
    return chain


def _in_host_name(tokens: Tokens) -> Flags:
    """Tell which words stand right beside a dot with another word right beyond it."""
    glued = _next_is_glued(tokens)
    dot, word = tokens.code == _DOT, tokens.code == LETTER
    dotted = dot & glued & _next(glued) & _next(word) & _before(word)
    return _next(dotted) | _before(dotted)


def _next_is_glued(tokens: Tokens) -> Flags:
    glued = np.zeros(tokens.start.size, bool)
    glued[:-1] = tokens.end[:-1] == tokens.start[1:]
    return glued


_STOPS = signs_of.NOT_A_PERSON | signs_of.COMPANY_CUE | signs_of.EPONYM_CUE | signs_of.STREET


def _has(signs: npt.NDArray[np.uint16], bits: int) -> Flags:
    return (signs & np.uint16(bits)) != 0


def _next(flags: Flags, earlier: Flags | None = None) -> Flags:
    """Tell which tokens follow one that is flagged (and that follows an ``earlier`` one)."""
    shifted = np.zeros_like(flags)
    shifted[1:] = flags[:-1]
    if earlier is not None:
        shifted[2:] &= earlier[:-2]
        shifted[:2] = False
    return shifted


def _before(flags: Flags) -> Flags:
    shifted = np.zeros_like(flags)
    shifted[:-1] = flags[1:]
    return shifted
