"""How much of a text repeats itself, as shares of its characters (Gopher, arXiv 2112.11446, table A1).

Given prose, so code and tables are out of it; lines and phrases without letters or with digits are exempt, since
numbers and ids repeat by nature (FastChat's optional_clean.py: "call 1-800-000000000" is no loop).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipelines.quality.word_stream import Hashes, Places, WordStream, is_unspaced, phrase_hashes

NGRAM_WORDS = 4
NGRAM_CHARACTERS = 8
"""Length of a phrase in scripts without spaces, where about two characters make a word (own choice)."""

_TOP_BITS = 16


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


def top_ngram_share(prose: str) -> float:
    """Share of the characters of words in the phrase that covers most of them, 0 to 1; 0 where none occurs twice."""
    return top_ngram_shares(WordStream([prose]), [prose])[0]


def top_ngram_shares(stream: WordStream, proses: Sequence[str]) -> list[float]:
    """Return ``top_ngram_share`` of each text, given the stream of their words.

    A phrase is four words, or eight characters of a script without spaces, without a digit in it. Occurrences that are
    counted do not overlap.
    """
    shares = [0.0] * stream.n_texts
    lengths = np.array([NGRAM_CHARACTERS if is_unspaced(text) else NGRAM_WORDS for text in proses], np.int64)
    for length in np.unique(lengths).tolist():
        keys, places = _phrases(stream, lengths == length, length)
        repeats = _repeats(keys)
        by_text: dict[int, list[Places]] = defaultdict(list)
        for group in _groups(keys[repeats], places[repeats]):
            by_text[int(stream.text_of[group[0]])].append(group)
        for text, groups in by_text.items():
            total = int(stream.n_chars[stream.starts[text] : stream.starts[text + 1]].sum())
            shares[text] = _covered(stream, groups, length) / total
    return shares


def _phrases(stream: WordStream, wanted: NDArray[np.bool_], length: int) -> tuple[Hashes, Places]:
    """Return a key, different for each text, and the place of each phrase of the wanted texts."""
    hashes = phrase_hashes(stream.hashes, length)
    text_of, end_of = stream.text_of[: len(hashes)], stream.text_of[length - 1 :]
    digits = np.concatenate((np.zeros(1, np.int64), np.cumsum(~stream.is_spoken)))
    is_spoken = digits[length:] == digits[: len(digits) - length] if len(hashes) else np.zeros(0, np.bool_)
    places = np.flatnonzero((text_of == end_of) & wanted[text_of] & is_spoken)
    salts = phrase_hashes(np.arange(stream.n_texts, dtype=np.uint64), 1)
    return hashes[places] ^ salts[text_of[places]], places


def _repeats(keys: Hashes) -> Places:
    """Return the places in ``keys`` of those that occur more than once."""
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    marks = np.zeros(1 << _TOP_BITS, np.bool_)
    marks[twice >> np.uint64(64 - _TOP_BITS)] = True
    likely = np.flatnonzero(marks[keys >> np.uint64(64 - _TOP_BITS)])
    found: Places = likely[np.isin(keys[likely], twice)]
    return found


def _groups(keys: Hashes, places: Places) -> list[Places]:
    """Return the places of each phrase, in order."""
    order = np.argsort(keys, kind="stable")
    keys, places = keys[order], places[order]
    edges = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(places)]
    return [places[start:end] for start, end in pairwise(edges) if start < end]


def _covered(stream: WordStream, groups: list[Places], length: int) -> int:
    """Return the most characters that one of the phrases covers."""
    sizes = [int(stream.n_chars[group[0] : group[0] + length].sum()) for group in groups]
    most = 0
    for size, group in sorted(zip(sizes, groups, strict=True), key=lambda one: -one[0] * len(one[1])):
        if size * len(group) <= most:
            break
        times = _apart(group.tolist(), length)
        most = max(most, size * times if times > 1 else 0)
    return most


def _apart(places: list[int], length: int) -> int:
    """Count places from left to right that do not overlap."""
    if all(later - place >= length for place, later in pairwise(places)):
        return len(places)
    times, free = 0, -1
    for place in places:
        if place >= free:
            times, free = times + 1, place + length
    return times
