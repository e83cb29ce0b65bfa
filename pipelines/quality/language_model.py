"""py3langid's naive Bayes model, run over many short texts at once.

The library walks its automaton one text at a time in Python (about 0.1 ms for 300 bytes). The same walk in step over
all texts, on the library's own tables, gives the same scores at a tenth of the cost; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pipelines.quality import scripts

CANDIDATES: Mapping[str, tuple[str, ...]] = {
    scripts.LATIN: (
        "af", "az", "bs", "ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "gd",
        "gl", "ha", "hr", "hu", "id", "ig", "is", "it", "jv", "lt", "lv", "ms", "nl", "no", "pl", "pt",
        "ro", "sk", "sl", "so", "sq", "sv", "sw", "tk", "tl", "tr", "uz", "vi", "yo", "zu",
    ),
    scripts.CYRILLIC: ("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "uk"),
    scripts.ARABIC: ("ar", "fa", "ps", "ur"),
    scripts.DEVANAGARI: ("hi", "mr", "ne"),
    scripts.BENGALI: ("as", "bn"),
}  # fmt: skip
"""Languages that a text of the script may have: those that CLDR covers at its level "modern" (cldr-core,
coverageLevels.json; fil as tl) and that the model knows by an ISO 639-1 code. Rarer ones draw short texts away."""

CHUNK_TEXTS = 256
"""Texts that walk in step: enough to hide numpy's cost a call, few enough for the processor's cache."""


class LanguageModel:
    """The packaged model of py3langid 0.4, cut to the candidates of each script. About 110 MB."""

    def __init__(self) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        full = LanguageIdentifier.from_model_file(MODEL_FILE)
        following = np.array(full.tk_nextmove, dtype=np.intp)
        self._first_row = full.tk_row[0] << 8
        self._next_row = (np.array(full.tk_row, dtype=np.int32) << 8)[following]
        self._feature = np.array(full.tk_output, dtype=np.int32)[following]
        self._weights = {}
        self._priors = {}
        labels = list(full.nb_classes)
        for script, languages in CANDIDATES.items():
            columns = [labels.index(language) for language in languages]
            self._weights[script] = np.ascontiguousarray(full.nb_ptc[:, columns], dtype=np.float32)
            self._priors[script] = full.nb_pc[columns].astype(np.float32)

    def scores(self, script: str, texts: Sequence[bytes]) -> NDArray[np.float32]:
        """Log posterior of each candidate of ``script`` without its prior: shape [texts, candidates].

        A text is UTF-8 in NFC. Scores of pieces of a text add up; ``probabilities`` adds the prior once.
        """
        scores = np.zeros((len(texts), len(CANDIDATES[script])), np.float32)
        # Texts of like length walk together, so that little of a step is spent on texts that have ended.
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for first in range(0, len(order), CHUNK_TEXTS):
            places = order[first : first + CHUNK_TEXTS]
            scores[places] = self._chunk(script, [texts[i] for i in places])
        return scores

    def probabilities(
        self, script: str, scores: NDArray[np.float32], n_bytes: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Softmax over the candidates at py3langid's temperature, the root of the length in bytes: rows sum to 1."""
        scaled = (scores + self._priors[script]) / np.sqrt(np.maximum(n_bytes, 1), dtype=np.float32)[:, None]
        scaled -= scaled.max(axis=1, keepdims=True)
        shares = np.exp(scaled)
        return shares / shares.sum(axis=1, keepdims=True)

    def _chunk(self, script: str, texts: Sequence[bytes]) -> NDArray[np.float32]:
        """Score texts that are sorted longest first: shape [texts, candidates]."""
        weights = self._weights[script]
        found = self._walk(texts)
        steps, rows = np.nonzero(found >= 0)
        keys = rows * len(weights) + found[steps, rows]
        keys, counts = np.unique(keys, return_counts=True)
        rows, features = np.divmod(keys, len(weights))
        first_of_row = np.searchsorted(rows, np.arange(len(texts)))
        columns = np.arange(len(rows)) - first_of_row[rows]
        width = int(columns.max(initial=-1)) + 1
        # Rows are filled up with feature 0 at a count of 0, which adds nothing.
        padded = np.zeros((len(texts), width), np.intp)
        padded[rows, columns] = features
        logs = np.zeros((len(texts), 1, width), np.float32)
        logs[rows, 0, columns] = np.log1p(counts.astype(np.float32))
        return np.matmul(logs, np.take(weights, padded, axis=0))[:, 0, :]

    def _walk(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """Walk over all texts at once: the feature that each byte completes, -1 for none; shape [bytes, texts]."""
        lengths = [len(text) for text in texts]
        width = max(lengths, default=0)
        padded = b"".join([text.ljust(width, b"\0") for text in texts])
        moves = np.frombuffer(padded, np.uint8).reshape(len(texts), width).T.astype(np.int32)
        row: NDArray[np.int32] = np.full(len(texts), self._first_row, np.int32)
        for step in range(width):
            moves[step] += row
            np.take(self._next_row, moves[step], None, row, "clip")
        found = self._feature[moves]
        found[np.arange(width)[:, None] >= np.array(lengths)] = -1
        return found


@cache
def language_model() -> LanguageModel:
    """Load the model, once in each process (about a second)."""
    return LanguageModel()
