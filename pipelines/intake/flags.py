"""What a reader should know of a message: flags that follow from its content or from the messages around it.

A flag never removes data. Flags that only one format can tell are set by its reader.
"""

from __future__ import annotations

import re

from pipelines.intake.items import MediaPart, Message, ToolCall
from pipelines.intake.tool_arguments import canonical_arguments

BODY_MISSING = "body_missing"
BRANCH_INACTIVE = "branch_inactive"
CACHE_HIT = "cache_hit"
CONTROL_TOKEN_IN_CONTENT = "control_token_in_content"  # noqa: S105 - a flag, not a secret
HISTORY_MISSING = "history_missing"
MEDIA_MISSING = "media_missing"
NUL_REMOVED = "nul_removed"
ORPHAN_TOOL_CALL = "orphan_tool_call"
REASONING_REDACTED = "reasoning_redacted"
REFUSAL = "refusal"
REPLY_DELETED = "reply_deleted"
ROLES_UNTRUSTED = "roles_untrusted"
STREAM_INCOMPLETE = "stream_incomplete"
SURROGATE_REPLACED = "surrogate_replaced"
SYNTHETIC = "synthetic"
TOOL_ARGS_INVALID_JSON = "tool_args_invalid_json"
TOOL_ERROR = "tool_error"
TOOL_NAME_MISSING = "tool_name_missing"
UNKNOWN_PART = "unknown_part"
UPSTREAM_FLAGGED = "upstream_flagged"
UPSTREAM_REDACTED = "upstream_redacted"
UPSTREAM_TRUNCATED = "upstream_truncated"
WITHOUT_HISTORY = "without_history"

_CONTROL_TOKEN = re.compile(
    r"<[|\uff5c][^<>|\uff5c\s]{1,40}[|\uff5c]>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|<(?:bos|eos|pad|unk)>"
)
"""Tokens of chat templates: ChatML, Llama 2 and 3, Gemma, Mistral, DeepSeek, Phi."""

_CUT_BY_LOGGER = re.compile(
    # Langfuse's SDKs put this in place of a value (langfuse-python, task_manager.py; langfuse-js, core)
    r"<truncated due to [^<>\n]{1,80}>"
    # LiteLLM cuts the middle out (spend_tracking_utils.py)
    r"|\(litellm_truncated\b"
    # Langfuse's Codex plug-in and others: a mark with an amount, or a bare one where the text ends
    r"|\[(?:\.\.\.|\u2026)?truncated[ :]+[\d,]+ [^\[\]\n]{1,60}\]"
    r"|(?:\.\.\.|\u2026|\n)[ \t]*[\[<](?:\.\.\.|\u2026)?truncated(?:\.\.\.|\u2026)?[\]>]\s*\Z",
    re.IGNORECASE,
)
"""Marks that loggers leave where they cut a value. People write of truncation too, so each has more than the word."""

_CUT_AT_END = (
    "...truncated by litellm, this logger does not support large content",  # litellm, custom_logger.py
    "...TRUNCATED...",  # Datadog's agent, pkg/logs
)
_CUT_AT_START = (
    "[truncated by litellm]...",  # litellm, tail kept
    "...TRUNCATED...",  # Datadog's agent: the rest of a cut line
    "[This value has been dropped because this span's size exceeds the ",  # Datadog, ddtrace/llmobs/_constants.py
)

MAX_OPEN_CALLS = 1_000
"""Calls of one message that are paired with answers; the cost of a record must not grow with their square."""

_MEDIA_PLACEHOLDER = "[base64_data truncated"
_SURROGATE = re.compile("[\ud800-\udfff]")


def flag_messages(messages: list[Message]) -> None:
    """Set the flags that follow from content and tool pairing, in place."""
    with_tools = False
    for message in messages:
        text = message.text
        if "<" in text or "[" in text or "(" in text:
            _flag_marks(message)
        if text.endswith(_CUT_AT_END) or text.startswith(_CUT_AT_START):
            _add(message, UPSTREAM_TRUNCATED)
        if message.parts:
            _flag_placeholders(message)
        if message.tool_calls or message.role == "tool":
            with_tools = True
        if len(message.flags) > 1:
            message.flags = list(dict.fromkeys(message.flags))
    if with_tools:
        pair_tools(messages)


def pair_tools(messages: list[Message]) -> None:
    """Give tool answers the name of their call, and flag calls and answers that have no counterpart, in place.

    A call is answered by the tool messages that follow it directly, by id or, where either has none, by position; an id
    used again later is a new call. A call at the end of its path still waits for its answer and is no orphan.
    """
    waiting: list[list[ToolCall]] = []
    callers: list[int] = []
    for index, message in enumerate(messages):
        at_root = message.parent < 0
        open_calls = [] if at_root else waiting[message.parent]
        caller = -1 if at_root else callers[message.parent]
        if message.role == "system":
            waiting.append([])
            callers.append(-1)
            continue
        if message.role == "tool":
            call = _call_of(message, open_calls)
            if call is None:
                _add(message, ORPHAN_TOOL_CALL)
            else:
                message.tool_name = message.tool_name or call.name or None
                open_calls = [other for other in open_calls if other is not call]
        else:
            if open_calls:
                _add(messages[caller], ORPHAN_TOOL_CALL)
            open_calls, caller = message.tool_calls[:MAX_OPEN_CALLS], index
        waiting.append(open_calls)
        callers.append(caller)
    for message in messages:
        if any(canonical_arguments(call.arguments) is None for call in message.tool_calls if call.arguments.strip()):
            _add(message, TOOL_ARGS_INVALID_JSON)


def repair_message(message: Message) -> None:
    """Replace lone surrogates by U+FFFD and remove NUL in every string of the message, with a flag each, in place.

    Neither can be stored: Parquet text is UTF-8, and many readers end a string at NUL.
    """
    holders: list[Message | ToolCall | MediaPart] = [message, *message.tool_calls, *message.parts]
    for holder in holders:
        for name in holder.__slots__:
            value = getattr(holder, name)
            if isinstance(value, str) and (repaired := repair_text(value)) != value:
                setattr(holder, name, repaired)
                if "\0" in value:
                    _add(message, NUL_REMOVED)
                if _SURROGATE.search(value):
                    _add(message, SURROGATE_REPLACED)


def repair_text(text: str) -> str:
    """Return ``text`` with U+FFFD for each lone surrogate and without NUL."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "")


def _call_of(answer: Message, calls: list[ToolCall]) -> ToolCall | None:
    for call in calls:
        if call.id == answer.tool_call_id:
            return call
    for call in calls:
        if call.id is None or answer.tool_call_id is None:
            return call
    return None


def _flag_marks(message: Message) -> None:
    text = message.text
    if _CONTROL_TOKEN.search(text):
        _add(message, CONTROL_TOKEN_IN_CONTENT)
    if "runcated" not in text and "RUNCATED" not in text:
        return
    if _MEDIA_PLACEHOLDER in text:
        _add(message, MEDIA_MISSING)
    elif _CUT_BY_LOGGER.search(text):
        _add(message, UPSTREAM_TRUNCATED)


def _flag_placeholders(message: Message) -> None:
    if any(_is_placeholder(part) for part in message.parts):
        _add(message, MEDIA_MISSING)


def _is_placeholder(part: MediaPart) -> bool:
    return part.content is not None and part.content[:64].lower().find(b"truncated") >= 0


def _add(message: Message, flag: str) -> None:
    if flag not in message.flags:
        message.flags.append(flag)
