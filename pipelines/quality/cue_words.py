"""Words that ask a detector to look at a text: one look-up for all words of a batch and all detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipelines.quality.word_stream import Hashes, Places, WordStream, hashes_of, phrase_hashes

Flags = NDArray[np.int64]

_TOP_BITS = 16
_MAX_GROUPS = 62


class CueWords:
    """The cue words of several detectors, by name: a detector has groups of words, and asks for one word of each.

    A cue is a word, two words that follow each other, written ``feel_free``, or a character of a script without spaces;
    all in lower case. At most 62 groups, else ``ValueError``.
    """

    def __init__(self, groups_of: Mapping[str, Sequence[str]]) -> None:
        flags: dict[str, int] = {}
        self._needed: dict[str, int] = {}
        flag = 1
        for name, groups in groups_of.items():
            self._needed[name] = 0
            for words in groups:
                for word in words.split():
                    flags[word] = flags.get(word, 0) | flag
                self._needed[name] |= flag
                flag <<= 1
        if flag > 1 << _MAX_GROUPS:
            raise ValueError(f"at most {_MAX_GROUPS} groups of cue words, found {flag.bit_length() - 1}")
        self._words = _Lookup({cue: mask for cue, mask in flags.items() if "_" not in cue})
        self._pairs = _Lookup({cue: mask for cue, mask in flags.items() if "_" in cue})

    def found_in(self, stream: WordStream) -> list[int]:
        """Return for each text of the stream the flags of all groups with a word in it; 0 where there is none.

        Flags of parts of a text may be joined.
        """
        found: Flags = np.zeros(stream.n_texts, np.int64)
        self._words.mark(found, stream.hashes, stream.text_of)
        if len(stream.hashes) > 1:
            # A pair that begins in one text and ends in the next is no pair.
            inside = stream.text_of[1:] == stream.text_of[:-1]
            self._pairs.mark(found, phrase_hashes(stream.hashes, 2) * inside, stream.text_of)
        flags: list[int] = found.tolist()
        return flags

    @lru_cache(maxsize=4096)  # noqa: B019 - one object a process
    def detectors(self, flags: int) -> frozenset[str]:
        """Return the names of the detectors that have to look at a text with ``flags``."""
        return frozenset(name for name, needed in self._needed.items() if flags & needed == needed)


class _Lookup:
    """Flags by hash, for arrays of hashes of which few are known."""

    def __init__(self, flags: Mapping[str, int]) -> None:
        hashes = np.concatenate([_hash(cue) for cue in flags])
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        self._flags: Flags = np.array(list(flags.values()), np.int64)[order]
        self._marks = np.zeros(1 << _TOP_BITS, np.bool_)
        self._marks[self._hashes >> np.uint64(64 - _TOP_BITS)] = True

    def mark(self, found: Flags, hashes: Hashes, text_of: Places) -> None:
        """Add to ``found``, by text, the flags of the hashes that are known."""
        likely = np.flatnonzero(self._marks[hashes >> np.uint64(64 - _TOP_BITS)])
        wanted = hashes[likely]
        places = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        is_cue = self._hashes[places] == wanted
        np.bitwise_or.at(found, text_of[likely[is_cue]], self._flags[places[is_cue]])


def _hash(cue: str) -> Hashes:
    words = cue.split("_")
    return hashes_of(words) if len(words) == 1 else phrase_hashes(hashes_of(words), len(words))
