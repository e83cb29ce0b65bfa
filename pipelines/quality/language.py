"""The language of a text, or ``und``: never a wrong language for want of evidence (fastText#1181, curation 3)."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.quality.language_model import CANDIDATES, language_model
from pipelines.quality.scripts import HAN, HANGUL, KANA, LATIN, LETTERS_A_SYLLABLE, letters_by_script

UNDETERMINED = "und"
"""ISO 639-2's code for a language that is not known."""

FLOOR = 0.65
"""Probability below which the answer is ``und``: the threshold of DataTrove's language filter."""
SCRIPT_FLOOR = 0.65
LATIN_FLOOR = 0.85
"""Share of letters that a script needs; below it the text is mixed. Names, code and ids put Latin letters into texts
of every script, so Latin has to show more (Russian questions about code came out as Uzbek without it)."""
SURE = 0.9
"""Probability from which a part of a text counts as evidence that the text is mixed."""
MAX_CHARS = 50_000
"""Longer texts are judged by their beginning: memory and cost are bounded."""
MIN_LETTERS = 10
"""Fewer letters than this say too little: "yes" is Hungarian to the model, "hola" Irish."""
MIN_SYLLABLES = 2 * LETTERS_A_SYLLABLE
"""The same for scripts that one language alone uses, where the script itself is the evidence."""

WINDOW_BYTES = 100
MAX_WINDOWS = 4
MAX_WINDOW_BYTES = 80
"""A text is judged on one window each 100 bytes, four at most, spread evenly: the cost of a long text is bounded."""

SINGLE_LANGUAGE_SCRIPTS = {
    "Greek": "el", "Armenian": "hy", "Hebrew": "he", "Gurmukhi": "pa", "Gujarati": "gu", "Oriya": "or", "Tamil": "ta",
    "Telugu": "te", "Kannada": "kn", "Malayalam": "ml", "Sinhala": "si", "Thai": "th", "Lao": "lo", "Myanmar": "my",
    "Georgian": "ka", "Ethiopic": "am", "Khmer": "km", HANGUL: "ko",
}  # fmt: skip
"""Scripts with one language at CLDR's level "modern" (Ethiopic also writes ti, Hebrew yi: both below that level)."""

CLOSE = (
    ("bs", "hr", "sl"),
    ("cs", "sk"),
    ("da", "no", "sv"),
    ("es", "gl", "pt", "ca"),
    ("id", "jv", "ms"),
    ("be", "ru", "uk"),
    ("bg", "mk"),
    ("ga", "gd"),
    ("hi", "mr", "ne"),
    ("az", "tr", "tk"),
)
"""Languages whose short pieces are easily taken for each other: two of one group in a text do not make it mixed."""

_NOT_A_LETTER = bytes(b for b in range(128) if not chr(b).isalpha())
_UPPER = bytes(range(ord("A"), ord("Z") + 1))


class Language(NamedTuple):
    """An ISO 639-1 code (``und`` when not certain) and the confidence of the best candidate, 0 to 1."""

    code: str
    score: float


NOTHING = Language(UNDETERMINED, 0.0)


def identify(prose: Sequence[str]) -> list[Language]:
    """Return the language of each text, in order; texts are given without code (``pipelines.quality.prose``).

    ``und`` where the letters are few, where no candidate reaches ``FLOOR``, where no script holds
    ``SCRIPT_FLOOR`` of the letters, and where parts of the text are surely of different languages. Many texts
    at once cost about a tenth of one by one.
    """
    answers: list[Language] = [NOTHING] * len(prose)
    waiting: dict[str, list[int]] = defaultdict(list)
    for i, text in enumerate(prose):
        script, answers[i] = _by_script(text[:MAX_CHARS])
        if script:
            waiting[script].append(i)
    for script, places in waiting.items():
        found = _by_model(script, [_normal(prose[i][:MAX_CHARS]) for i in places])
        for i, answer in zip(places, found, strict=True):
            answers[i] = answer
    return answers


