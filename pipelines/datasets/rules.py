"""Names of the rules that keep an answer out of training, and what each means. The first that it breaks is its drop."""

from __future__ import annotations

CONSENT = "consent"
CONSENT_WITHDRAWN = "consent_withdrawn"
HISTORY_MISSING = "not_trainable_flag:history_missing"
NO_USER_TURN = "no_user_turn"
FINISH_REASON = "finish_reason"
EMPTY_REPLY = "empty_reply"
EXACT_DUPLICATE = "exact_duplicate"
NEAR_DUPLICATE = "near_duplicate"
SEMANTIC_DUPLICATE = "semantic_duplicate"
SPLIT_LEAK = "split_leak"
CONTAMINATED = "contaminated"
INACTIVE_BRANCH = "inactive_branch"
SENT_BACK = "sent_back"
TARGET_UNKNOWN = "target_unknown"
TARGET_AMBIGUOUS = "target_ambiguous"
CONTRADICTED = "contradicted"
PROMPTS_DIFFER = "prompts_differ"
SIDE_NOT_AN_ANSWER = "side_not_an_answer"
EQUAL_SIDES = "equal_sides"
EDIT_OF_CALLS = "edit_of_calls"
REJECTED_PREFIX = "rejected:"
NOT_COMPLETE = "not_complete"
NOT_TAGGED = "quality:not_tagged"
QUALITY_PREFIX = "quality:"
FLAG_PREFIX = "not_trainable_flag:"
SIGNAL_PREFIX = "signal:"
CAP_PREFIX = "cap_"

MEANINGS: dict[str, str] = {
    NOT_COMPLETE: "The conversation may still grow.",
    INACTIVE_BRANCH: "The answer was regenerated or edited away.",
    SENT_BACK: "The user asked for another answer in its place.",
    CONSENT_WITHDRAWN: "A user of the conversation, or the conversation, was withdrawn from training.",
    CONSENT: "A turn, the system message or the conversation is not for training.",
    f"{QUALITY_PREFIX}REASON": "The filter did not keep the answer; `not_tagged`: it has not seen it.",
    HISTORY_MISSING: "A turn before the answer, or its system message, is not there.",
    NO_USER_TURN: "Nobody asked: no turn of the user comes before the answer.",
    f"{FLAG_PREFIX}FLAG": "What the model saw or said is not what is stored, here or in a turn before.",
    FINISH_REASON: "The answer was cut short or withheld.",
    EMPTY_REPLY: "The answer has neither text nor a tool call.",
    f"{SIGNAL_PREFIX}PLACE.NAME": "A signal of answer, prompt or conversation is beyond the policy's bound.",
    TARGET_UNKNOWN: "Feedback that names no stored answer.",
    TARGET_AMBIGUOUS: "Feedback that fits several answers, as the choices of one response.",
    CONTRADICTED: "People, or one person in two ways, disagree about the answers.",
    f"{REJECTED_PREFIX}RULE": "The rejected side of the pair breaks the rule.",
    PROMPTS_DIFFER: "The sides do not answer the same prompt.",
    SIDE_NOT_AN_ANSWER: "After what the sides share, one of them is not one answer with its tool calls.",
    EQUAL_SIDES: "Both sides say the same, white space aside.",
    EDIT_OF_CALLS: "A person edited an answer that calls tools; what became of the calls is unknown.",
    EXACT_DUPLICATE: "Prompt and answer say the same as an earlier example, white space aside.",
    NEAR_DUPLICATE: "Question and answer are nearly those of another example.",
    SEMANTIC_DUPLICATE: "Question and answer both say the same as those of another example, by their embeddings.",
    SPLIT_LEAK: "A near duplicate of the example is held out for validation.",
    CONTAMINATED: "The example holds an item of a benchmark.",
    f"{CAP_PREFIX}user": "The user (without one: the conversation) has given as much as the policy allows.",
    f"{CAP_PREFIX}source": "The log format has given as much as the policy allows.",
    f"{CAP_PREFIX}topic": "The topic has as much room as the policy allows.",
    f"{CAP_PREFIX}tenant": "The version is as large as the policy allows.",
}
"""Rules in the order in which they are tried."""

BARRING_FLAGS = (
    "body_missing",
    "branch_inactive",
    "history_missing",
    "media_missing",
    "orphan_tool_call",
    "roles_untrusted",
    "roles_not_alternating",
    "stream_incomplete",
    "tool_args_invalid_json",
    "unknown_part",
    "upstream_redacted",
    "upstream_truncated",
)
"""Flags that bar an answer, on itself or on a turn of its prompt: what the model saw or said is not what is stored."""

CUT_FINISHES = (
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "content_filter",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "error",
    "abort",
    "cancelled",
)
"""Finish reasons, in lower case, of an answer cut short or withheld (OpenAI, Anthropic, Gemini, vLLM, Mistral)."""


def meaning(rule: str) -> str:
    """Return what a rule means; an empty text for one that this version does not know."""
    patterns = {
        REJECTED_PREFIX: "RULE",
        FLAG_PREFIX: "FLAG",
        QUALITY_PREFIX: "REASON",
        SIGNAL_PREFIX: "PLACE.NAME",
    }
    if rule in MEANINGS:
        return MEANINGS[rule]
    return next((MEANINGS[p + rest] for p, rest in patterns.items() if rule.startswith(p)), "")
