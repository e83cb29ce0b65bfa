"""The words of a text as hashes: enough to rank by shared words, and nothing to read in the index's files.

Words are runs of letters, marks and digits, NFKC and case-folded; runs of scripts that write no spaces become pairs of
characters, as is usual for them (Lucene's CJKBigramFilter). A word is kept as 32 bits of BLAKE2b in hex.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections import Counter

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SPACELESS}]+|[^\W_{_SPACELESS}]+(?:['’][^\W_{_SPACELESS}]+)*")
_IS_SPACELESS = re.compile(rf"[{_SPACELESS}]")

BM25_K1, BM25_B = 1.2, 0.75
"""Lucene's defaults, which Lance and Qdrant use too."""

MEAN_TERMS = 64.0
"""Length of an average turn, for engines that weigh a document by itself."""


def words(text: str) -> list[str]:
    """Split a text into its words, in their order."""
    found: list[str] = []
    for run in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _IS_SPACELESS.match(run) and len(run) > 1:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            found.append(run)
    return found


@functools.lru_cache(maxsize=1 << 16)
def term(word: str) -> str:
    """Return the hash of a word, eight hex digits."""
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def hashed_terms(text: str | None) -> str:
    """Return the hashes of all words of ``text`` in their order, separated by spaces."""
    return " ".join(map(term, words(text))) if text else ""


def term_weights(terms: str) -> dict[int, float]:
    """Return each term's share of BM25 inside a text of these hashed words; the rarity of the term is left out."""
    counts = Counter(terms.split())
    length = sum(counts.values())
    norm = BM25_K1 * (1 - BM25_B + BM25_B * length / MEAN_TERMS)
    return {int(name, 16): count * (BM25_K1 + 1) / (count + norm) for name, count in counts.items()}
