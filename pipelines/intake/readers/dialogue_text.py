"""Dialogues as one string with marks of the speakers, as preference sets write them.

Source: anthropics/hh-rlhf, README: turns begin with a blank line and ``Human:`` or ``Assistant:``.
"""

from __future__ import annotations

import re

from pipelines.intake.items import Message

ROLE_OF_MARK = {"Human": "user", "Assistant": "assistant"}
_MARK = re.compile(r"(?:\A\n{0,2}|\n\n)(Human|Assistant):")


def read_dialogue(text: str) -> list[Message] | None:
    """Return the turns of a dialogue, outer white space trimmed; None for text that does not begin with a mark."""
    before, *pieces = _MARK.split(text)
    if before or not pieces:
        return None
    marks, words = pieces[::2], pieces[1::2]
    return [Message(ROLE_OF_MARK[mark], said.strip()) for mark, said in zip(marks, words, strict=True)]
