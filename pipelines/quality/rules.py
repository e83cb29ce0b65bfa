"""Which turns are worth embedding and training on: thresholds with their sources, and the first rule broken."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.quality.language import UNDETERMINED, known_languages
from pipelines.quality.signals import Signals

RULE_VERSION = 1
"""Goes up with every change of a rule, a threshold or a signal; stands in each row of ``turn_signals``."""

REASONS: dict[str, str] = {
    "empty": "No visible text, no tool call and no media.",
    "truncated": "The log, the model or an upstream tool cut the text.",
    "too_long": "More words or characters than any real message has.",
    "repetition": "Lines or phrases fill the text by being said again and again.",
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
    max_repeated_line_share: float = 0.40
    max_top_ngram_share: float = 0.32
    """Twice Gopher's limits (table A1: 0.20 duplicate line characters, 0.16 top 4-gram characters). Those are for web
    pages: of 1,250 public model answers (arena-hard-auto) 20 break them, all sound (choruses, lists of test cases),
    and 2 break the doubled ones; answers that loop stand far above both."""
    min_words_for_repetition: int = 50
    """Gopher's shortest document. In shorter texts one phrase said twice would break the rule."""
    repetition_roles: frozenset[str] = frozenset({"user", "assistant"})
    """Tool results and system prompts are lists and schemas, which repeat by nature."""
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

    A short text such as "yes" breaks no rule, and the empty result of a tool is an answer.
    """
    if signals.is_empty and signals.role != "tool":
        return "empty"
    if signals.is_truncated:
        return "truncated"
    if signals.n_words > rules.max_words or signals.n_chars > rules.max_chars:
        return "too_long"
    if _repeats(signals, rules):
        return "repetition"
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
