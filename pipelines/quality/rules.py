"""Which turns are worth embedding and training on: thresholds with their sources, and the first rule broken."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.quality.language import UNDETERMINED, known_languages
from pipelines.quality.signals import Signals

RULE_VERSION = 2
"""Goes up with every change of a rule, a threshold or a signal; stands in each row of ``turn_signals``."""

REASONS: dict[str, str] = {
    "empty": "No visible text, no tool call and no media.",
    "truncated": "The log, the model or an upstream tool cut the text.",
    "too_long": "More words or characters than any real message has.",
    "repetition": "Lines or phrases fill the text by being said again and again.",
    "apology_loop": "The answer says little but that it is sorry.",
    "gibberish": "Mashed keys: letters that make no words.",
    "language": "Surely in a language that is not wanted.",
}
"""Reasons in the order in which rules are tried, with what they mean."""


@dataclass(frozen=True)
class Rules:
    """Thresholds of the filter. ``languages`` are ISO 639-1 codes to keep; None keeps all, ``und`` is always kept.

    Raises ``ValueError`` for a language that the identifier cannot answer: it would drop every row (datatrove#388).
    """

    max_words: int = 100_000
    """Gopher (arXiv 2112.11446, section A.1.1) keeps documents of up to 100,000 words."""
    max_chars: int = 1_000_000
    """The same for texts without spaces: Gopher's mean word length is 10 characters at most."""
    max_repeated_line_share: float = 0.50
    max_top_ngram_share: float = 0.40
    """Two and a half times Gopher's limits (table A1: 0.20 duplicate line characters, 0.16 top 4-gram characters).
    Those are for web pages: of 38,345 public chat turns (oasst, arena-hard-auto, hh-rlhf, sgd, Taskmaster) 11 break the
    doubled limits, 8 of them sound (choruses, training plans, lists of test cases); 2 break these, one of them sound.
    Answers that loop stand far above."""
    min_words_for_repetition: int = 50
    """Gopher's shortest document. In shorter texts one phrase said twice would break the rule."""
    repetition_roles: frozenset[str] = frozenset({"user", "assistant"})
    """Tool results and system prompts are lists and schemas, which repeat by nature."""
    max_gibberish_share: float = 0.50
    """More than half of the letters: one mashed word in a question is a slip (own choice; none of 38,345
    public turns comes above 0.2)."""
    min_apologies: int = 4
    max_words_per_apology: int = 20
    """Answers that loop say sorry in each sentence; Gopher's mean sentence has about twenty words (own choice)."""
    languages: frozenset[str] | None = None

    def __post_init__(self) -> None:
        unknown = sorted((self.languages or frozenset()) - known_languages())
        if unknown:
            raise ValueError(
                f"unknown language codes: {', '.join(unknown)}; known are {', '.join(sorted(known_languages()))}"
            )


DEFAULT_RULES = Rules()


def reason(signals: Signals, rules: Rules = DEFAULT_RULES) -> str | None:
    """Return the first rule of ``REASONS`` that the turn breaks, or None for a turn to keep.

    A short text such as "yes" breaks no rule, and the empty result of a tool is an answer. Refusals, attempts to take
    over the model, toxicity and self-harm, broken code and open ends never decide here: they are columns, and stay
    searchable; what is trained on is up to the policy of a dataset.
    """
    if signals.is_empty and signals.role != "tool":
        return "empty"
    if signals.is_truncated:
        return "truncated"
    if signals.n_words > rules.max_words or signals.n_chars > rules.max_chars:
        return "too_long"
    if _repeats(signals, rules):
        return "repetition"
    if _apologises(signals, rules):
        return "apology_loop"
    if signals.gibberish_share > rules.max_gibberish_share and signals.role in rules.repetition_roles:
        return "gibberish"
    if rules.languages is not None and signals.lang not in {*rules.languages, UNDETERMINED}:
        return "language"
    return None


def _repeats(signals: Signals, rules: Rules) -> bool:
    if signals.n_words < rules.min_words_for_repetition or signals.role not in rules.repetition_roles:
        return False
    return (
        signals.repeated_line_share > rules.max_repeated_line_share
        or signals.top_ngram_share > rules.max_top_ngram_share
    )


def _apologises(signals: Signals, rules: Rules) -> bool:
    n = signals.n_apologies
    return (
        signals.role == "assistant" and n >= rules.min_apologies and signals.n_words < n * rules.max_words_per_apology
    )
