"""What can be said of one turn's quality without another turn and without a verdict."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.quality import harm, injection, prompt_quotes, refusal
from pipelines.quality.code_validity import code_validity
from pipelines.quality.cue_words import CueWords
from pipelines.quality.endings import is_unfinished
from pipelines.quality.gibberish import gibberish_share
from pipelines.quality.harm import LEXICON, Harm, TextScorer
from pipelines.quality.language import Language, identify
from pipelines.quality.prose import prose
from pipelines.quality.repetition import repeated_line_share, top_ngram_shares
from pipelines.quality.sketch import sketches
from pipelines.quality.stock_phrases import APOLOGY_CUES, BOILERPLATE_CUES, boilerplate_share, count_apologies
from pipelines.quality.truncation import is_truncated
from pipelines.quality.word_stream import WordStream

_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")

CUES = CueWords(
    {
        "refusal": refusal.CUES,
        "boilerplate": BOILERPLATE_CUES,
        "apology": APOLOGY_CUES,
        injection.OVERRIDE: injection.OVERRIDE_CUES,
        injection.REVEAL: injection.REVEAL_CUES,
        injection.ROLE: injection.ROLE_CUES,
        injection.DATA: injection.DATA_CUES,
        injection.PERSONA: injection.PERSONA_CUES,
        injection.NO_LIMITS: injection.NO_LIMITS_CUES,
        "harm": harm.CUES,
        "prompt_quote": prompt_quotes.CUES,
    }
)
"""Which words ask which detector to look; without them its score is 0."""

CHARS_AT_ONCE = 500_000
"""Characters whose words are held together: memory stays bounded, whatever the texts."""


@dataclass(slots=True)
class Signals:
    """Quality signals of a turn; the fields of the table ``turn_signals``, where their meaning stands, and the role."""

    role: str
    lang: str
    lang_score: float
    n_chars: int
    n_words: int
    repeated_line_share: float
    top_ngram_share: float
    gibberish_share: float
    boilerplate_share: float
    n_apologies: int
    refusal_score: float
    injection_score: float
    jailbreak_score: float
    prompt_quote_score: float
    toxicity_score: float
    self_harm_score: float
    harm_scorer: str
    code_validity: str | None
    text_sketch: int | None
    is_empty: bool
    is_truncated: bool
    is_unfinished: bool


@dataclass(slots=True)
class TurnText:
    """What the signals of a turn are made of. ``has_content``: it has tool calls or media beside its text."""

    text: str
    role: str
    flags: Collection[str] = ()
    finish_reason: str | None = None
    has_content: bool = False


def signals(
    text: str | None,
    role: str,
    flags: Collection[str] = (),
    finish_reason: str | None = None,
    has_content: bool = False,
) -> Signals:
    """Return the signals of one turn; ``batch_signals`` is about twenty times as fast for many."""
    return batch_signals([TurnText(text or "", role, flags, finish_reason, has_content)])[0]


def batch_signals(turns: Iterable[TurnText], scorer: TextScorer = LEXICON) -> list[Signals]:
    """Return the signals of each turn, in order. Any text is accepted; none of it is kept or quoted."""
    turns = list(turns)
    proses = [prose(turn.text) for turn in turns]
    languages = identify(proses)
    found: list[Signals] = []
    for start, end in _slices(turns):
        found += _of_slice(turns[start:end], proses[start:end], languages[start:end], scorer)
    return found


def _slices(turns: Sequence[TurnText]) -> Iterator[tuple[int, int]]:
    """Cut the turns into runs of about ``CHARS_AT_ONCE``, one turn at least."""
    start = chars = 0
    for place, turn in enumerate(turns):
        if place > start and chars + len(turn.text) > CHARS_AT_ONCE:
            yield start, place
            start, chars = place, 0
        chars += len(turn.text)
    if start < len(turns):
        yield start, len(turns)


def _of_slice(
    turns: Sequence[TurnText], proses: Sequence[str], languages: Sequence[Language], scorer: TextScorer
) -> list[Signals]:
    stream = WordStream(proses)
    cues = _cues(turns, proses, stream)
    harms = scorer.scores([turn.text for turn in turns], ["harm" in cue for cue in cues])
    shares, n_words = top_ngram_shares(stream, proses), np.diff(stream.starts).tolist()
    rows = zip(turns, proses, languages, cues, harms, n_words, shares, sketches(stream), strict=True)
    return [
        _one(turn, plain, language, cue, harms_, words, share, text_sketch, scorer.name)
        for turn, plain, language, cue, harms_, words, share, text_sketch in rows
    ]


def _cues(turns: Sequence[TurnText], proses: Sequence[str], stream: WordStream) -> list[frozenset[str]]:
    """Return the detectors that each whole text, code and markup included, has the cue words of."""
    cues = CUES.found_in(stream)
    more = [
        place for place, (turn, plain) in enumerate(zip(turns, proses, strict=True)) if len(plain) != len(turn.text)
    ]
    for place, flags in zip(more, CUES.found_in(WordStream([turns[place].text for place in more])), strict=True):
        cues[place] |= flags
    return [CUES.detectors(flags) for flags in cues]


def _one(
    turn: TurnText,
    plain: str,
    language: Language,
    cues: frozenset[str],
    harms: Harm,
    n_words: int,
    top_share: float,
    text_sketch: int | None,
    scorer_name: str,
) -> Signals:
    text, role = turn.text, turn.role
    is_answer = role == "assistant"
    return Signals(
        role=role,
        lang=language.code,
        lang_score=language.score,
        n_chars=len(text),
        n_words=n_words,
        repeated_line_share=repeated_line_share(plain),
        top_ngram_share=top_share,
        gibberish_share=gibberish_share(plain),
        boilerplate_share=boilerplate_share(plain) if "boilerplate" in cues else 0.0,
        n_apologies=count_apologies(plain) if "apology" in cues else 0,
        refusal_score=_refusal(turn, cues) if is_answer else 0.0,
        injection_score=injection.injection_score(text, role, cues) if cues & injection.INJECTIONS else 0.0,
        jailbreak_score=injection.jailbreak_score(text, cues) if cues & injection.JAILBREAKS else 0.0,
        prompt_quote_score=prompt_quotes.prompt_quote_score(text) if is_answer and "prompt_quote" in cues else 0.0,
        toxicity_score=harms.toxicity,
        self_harm_score=harms.self_harm,
        harm_scorer=scorer_name,
        code_validity=code_validity(text) if "```" in text or "~~~" in text else None,
        text_sketch=text_sketch,
        is_empty=not turn.has_content and _VISIBLE.search(text) is None,
        is_truncated=is_truncated(text, turn.flags, turn.finish_reason),
        is_unfinished=is_answer and not turn.has_content and is_unfinished(text, turn.finish_reason),
    )


def _refusal(turn: TurnText, cues: frozenset[str]) -> float:
    if "refusal" in cues or refusal.REFUSAL_FLAG in turn.flags:
        return refusal.refusal_score(turn.text, turn.flags)
    return 0.0
