"""The log formats that intake reads, in one place: add a module under ``readers`` and a line here."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
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


CACHED_KEYS = 32
"""Entries with more keys are looked up anew: logs of one source repeat a few keys, an odd record need not be kept."""


def _told_by(keys: Iterable[str]) -> tuple[LogFormat, ...]:
    """Return the formats that one of the keys tells of."""
    return tuple(dict.fromkeys(log_format for key in keys for log_format in _TOLD_BY.get(key, ())))


_candidates = functools.lru_cache(maxsize=1024)(_told_by)


def matching_formats(entry: Entry) -> Sequence[LogFormat]:
    """Return the formats whose shape the entry has: one for a known log, none for an unknown one.

    More than one means that the entry mixes formats and must name its own; guessing would make identity a lottery.
    """
    found: list[LogFormat] = []
    for log_format in _candidates(tuple(entry)) if len(entry) <= CACHED_KEYS else _told_by(entry):
        if found and log_format.NAME in found[-1].EXCLUDES:
            continue
        if log_format.matches(entry):
            found.append(log_format)
    return found
