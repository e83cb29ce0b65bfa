"""What a speaker says in their own name: a text without what it quotes."""

from __future__ import annotations

import re

_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d|\u201e[^\u201c\u201d\n]{1,400}[\u201c\u201d]"
    r"|\u00ab[^\u00bb\n]{1,400}\u00bb|\u300c[^\u300d\n]{1,400}\u300d"
    r"|(?<!\w)'[^'\n]{1,400}'(?!\w)|(?<!\w)\u2018[^\u2019\n]{1,400}\u2019(?!\w)"
    r"|^[ \t]*>[^\n]*",
    re.MULTILINE,
)
_MARKS = "\"'\u201c\u201e\u00ab\u300c\u2018>"


def without_quotations(text: str) -> str:
    """Return ``text`` with a mark in place of each quoted passage of up to 400 characters and each quoted line."""
    return _QUOTED.sub('"', text) if any(mark in text for mark in _MARKS) else text