def _by_script(text: str) -> tuple[str | None, Language]:
    """Decide by script alone; the name of a script is returned where the model has to decide."""
    if text.isascii():
        return (LATIN if letters_by_script(text).get(LATIN, 0) >= MIN_LETTERS else None), NOTHING
    letters = letters_by_script(text)
    total = sum(letters.values())
    if total < MIN_SYLLABLES:
        return None, NOTHING
    kana = letters.get(KANA, 0)
    if kana:
        letters[KANA] = kana + letters.pop(HAN, 0)
    script = max(letters, key=letters.__getitem__)
    share = letters[script] / total
    if share < (LATIN_FLOOR if script == LATIN else SCRIPT_FLOOR):
        return None, Language(UNDETERMINED, share)
    if script == HAN:
        return None, Language("zh", share)
    if script == KANA:
        return None, _japanese_or_chinese(kana / letters[KANA], share)
    if script in SINGLE_LANGUAGE_SCRIPTS:
        return None, Language(SINGLE_LANGUAGE_SCRIPTS[script], share)
    if total < MIN_LETTERS:
        return None, NOTHING
    return script, NOTHING


def _japanese_or_chinese(kana_share: float, share: float) -> Language:
    """Japanese prose is about half kana; a few of them in Han text are a quotation (own thresholds)."""
    if kana_share >= 0.15:
        return Language("ja", share)
    if kana_share <= 0.03:
        return Language("zh", share)
    return Language(UNDETERMINED, share)


def _normal(text: str) -> bytes:
    """Make the text what the model was trained on: NFC, one line, lower case where most is upper case."""
    text = text.strip()
    if not text.isprintable() or "  " in text:
        text = " ".join(text.split())
    raw = text.encode("utf-8", "surrogatepass")
    upper = len(raw) - len(raw.translate(None, _UPPER))
    if text.isupper() or 2 * upper > len(raw.translate(None, _NOT_A_LETTER)):
        text = text.lower()
    elif text.isascii():
        return raw
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")


def _windows(raw: bytes) -> list[bytes]:
    """Cut evenly spread windows out of a text; a short text is one window, whole."""
    n = min(max(len(raw) // WINDOW_BYTES, 1), MAX_WINDOWS)
    size = -(-len(raw) // n)
    return [raw[i * size : i * size + min(size, MAX_WINDOW_BYTES)] for i in range(n)]


def _by_model(script: str, texts: Sequence[bytes]) -> list[Language]:
    """Let the model decide among the candidates of ``script``; each text by the sum of its windows."""
    model = language_model()
    windows = [_windows(text) for text in texts]
    starts = np.cumsum([0] + [len(w) for w in windows[:-1]])
    flat = [window for of_text in windows for window in of_text]
    n_bytes = np.array([len(window) for window in flat], np.int64)
    scores = model.scores(script, flat)
    whole = model.probabilities(script, np.add.reduceat(scores, starts, axis=0), np.add.reduceat(n_bytes, starts))
    mixed = _mixed(script, model.probabilities(script, scores, n_bytes), starts)
    best, score = whole.argmax(axis=1), whole.max(axis=1)
    certain = (score >= FLOOR) & ~mixed
    names = CANDIDATES[script]
    return [
        Language(names[b] if sure else UNDETERMINED, s)
        for b, s, sure in zip(best.tolist(), score.tolist(), certain.tolist(), strict=True)
    ]


def _mixed(script: str, parts: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which texts have windows that are surely of languages of different groups."""
    group = _groups(script)[parts.argmax(axis=1)]
    sure = parts.max(axis=1) >= SURE
    least = np.minimum.reduceat(np.where(sure, group, len(CANDIDATES[script])), starts)
    most = np.maximum.reduceat(np.where(sure, group, -1), starts)
    return (most > least) & (most >= 0)


@cache
def _groups(script: str) -> NDArray[np.int64]:
    """Return the number of the group of close languages that each candidate belongs to."""
    names = CANDIDATES[script]
    group = {language: names.index(close[0]) for close in CLOSE if close[0] in names for language in close}
    return np.array([group.get(language, place) for place, language in enumerate(names)])


def known_languages() -> frozenset[str]:
    """All codes that ``identify`` can answer, ``und`` left out; for checking configured codes at start."""
    by_model = {language for languages in CANDIDATES.values() for language in languages}
    return frozenset(by_model | set(SINGLE_LANGUAGE_SCRIPTS.values()) | {"ja", "zh"})
