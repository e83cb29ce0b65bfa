"""Quality of turns."""

import pyarrow as pa

from schemas.shared_columns import CONVERSATION_REF, LANDED_AT, TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, at_most, not_null, one_of

CODE_VALIDITIES = ("valid", "invalid", "unknown")


def share(name: str, doc: str) -> Column:
    """Return a column of numbers from 0 to 1."""
    return Column(name, pa.float32(), doc, (not_null, at_least(0), at_most(1)), 0.0)


TURN_SIGNALS = Table(
    name="turn_signals",
    doc="One row per turn: its quality signals, and keep or the first rule that it breaks.",
    key=("tenant", "turn_id"),
    columns=(
        TENANT,
        Column("turn_id", pa.string(), "The turn.", (not_null,), "t1"),
        Column("parent_id", pa.string(), "turn_id of the message before it; root_id for the first.", (not_null,), "r1"),
        Column("root_id", pa.string(), "Keyed identity of the talk.", (not_null,), "r1"),
        CONVERSATION_REF,
        Column("text_hash", pa.string(), "SHA-256 of the anonymised text, hex.", (), "0" * 64),
        Column("lang", pa.string(), "ISO 639-1 code of the language; und where it is not certain.", (not_null,), "en"),
        Column("lang_score", pa.float32(), "Confidence of the language, 0 to 1.", (at_least(0), at_most(1)), 1.0),
        Column("n_chars", pa.int32(), "Code points of the text.", (not_null, at_least(0)), 5),
        Column("n_words", pa.int32(), "Words of the text outside code.", (not_null, at_least(0)), 1),
        Column(
            "repeated_line_share",
            pa.float32(),
            "Share of characters in lines said before (Gopher, arXiv 2112.11446, table A1).",
            (at_least(0), at_most(1)),
            0.0,
        ),
        Column(
            "top_ngram_share",
            pa.float32(),
            "Share of characters in the most frequent 4-gram of words (Gopher, arXiv 2112.11446, table A1).",
            (at_least(0), at_most(1)),
            0.0,
        ),
        share("gibberish_share", "Share of letters in words that no language has: mashed keys."),
        share("boilerplate_share", "Share of characters in sentences with a stock phrase."),
        Column("n_apologies", pa.int32(), "How often the text says sorry.", (not_null, at_least(0)), 0),
        share(
            "refusal_score",
            "How surely an answer refuses; 1 where the log has a refusal part. From 0.5 on it is likely.",
        ),
        share(
            "injection_score",
            "How surely a text of any role tries to replace or draw out a model's instructions (OWASP LLM01:2025). From 0.5 on it is likely.",
        ),
        share(
            "jailbreak_score",
            "How surely a text tries to talk a model out of its limits (OWASP LLM01:2025). From 0.5 on it is likely.",
        ),
        share("prompt_quote_score", "How much an answer looks like a system prompt told by the assistant."),
        share("toxicity_score", "How surely a text attacks or threatens somebody; 0.3 crude words, 0.2 quoted only."),
        share(
            "self_harm_score", "How surely a text is about its writer's harm to themselves; 0.3 for the topic alone."
        ),
        Column(
            "harm_scorer",
            pa.string(),
            "Who gave the scores of toxicity and self-harm, with version.",
            (not_null,),
            "lexicon-1",
        ),
        Column(
            "code_validity",
            pa.string(),
            "Whether fenced code parses: valid, invalid or unknown; null without fenced code.",
            (one_of(*CODE_VALIDITIES),),
        ),
        Column(
            "text_sketch",
            pa.int64(),
            "SimHash of words and pairs of words; few bits differ between texts that say nearly the same. Null below four words.",
        ),
        Column("is_empty", pa.bool_(), "No visible text, no tool call and no media.", (not_null,), False),
        Column("is_truncated", pa.bool_(), "The log, the model or an upstream tool cut the text.", (not_null,), False),
        Column(
            "is_unfinished",
            pa.bool_(),
            "The answer stops in the middle, and the log does not say why.",
            (not_null,),
            False,
        ),
        Column("keep", pa.bool_(), "Worth embedding and, by consent, training on.", (not_null,), True),
        Column("reason", pa.string(), "First rule that the turn breaks; null for a kept one."),
        Column("rule_version", pa.int32(), "Version of rules and thresholds.", (not_null, at_least(1)), 1),
        LANDED_AT,
        Column(
            "tagged_at", UTC_MICROSECONDS, "Start of the micro-batch that tagged it, UTC.", (not_null,), EXAMPLE_TIME
        ),
    ),
    statistics=("tenant", "turn_id", "landed_at", "tagged_at"),
    holds_text=False,
)
