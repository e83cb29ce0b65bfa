"""What keeps an answer out of training: rules in order, as data. The first rule that an answer breaks is its drop."""

from __future__ import annotations

from dataclasses import dataclass

CONSENT = "consent"
HISTORY_MISSING = "not_trainable_flag:history_missing"
NO_USER_TURN = "no_user_turn"
FINISH_REASON = "finish_reason"
EMPTY_REPLY = "empty_reply"
EXACT_DUPLICATE = "exact_duplicate"
INACTIVE_BRANCH = "inactive_branch"
NOT_COMPLETE = "not_complete"
NOT_TAGGED = "quality:not_tagged"
QUALITY_PREFIX = "quality:"
FLAG_PREFIX = "not_trainable_flag:"

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


@dataclass(frozen=True)
class CurationPolicy:
    """Settings of one cut, written into the manifest of the dataset version."""

    validation_percent: int = 10
    """Split buckets, of 100, that go to validation."""
    barring_flags: tuple[str, ...] = BARRING_FLAGS
    cut_finishes: tuple[str, ...] = CUT_FINISHES
    version: int = 1
    """Version of rules and normalisation, bumped when either changes."""

    def __post_init__(self) -> None:
        if not 0 <= self.validation_percent <= 100:
            raise ValueError(f"validation_percent: wanted 0 to 100, found {self.validation_percent}")

    def split(self, bucket: int) -> str:
        """Return the split of a bucket from 0 to 99."""
        return "validation" if bucket < self.validation_percent else "train"
