"""The log formats that intake reads, in one place: add a module under ``readers`` and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipelines.intake.items import Entry, Talk
from pipelines.intake.readers import (
    alpaca,
    anthropic_messages,
    chatgpt_export,
    chatml,
    claude_export,
    databricks_inference,
    fastchat_arena,
    helicone,
    langfuse,
    litellm,
    lmsys_chat,
    message_log,
    mlflow_trace,
    oasst_tree,
    openai_chat,
    openai_responses,
    otel_genai,
    preference_pairs,
    prompt_completion,
    sharegpt,
    turnmill_feedback,
    vllm_log,
    wildchat,
)


class LogFormat(Protocol):
    """What a reader module gives. ``TELLS``: top-level keys of which an entry of the format has at least one.

    ``EXCLUDES``: names of formats that ``matches`` has already ruled out when it is true.
    """

    @property
    def NAME(self) -> str:  # noqa: D102, N802
        ...

    @property
    def VERSION(self) -> int:  # noqa: D102, N802
        ...

    @property
    def TELLS(self) -> frozenset[str]:  # noqa: D102, N802
        ...

    @property
    def EXCLUDES(self) -> frozenset[str]:  # noqa: D102, N802
        ...

    def matches(self, entry: Entry) -> bool:
        """Tell by shape whether the entry is of this format. Never raises."""

    def read(self, entry: Entry) -> Talk | list[Talk]:
        """Read the entry; pure. Raises BadShape when a field is not what the format says.

        Several talks come from a format that logs them side by side.
        """


FORMATS: tuple[LogFormat, ...] = (
    openai_chat,
    anthropic_messages,
    openai_responses,
    sharegpt,
    wildchat,
    lmsys_chat,
    oasst_tree,
    otel_genai,
    litellm,
    langfuse,
    helicone,
    databricks_inference,
    mlflow_trace,
    fastchat_arena,
    chatgpt_export,
    claude_export,
    chatml,
    vllm_log,
    prompt_completion,
    alpaca,
    preference_pairs,
    message_log,
    turnmill_feedback,
)

FORMAT_OF_NAME: dict[str, LogFormat] = {log_format.NAME: log_format for log_format in FORMATS}

_TOLD_BY: dict[str, list[LogFormat]] = {
    key: [log_format for log_format in FORMATS if key in log_format.TELLS]
    for key in sorted(set().union(*(log_format.TELLS for log_format in FORMATS)))
}


def matching_formats(entry: Entry) -> Sequence[LogFormat]:
    """Return the formats whose shape the entry has: one for a known log, none for an unknown one.

    More than one means that the entry mixes formats and must name its own; guessing would make identity a lottery.
    """
    candidates: list[LogFormat] = []
    for key in entry:
        if key in _TOLD_BY:
            told = _TOLD_BY[key]
            candidates = [*candidates, *(other for other in told if other not in candidates)] if candidates else told
    found: list[LogFormat] = []
    for log_format in candidates:
        if found and log_format.NAME in found[-1].EXCLUDES:
            continue
        if log_format.matches(entry):
            found.append(log_format)
    return found
