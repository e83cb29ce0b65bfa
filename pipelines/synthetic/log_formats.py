"""The log formats that a dialogue can be written in, each with what of a dialogue it carries.

A format that logs each request repeats the talk so far in every record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.synthetic.dialogues import Dialogue
from pipelines.synthetic.renderers.anthropic_messages import anthropic_messages
from pipelines.synthetic.renderers.entries import Clock, Entry
from pipelines.synthetic.renderers.exports import chatgpt_export, claude_export
from pipelines.synthetic.renderers.gateways import databricks_inference, helicone, litellm
from pipelines.synthetic.renderers.openai_chat import openai_chat, plain_messages
from pipelines.synthetic.renderers.openai_responses import openai_responses
from pipelines.synthetic.renderers.otel_genai import otel_genai, otel_message_events, otlp_spans
from pipelines.synthetic.renderers.public_sets import fastchat_arena, lmsys, oasst_tree, wildchat
from pipelines.synthetic.renderers.rendered_texts import chatml, vllm_log
from pipelines.synthetic.renderers.sharegpt import human_assistant_pairs, sharegpt
from pipelines.synthetic.renderers.streams import anthropic_events, openai_chunks, responses_events
from pipelines.synthetic.renderers.traces import langfuse, mlflow_trace
from pipelines.synthetic.renderers.training_rows import alpaca, message_log, preference_pairs, prompt_completion
from pipelines.synthetic.renderers.traits import CALLS, EVERYTHING, IDS, MEDIA, Trait

Renderer = Callable[[Dialogue, Clock], list[Entry]]


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A way to write a dialogue as log entries.

    ``carries`` is what comes back when intake reads them, as the format ``reads_as``; all else of a dialogue is lost in
    the writing. A format ``is_named`` where only a header tells it.
    """

    render: Renderer
    reads_as: str
    carries: frozenset[Trait]
    is_named: bool = False

    @property
    def holds_whole_talks(self) -> bool:
        """Tell whether each entry holds its message and all that was said before it, or is one message of all."""
        return self.carries >= {Trait.QUESTIONS, Trait.HISTORY}


_REQUESTS = EVERYTHING - {Trait.OPEN_END}
_WORDS_ALONE = EVERYTHING - CALLS - MEDIA
_STREAMED = EVERYTHING - MEDIA - {Trait.SYSTEM, Trait.QUESTIONS, Trait.HISTORY, Trait.ANY_ORDER, Trait.OPEN_END}

FORMATS: dict[str, LogFormat] = {
    "openai_chat": LogFormat(openai_chat, "openai_chat", _REQUESTS),
    "plain_messages": LogFormat(plain_messages, "openai_chat", EVERYTHING - {Trait.ALTERNATIVES}),
    "anthropic_messages": LogFormat(anthropic_messages, "anthropic_messages", _REQUESTS - {Trait.AUDIO}),
    "openai_responses": LogFormat(openai_responses, "openai_responses", _REQUESTS - {Trait.ANY_ORDER}),
    "otel_genai": LogFormat(otel_genai, "otel_genai", _REQUESTS),
    "otlp_spans": LogFormat(otlp_spans, "otel_genai", _REQUESTS),
    "otel_message_events": LogFormat(
        otel_message_events, "otel_genai", _REQUESTS - MEDIA - {Trait.ANY_ORDER, Trait.EMPTY_TEXTS}
    ),
    "sharegpt": LogFormat(sharegpt, "sharegpt", EVERYTHING - MEDIA - {Trait.ALTERNATIVES, Trait.WORDS_WITH_CALLS}),
    "human_assistant_pairs": LogFormat(
        human_assistant_pairs,
        "sharegpt",
        _WORDS_ALONE - {Trait.ALTERNATIVES, Trait.ANY_ORDER, Trait.OPEN_END, Trait.USER_ID},
    ),
    "wildchat": LogFormat(wildchat, "wildchat", _WORDS_ALONE - {Trait.ALTERNATIVES, Trait.SYSTEM}),
    "lmsys": LogFormat(lmsys, "lmsys_chat", _WORDS_ALONE - {Trait.ALTERNATIVES, Trait.SYSTEM, Trait.USER_ID}),
    "oasst_tree": LogFormat(oasst_tree, "oasst_tree", _WORDS_ALONE - {Trait.SYSTEM}),
    "fastchat_arena": LogFormat(fastchat_arena, "fastchat_arena", (_WORDS_ALONE | {Trait.IMAGES}) - {Trait.OPEN_END}),
    "litellm": LogFormat(litellm, "litellm", _REQUESTS),
    "helicone": LogFormat(helicone, "helicone", _REQUESTS),
    "databricks_inference": LogFormat(databricks_inference, "databricks_inference", _REQUESTS),
    "langfuse": LogFormat(langfuse, "langfuse", _REQUESTS),
    "mlflow_trace": LogFormat(mlflow_trace, "mlflow_trace", _REQUESTS),
    "chatgpt_export": LogFormat(
        chatgpt_export,
        "chatgpt_export",
        EVERYTHING - MEDIA - {Trait.PARALLEL_CALLS, Trait.WORDS_WITH_CALLS, Trait.USER_ID},
    ),
    "claude_export": LogFormat(claude_export, "claude_export", EVERYTHING - MEDIA - {Trait.SYSTEM}),
    "prompt_completion": LogFormat(prompt_completion, "prompt_completion", _REQUESTS),
    "alpaca": LogFormat(
        alpaca, "alpaca", _WORDS_ALONE - {Trait.ALTERNATIVES, Trait.ANY_ORDER, Trait.OPEN_END, Trait.EMPTY_TEXTS}
    ),
    "preference_pairs": LogFormat(preference_pairs, "preference_pairs", _REQUESTS - {Trait.EMPTY_TEXTS}),
    "message_log": LogFormat(message_log, "message_log", EVERYTHING - {Trait.CHAIN, Trait.USER_ID}),
    "chatml": LogFormat(chatml, "chatml", _WORDS_ALONE - {Trait.ALTERNATIVES, Trait.CONTROL_TOKENS}, is_named=True),
    "vllm_log": LogFormat(
        vllm_log,
        "vllm_log",
        _WORDS_ALONE - IDS - {Trait.ALTERNATIVES, Trait.SYSTEM, Trait.HISTORY, Trait.ANY_ORDER, Trait.OPEN_END},
    ),
    "openai_chunks": LogFormat(openai_chunks, "openai_chat", _STREAMED),
    "anthropic_events": LogFormat(anthropic_events, "anthropic_messages", _STREAMED - {Trait.RAW_ARGUMENTS}),
    "responses_events": LogFormat(responses_events, "openai_responses", _STREAMED),
}
"""Log formats and dialects by name. ``preference_pairs`` holds answers with an alternative, and nothing else."""

STREAMS = frozenset({"otel_message_events", "openai_chunks", "anthropic_events", "responses_events"})
"""Formats whose entries are lists of pieces."""

WITH_USER_ID = frozenset(
    {
        *("openai_chat", "anthropic_messages", "openai_responses", "otel_genai", "otlp_spans"),
        *("litellm", "helicone", "databricks_inference", "langfuse", "mlflow_trace"),
    }
)
"""Formats in which applications write their own user ids, which may be e-mail addresses."""

GENERATED = tuple(
    name
    for name, log_format in FORMATS.items()
    if log_format.holds_whole_talks and not log_format.is_named and name != "preference_pairs"
)
"""Formats in which a log shows every line of a dialogue and needs no header."""
