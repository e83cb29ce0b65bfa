"""ChatML text: ``<|im_start|>role``, a line feed, the words, ``<|im_end|>``. Only read where a header names it.

Whoever may write the words of a message may write these marks too, so text that merely looks like ChatML is never taken
apart: name the format only for renders that come from a trusted program.
"""

from __future__ import annotations

from pipelines.intake import flags
from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.roles import chain, role_of
from pipelines.intake.shape import BadShape, first_id, optional_text

NAME = "chatml"
VERSION = 1
TELLS: frozenset[str] = frozenset()
EXCLUDES: frozenset[str] = frozenset()

START, END = "<|im_start|>", "<|im_end|>"


def matches(entry: Entry) -> bool:  # noqa: ARG001 - the signature of every format
    """Tell nothing: ChatML must be named."""
    return False


def read(entry: Entry) -> Talk:
    """Read the blocks of ``text``. Raises BadShape for text outside of blocks, a block in a block or an open block.

    Only the assistant's last block may lack its end, as a render for the model does; with words in it, it is flagged.
    """
    messages = []
    before, *blocks = (optional_text(entry, "text") or "").split(START)
    if before.strip():
        raise BadShape("text before the first block")
    for number, block in enumerate(blocks, 1):
        head, line_end, rest = block.partition("\n")
        words, end, after = rest.partition(END)
        if END in head or (not line_end and number < len(blocks)):
            raise BadShape(f"block {number} must have a line for its role")
        if after.strip():
            raise BadShape(f"text after block {number}")
        message = Message(role_of((head.split() or [""])[0]), words)
        if end:
            messages.append(message)
        elif number < len(blocks) or message.role != "assistant":
            raise BadShape(f"block {number} has no end")
        elif words.strip():
            message.flags.append(flags.STREAM_INCOMPLETE)
            messages.append(message)
    return Talk(chain(messages), first_id(entry, "conversation_id"), first_id(entry, "user_id"))
