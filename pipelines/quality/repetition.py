"""How much of a text repeats itself, as shares of its characters (Gopher, arXiv 2112.11446, table A1).

Given prose, so code and tables are out of it; lines and phrases without letters or with digits are exempt, since
numbers and ids repeat by nature (FastChat's optional_clean.py: "call 1-800-000000000" is no loop).
"""

from __future__ import annotations

import re
from collections import Counter

from pipelines.quality.scripts import RANGES, UNSPACED

NGRAM_WORDS = 4
NGRAM_CHARACTERS = 8
"""Length of a phrase in scripts without spaces, where about two characters make a word (own choice)."""

MAX_WORDS = 20_000
"""Only so many words of a text are compared: memory stays bounded, and a loop shows long before."""

_UNSPACED = re.compile("([" + "".join(f"{chr(a)}-{chr(b)}" for name in UNSPACED for a, b in RANGES[name]) + "])")
_DIGIT = re.compile(r"\d")


def words(prose: str) -> list[str]:
    """Split at white space; a character of a script without spaces is a word of its own."""
    if not prose.isascii():
        prose = _UNSPACED.sub(r" \1 ", prose)
    return prose.split()


def repeated_line_share(prose: str) -> float:
    """Share of the characters that stand in lines said before in the same text, 0 to 1."""
    if "\n" not in prose:
        return 0.0
    lines = [line for line in map(str.strip, prose.split("\n")) if line]
    if len(set(lines)) == len(lines):
        return 0.0
    seen: set[str] = set()
    total = repeated = 0
    for line in lines:
        total += len(line)
        if line in seen and not line.isnumeric() and any(map(str.isalpha, line)):
            repeated += len(line)
        seen.add(line)
    return repeated / total


def top_ngram_share(of_words: list[str]) -> float:
    """Share of the characters covered by the phrase that occurs most often, 0 to 1; 0 where none occurs twice.

    A phrase is four words, or eight characters of a script without spaces. Occurrences do not overlap.
    """
    of_words = of_words[:MAX_WORDS]
    length = _phrase_length(of_words)
    pairs = list(zip(of_words, of_words[1:], strict=False))
    # A phrase said again repeats all the pairs in it; most texts have too few and need no look at phrases.
    if len(pairs) - len(set(pairs)) < length - 1:
        return 0.0
    phrases = list(zip(*(of_words[i:] for i in range(length)), strict=False))
    if len(set(phrases)) == len(phrases):
        return 0.0
    counts = Counter(phrases)
    covered = 0
    for phrase, count in counts.most_common(3):
        if count > 1 and _counts_as_words(phrase):
            occurrences = _occurrences(of_words, phrase)
            covered = max(covered, occurrences * sum(map(len, phrase)) if occurrences > 1 else 0)
    return covered / sum(map(len, of_words))


def _phrase_length(of_words: list[str]) -> int:
    """Phrase length in words: that of scripts without spaces where most words are single characters of them."""
    head = of_words[:200]
    if "".join(head).isascii():
        return NGRAM_WORDS
    single = sum(_UNSPACED.fullmatch(word) is not None for word in head)
    return NGRAM_CHARACTERS if 2 * single > len(head) else NGRAM_WORDS


def _counts_as_words(phrase: tuple[str, ...]) -> bool:
    """Digits and separator lines repeat by nature; a phrase that holds one of them is no loop."""
    return all(any(map(str.isalpha, word)) and not _DIGIT.search(word) for word in phrase)


def _occurrences(of_words: list[str], phrase: tuple[str, ...]) -> int:
    """Count the places of ``phrase`` from left to right without overlap."""
    found = i = 0
    while i <= len(of_words) - len(phrase):
        if of_words[i] == phrase[0] and tuple(of_words[i : i + len(phrase)]) == phrase:
            found += 1
            i += len(phrase)
        else:
            i += 1
    return found
