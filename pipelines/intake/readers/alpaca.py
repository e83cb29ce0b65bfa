"""Alpaca: ``instruction``, ``input`` and ``output``; also Dolly's ``context`` and ``response``.

Source: tatsu-lab/stanford_alpaca and databricks-dolly-15k, data set cards; ``system`` and ``history``, pairs of
question and answer, come from LLaMA-Factory, data/README.
"""

from __future__ import annotations

from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.readers.turn_lists import read_question
from pipelines.intake.roles import chain
from pipelines.intake.shape import first_id, optional_list, optional_text, text_or_empty, wrong_type

NAME = "alpaca"
VERSION = 1
TELLS = frozenset({"instruction"})
EXCLUDES: frozenset[str] = frozenset()

OF_CHATS = frozenset({"messages", "conversations", "conversation", "chosen", "rejected"})


def matches(entry: Entry) -> bool:
    """Tell by ``instruction`` with a string as ``output`` or ``response``, in an entry that is no chat."""
    if "instruction" not in entry or not OF_CHATS.isdisjoint(entry):
        return False
    return isinstance(entry.get("output"), str) or isinstance(entry.get("response"), str)


def read(entry: Entry) -> Talk:
    """Read history, question and answer. Raises BadShape for a field of another type."""
    messages = []
    if system := optional_text(entry, "system"):
        messages.append(Message("system", system))
    for pair in optional_list(entry, "history"):
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise wrong_type("each of history", "a pair of strings", pair)
        messages += [Message("user", pair[0]), Message("assistant", pair[1])]
    messages += read_question(entry, "instruction", "input" if "input" in entry else "context")
    answer = text_or_empty(entry, "output" if "output" in entry else "response")
    messages.append(Message("assistant", answer, model=optional_text(entry, "model")))
    return Talk(chain(messages), first_id(entry, "conversation_id"), first_id(entry, "user_id"))
