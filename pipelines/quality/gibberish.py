"""Letters that make no words of any language: mashed keys.

Told by what no orthography in Latin letters does, not by a language model, which has a language for everything: words
without a vowel, long runs of consonants, rows of keys, a syllable without a vowel said over and over. Words with a
digit or with capitals inside are ids and code, and words in capitals abbreviations: none of them counts.
"""

from __future__ import annotations

import re

MIN_LETTERS = 12
"""Fewer letters in countable words say too little (own choice)."""
MAX_CHARS = 1_000
"""Longer texts are judged by their beginning."""

_WORD = re.compile(r"(?<![^\W_])[^\W\d_]+(?![^\W_])")
_VOWELS = "aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœāēīōūąęėįųůőűăâîıьъ"
_HISSED = frozenset(("hmmm", "pfft", "pssst", "brrr", "shhh", "zzzz", "http", "https", "html"))
_RUN = re.compile(r"[bcdfghjkmnpqstvwxz]{5}")
_LONG_RUN = re.compile(r"[bcdfghjklmnpqrstvwxz]{7}")
_KEY_ROW = re.compile(
    r"asdf|sdfg|dfgh|fghj|ghjk|hjkl|lkjh|kjhg|jhgf|hgfd|gfds|fdsa|qwert|werty|zxcv|xcvb|cvbn|vbnm|poiuy|uiop|mnbv|nbvc"
)
_OVER_AND_OVER = re.compile(r"([bcdfghjkmnpqstvwxz]{2,4})\1{2,}")
_KINDS = bytes(
    98 if chr(c | 32) in "bcdfghjkmnpqstvwxz" and c < 128 else 97 if c > 127 or chr(c).isalpha() else 32
    for c in range(256)
)
_FOUR = b"b" * 4


def gibberish_share(prose: str) -> float:
    """Share of the letters that stand in words that nobody can say, 0 to 1.

    0 for a text of few letters, and where few words could be such.
    """
    head = prose[:MAX_CHARS]
    if not _may_hold(head):
        return 0.0
    letters = unsayable = 0
    for word in _WORD.findall(head):
        if _is_countable(word):
            letters += len(word)
            unsayable += len(word) if _is_unsayable(word.lower()) else 0
    return unsayable / letters if letters >= MIN_LETTERS else 0.0


def _may_hold(text: str) -> bool:
    """Look at the bytes alone: words with four consonants in a row have to be a tenth of it."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_KINDS)
    return _FOUR in kinds and 10 * sum(len(word) for word in kinds.split() if _FOUR in word) > len(kinds)


def _is_countable(word: str) -> bool:
    return word.islower() or (word[1:].islower() and len(word) > 1) or (word.isupper() and len(word) > 5)


def _is_unsayable(word: str) -> bool:
    if len(word) < 4 or word in _HISSED:
        return False
    if not word.isascii() and not any(letter in _VOWELS for letter in word):
        return False
    vowels = sum(letter in _VOWELS for letter in word)
    return bool(
        (not vowels and (_RUN.search(word) or not ("r" in word or "l" in word)))
        or (vowels * 5 < len(word) and _LONG_RUN.search(word))
        or _KEY_ROW.search(word)
        or _OVER_AND_OVER.search(word)
    )
