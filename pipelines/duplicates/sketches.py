"""What is kept of a text to find its duplicates later: hashes alone, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.duplicates.bands import Bands, band_keys
from pipelines.duplicates.minhash import PERMUTATIONS, low_bytes, signatures
from pipelines.duplicates.mixing import U32, U64, high_half, mixed
from pipelines.duplicates.normalise import code_points, exact_keys
from pipelines.duplicates.ragged import Ints, Ragged, stacked, starts_of
from pipelines.duplicates.shingles import FEWEST_WORDS, shingles
from pipelines.duplicates.tokens import Tokens, tokens

VERSION = 2
"""Of normalisation, words, hashes and permutations. Sketches of different versions do not compare."""

SHORT_WORDS = 25
"""Up to so many words a text is short: one other word makes it say something else (own choice)."""

CHUNK_CHARACTERS = 1 << 20
FLAT = ("exact", "n_words", "negations", "bands", "bytes")
RAGGED = {"words": np.uint32, "pairs": np.uint32, "marks": np.uint32, "names": np.uint32, "spelled": np.uint64}


@dataclass(frozen=True)
class Sketches:
    """Sketches of texts, one entry or row a text.

    ``exact`` is the key of the exact form; ``n_words`` is the length, ``negations`` words like "not"; ``bands``
    has shape (texts, bands + 1), the last key being that of all words in order; ``bytes`` are the last bytes of the
    signature; ``words`` and ``pairs`` the real sets, ``marks`` and ``names`` what must not differ, in order.
    ``spelled`` belongs to ``words`` and is there for short texts alone. ``version`` and ``cut`` say how they were made.
    """

    exact: U64
    n_words: Ints
    negations: Ints
    bands: U32
    bytes: NDArray[np.uint8]
    words: Ragged
    pairs: Ragged
    marks: Ragged
    names: Ragged
    spelled: Ragged
    cut: Bands
    version: int = VERSION

    def __len__(self) -> int:
        return len(self.exact)

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Which texts have enough words to be near duplicates at all."""
        return self.n_words >= FEWEST_WORDS

    def take(self, rows: Ints) -> Sketches:
        """Return the rows asked for, in the order asked for."""
        flat: dict[str, Any] = {name: getattr(self, name)[rows] for name in FLAT}
        ragged: dict[str, Any] = {name: getattr(self, name).take(rows) for name in RAGGED}
        return Sketches(**flat, **ragged, cut=self.cut)


def sketches(
    texts: Sequence[str], cut: Bands, *, exact_texts: Sequence[str] | None = None, permutations: int = PERMUTATIONS
) -> Sketches:
    """Return the sketch of each text. ``exact_texts`` are what equality is told by, ``texts`` themselves without it.

    Memory beside the result is bounded by ``CHUNK_CHARACTERS``, or by the longest text.
    """
    keys = exact_keys(texts if exact_texts is None else exact_texts)
    parts = [_sketched(texts[low:high], keys[low:high], cut, permutations) for low, high in _chunks(texts)]
    return joined(parts)


def joined(parts: Sequence[Sketches]) -> Sketches:
    """Return the rows of all parts, one part after the other. Raises ``ValueError`` where their cuts differ."""
    if len({(part.cut, part.version) for part in parts}) != 1:
        raise ValueError("wanted sketches of one version and cut, found others")
    flat: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in FLAT}
    ragged: dict[str, Any] = {name: stacked([getattr(part, name) for part in parts]) for name in RAGGED}
    return Sketches(**flat, **ragged, cut=parts[0].cut)


def _sketched(texts: Sequence[str], exact: U64, cut: Bands, permutations: int) -> Sketches:
    found = tokens(code_points(texts))
    sets = shingles(found)
    signature = signatures(sets.both(), permutations)
    whole = _whole(found)
    bands = np.concatenate((band_keys(signature, cut).T, whole[:, None]), axis=1)
    spelled = _of_short(found, sets.words, found.n_words)
    return Sketches(
        exact,
        found.n_words,
        found.negations,
        bands,
        low_bytes(signature),
        sets.words,
        sets.pairs,
        found.marks,
        found.names,
        spelled,
        cut,
    )


def _whole(found: Tokens) -> U32:
    """Hash the words of each text in order: texts that differ in case and punctuation alone agree in it."""
    places = np.arange(len(found.words.values)) - np.repeat(found.words.starts[:-1], found.words.sizes)
    terms = mixed(found.words.values + mixed(places.astype(np.uint64)))
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    return high_half(mixed(sums[found.words.starts[1:]] - sums[found.words.starts[:-1]]))


def _of_short(found: Tokens, sets: Ragged, n_words: Ints) -> Ragged:
    """Return the spelling of each distinct word of short texts, in the order of the set."""
    is_short = (n_words <= SHORT_WORDS) & (n_words >= FEWEST_WORDS)
    inside = np.repeat(is_short, found.words.sizes)
    owners = np.repeat(np.arange(len(n_words)), found.words.sizes)[inside]
    keyed = (owners.astype(np.uint64) << np.uint64(32)) | high_half(found.words.values[inside])
    _, first = np.unique(keyed, return_index=True)
    return Ragged(found.spelled.values[inside][first], starts_of(np.where(is_short, sets.sizes, 0)))


def _chunks(texts: Sequence[str]) -> list[tuple[int, int]]:
    total = starts_of(np.fromiter(map(len, texts), np.int64, len(texts)))
    bounds = [0]
    while bounds[-1] < len(texts):
        end = int(np.searchsorted(total, total[bounds[-1]] + CHUNK_CHARACTERS, side="right")) - 1
        bounds.append(max(bounds[-1] + 1, end))
    return list(zip(bounds, bounds[1:], strict=False)) or [(0, 0)]
