"""Answers that stop before their end without a word of the log about it."""

from __future__ import annotations

import re

from pipelines.quality.prose import FENCES

MIN_LINE = 60
"""A last line of prose of fewer characters may be a heading, a name or a verse (own choice)."""
ENDED = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed", "finished"})
"""Finish reasons in lower case that say that the answer came to its end."""

_OPEN_END = re.compile(r"[^\W\d_]\Z|[,;:(\[{\u2014&/-]\Z")
_NO_PROSE = re.compile(
    r"^\s*(?:[-*+\u2022#>|]|(?:\d{1,3}|[a-z]|[ivx]+)[.)]|\w+:\s)|https?://\S*\Z|\S+@\S+\Z|[=<>{}|\\]"
)
_LAST_WORD_OPEN = re.compile(
    r"\b(?:the|a|an|and|or|of|to|in|with|for|that|which|is|are|was|by|from|as|at|on|your|their|its|because|if|when"
    r"|der|die|das|und|oder|mit|für|von|zu|ist|ein|eine|el|la|los|las|y|o|de|con|para|que|le|les|et|ou|du|des|avec"
    r"|pour)\Z",
    re.IGNORECASE,
)


def is_unfinished(text: str, finish_reason: str | None = None) -> bool:
    """Tell whether an answer stops in the middle: an open code block, an open word order, a line of prose without end.

    A log that says that the model came to its end is believed. Lists, headings, verses, tables and scripts without
    spaces are no evidence.
    """
    if finish_reason is not None and finish_reason.lower() in ENDED:
        return False
    end = text[-400:].rstrip()
    if not end or _is_closed(end) and not _has_open_fence(text):
        return False
    if _has_open_fence(text):
        return True
    line = end.rsplit("\n", 1)[-1]
    if len(line) < MIN_LINE or _NO_PROSE.search(line) or not _OPEN_END.search(line):
        return False
    return line[-1] in ",;(&" or _LAST_WORD_OPEN.search(line) is not None or _ends_in_prose(text, line)


def _is_closed(end: str) -> bool:
    return end[-1] in ".!?\u2026\u3002\uff01\uff1f\"')*_`\u201d\u2019"


def _has_open_fence(text: str) -> bool:
    if "```" not in text and "~~~" not in text:
        return False
    fences = sum(1 for line in text.split("\n") if line.lstrip()[:3] in FENCES)
    return fences % 2 == 1


def _ends_in_prose(text: str, line: str) -> bool:
    """Tell whether sentences came before: a text that never uses a full stop does not need one at its end."""
    before = text[: len(text.rstrip()) - len(line)] + line
    return line[-1].islower() and len(re.findall(r"[.!?](?:\s|\Z)", before)) >= 2
