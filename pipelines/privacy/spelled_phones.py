"""Phone numbers with separators or digits written as words: ``202 dash 555 dot 0117``, ``five five five …``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.contact_detectors import e164
from pipelines.privacy.phone_cues import PHONE_NOUNS, PHONE_VERBS
from pipelines.privacy.scan import PHONE, Scan, Span

_DIGIT_WORDS = """
zero oh null cero zéro nula nul ноль
one eins ein uno un um één een jeden один
two zwei zwo dos deux dois due twee dwa два
three drei tres trois três tre drie trzy три
four vier cuatro quatre quatro quattro cztery четыре
five fünf cinco cinq cinque vijf pięć пять
six sechs seis sei zes sześć шесть
seven sieben siete sept sete sette zeven siedem семь
eight acht ocho huit oito otto osiem восемь
nine neun nueve neuf nove negen dziewięć девять
"""
DIGITS = {word: str(digit) for digit, line in enumerate(_DIGIT_WORDS.split("\n")[1:-1]) for word in line.split()}
"""The digit of each word, lower-case, in the languages of the product and Russian."""
_REPEATS = {"double": 2, "triple": 3, "doppel": 2, "doble": 2}
_WORD = "|".join(sorted((*DIGITS, *_REPEATS, "plus"), key=len, reverse=True))
_SEQUENCE = re.compile(
    rf"(?<![^\W_])(?:{_WORD})(?:[ ,.\n-]{{1,3}}(?:dash |dot |hyphen )?(?:{_WORD})(?![^\W_])){{6,19}}"
)
_WORDS_OF = re.compile(_WORD)
_SEPARATORS = "dot|dash|hyphen|minus|space|point|punto|punkt|ponto|punt|kropka|guion|guión|tiret|trattino|bindestrich"
_PARTS = re.compile(
    rf"(?<![\w.])\+?\(?[0-9]{{1,5}}\)?(?:\s(?:{_SEPARATORS})\s\(?[0-9]{{1,5}}\)?){{1,6}}(?![\w]|\.[0-9])"
)
_NUMBER_CUE = re.compile(r"\b(?:numbers?|nummer|número|numero|numéro|numer)\b")
_MIN_DIGITS, _MAX_DIGITS = 7, 15


def spelled_phones(scan: Scan) -> Iterator[Span]:
    """Find phone numbers in words after a word that announces them, and digits parted by words for separators.

    Canonical: as for other phone numbers.
    """
    for found in _SEQUENCE.finditer(scan.lowered):
        digits = _digits_of(found[0])
        if _MIN_DIGITS <= len(digits) <= _MAX_DIGITS and _is_told(scan, found.start()):
            yield _span(scan, found, digits, has_plus=found[0].startswith("plus"))
    for found in _PARTS.finditer(scan.lowered):
        digits = "".join(c for c in found[0] if c.isdigit())
        groups = re.findall(r"[0-9]+", found[0])
        is_american = [len(group) for group in groups][-3:] == [3, 3, 4]
        if _MIN_DIGITS <= len(digits) <= _MAX_DIGITS and (is_american or _is_told(scan, found.start())):
            yield _span(scan, found, digits, has_plus=found[0].startswith("+"))


def _is_told(scan: Scan, start: int) -> bool:
    return any(scan.gap_after(cue, start, 40) is not None for cue in (PHONE_NOUNS, PHONE_VERBS, _NUMBER_CUE))


def _digits_of(written: str) -> str:
    digits, repeat = [], 1
    for word in _WORDS_OF.findall(written):
        if word in _REPEATS:
            repeat = _REPEATS[word]
        elif word in DIGITS:
            digits.append(DIGITS[word] * repeat)
            repeat = 1
    return "".join(digits)


def _span(scan: Scan, found: re.Match[str], digits: str, *, has_plus: bool) -> Span:
    number = e164(digits, has_plus, scan.policy.default_regions) or digits
    return Span(found.start(), found.end(), PHONE, number)
