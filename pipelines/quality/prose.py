"""The prose of a chat text: what is left when code, tables, addresses, markup and placeholders are taken out.

Language, word counts and repetition are judged on prose alone: code of another model's answer filtered all rows
(datatrove#388), and digits, tables and ids look repetitive by nature (FastChat's optional_clean.py says so itself).
"""

from __future__ import annotations

import re

FENCES = ("```", "~~~")
INLINE_CODE = re.compile(r"`[^`\n]+`")
WEB_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
TAG = re.compile(r"<[^<>\n]{1,200}>")
"""HTML tags, and typed placeholders such as ``<EMAIL_...>``: neither is a word of any language."""

CODE_MARKS = '{}()[]<>=;_$\\|"#@+*/:'
_MARK_BYTES = CODE_MARKS.encode()
GATE_SHARE = 0.06
"""Share of ``CODE_MARKS`` in the whole text above which lines are looked at one by one; prose stays near 0.02."""
CODE_LINE_SHARE = 0.12
"""Share of ``CODE_MARKS`` in a line above which it is code or markup (own choice: ``f(x);`` has 0.5, prose 0.03)."""

TABLE_CELLS = 2
"""Column marks (``|`` or tab) that make a line a table row."""


def prose(text: str) -> str:
    """Return ``text`` without fenced and inline code, code-like lines, table rows, web addresses and tags.

    Line ends stay. The cost is linear in the text, whatever it holds.
    """
    if any(fence in text for fence in FENCES):
        text = _outside_fences(text)
    if _mark_share(text) > GATE_SHARE or "\t" in text or "|" in text:
        text = "\n".join(line for line in text.split("\n") if not _is_code_or_table(line))
    if "`" in text:
        text = INLINE_CODE.sub(" ", text)
    if "www." in text or "://" in text:
        text = WEB_ADDRESS.sub(" ", text)
    if "<" in text:
        text = TAG.sub(" ", text)
    return text


def _outside_fences(text: str) -> str:
    """Drop fenced blocks; one that is never closed reaches to the end, as CommonMark 0.31 section 4.5 says."""
    kept: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        head = line.lstrip()[:3]
        if fence is None and head in FENCES:
            fence = head
        elif fence is None:
            kept.append(line)
        elif head == fence:
            fence = None
    return "\n".join(kept)


def _mark_share(text: str) -> float:
    """Share of the characters that are marks of code."""
    raw = text.encode("utf-8", "surrogatepass")
    return (len(raw) - len(raw.translate(None, _MARK_BYTES))) / (len(text) or 1)


def _is_code_or_table(line: str) -> bool:
    return line.count("|") >= TABLE_CELLS or line.count("\t") >= TABLE_CELLS or _mark_share(line) > CODE_LINE_SHARE
