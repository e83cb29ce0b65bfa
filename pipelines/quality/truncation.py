"""Texts that were cut before they came to us: training on one teaches a model to stop mid-sentence."""

from __future__ import annotations

import re
from collections.abc import Collection

CUT_REASONS = frozenset(
    {
        "length",  # OpenAI chat completions, vLLM, TGI
        "max_tokens",  # Anthropic, Gemini, Cohere
        "max_output_tokens",  # OpenAI responses: incomplete_details.reason
        "model_length",  # Mistral
        "model_context_window_exceeded",  # Anthropic
        "content_filter",  # OpenAI: text was left out
        "safety",  # Gemini
        "recitation",  # Gemini
        "incomplete",  # OpenAI responses: status
        "cancelled",
        "abort",  # vLLM: the client went away
        "error",
    }
)
"""Values of the log's own finish reason, in lower case, that say that the answer did not come to its end."""

PARTIAL_FLAGS = frozenset({"stream_incomplete", "upstream_truncated", "upstream_redacted", "body_missing"})
"""Flags of adapters for content that is known to be partial; none of it is trained on."""

_LITELLM = re.compile(r"\(litellm_truncated (?:skipped )?\d+ char")
"""LiteLLM cuts the middle out of long strings in its spend logs (BerriAI/litellm, PR 14637)."""

_WHY_AT_END = re.compile(
    r"[\[(<{](?:\w+ )?truncated"
    r"(?: due to [^\])>}\n]{1,80}|[ :]+[\d,]+ (?:more )?(?:char|byte|token|line|word)[^\])>}\n]{0,40})"
    r"[\])>}]\Z",
    re.IGNORECASE,
)
"""Marks with a cause or an amount: ``<truncated due to size exceeding limit>`` (langfuse issue 4940),
``[truncated 1200 chars]`` (langfuse's Codex plug-in, PR 90)."""

_BARE_AT_END = re.compile(r"(?:…|\.\.\.|\n)[ \t]*[\[(<{](?:\w+ )?truncated[\])>}]\Z", re.IGNORECASE)
"""A bare mark counts only after dots or on a line of its own: "what does [truncated] mean" is a question."""

TAIL_CHARS = 200


def is_truncated(text: str, flags: Collection[str], finish_reason: str | None) -> bool:
    """Tell whether the log, the model or an upstream tool cut the text, by reason, flag or known mark."""
    if finish_reason is not None and finish_reason.lower() in CUT_REASONS:
        return True
    if flags and not PARTIAL_FLAGS.isdisjoint(flags):
        return True
    if "runcated" not in text and "RUNCATED" not in text:
        return False
    tail = text[-TAIL_CHARS:].rstrip()
    return bool(_LITELLM.search(text) or _WHY_AT_END.search(tail) or _BARE_AT_END.search(tail))
