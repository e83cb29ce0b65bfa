"""Forms of a text: one in which equal texts are equal, and one whose code points are cut into words."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.duplicates.mixing import U32, U64
from pipelines.duplicates.ragged import Ints, starts_of

UNSEEN = ("'", "\u2019", "\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff")
"""Characters that cut no word: apostrophes, soft hyphens and marks of zero width. "don't" and "dont" are one word."""

END = "\x00"
"""Stands after each text of a batch. No normalisation joins it to what is beside it, and texts hold none."""


def exact_form(text: str) -> str:
    """Return the text in NFC with each run of white space as one space; texts are equal when their forms are.

    Case and punctuation count, as they do in the exact duplicates of ``datasets.curate``.
    """
    composed = text.isascii() or unicodedata.is_normalized("NFC", text)
    return " ".join((text if composed else unicodedata.normalize("NFC", text)).split())


def exact_keys(texts: Sequence[str]) -> U64:
    """Return a 64-bit BLAKE2b digest of each text's exact form."""
    digests = (
        hashlib.blake2b(exact_form(text).encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True)
class CodePoints:
    """All texts of a batch in NFKC, each followed by ``END``; text ``i`` begins at ``starts[i]``."""

    points: U32
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1


def code_points(texts: Sequence[str]) -> CodePoints:
    """Return the code points of texts, compatibility forms unified (full-width digits, ligatures), ``UNSEEN`` left out.

    Upper case is kept: names are told by it.
    """
    joined = "".join(f"{text.replace(END, ' ')}{END}" for text in texts)
    for unseen in UNSEEN:
        joined = joined.replace(unseen, "")
    if not joined.isascii():
        joined = unicodedata.normalize("NFKC", joined)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
    ends = np.flatnonzero(points == ord(END)) + 1
    return CodePoints(points, starts_of(np.diff(ends, prepend=0)))
