"""Preference pairs: ``chosen`` and ``rejected``, each a reply or a whole talk, with or without their prompt.

Source: TRL, dataset formats; anthropics/hh-rlhf. The prompt is what both sides share from the start, turn by turn, not
the first question; where a side repeats the prompt that the row also gives by itself, it counts once.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Entry, Message, Rating, Talk
from pipelines.intake.prefix_tree import PrefixTree
from pipelines.intake.readers.turn_lists import read_question, read_turns
from pipelines.intake.roles import chain
from pipelines.intake.shape import BadShape, first_id, optional_number, optional_text

NAME = "preference_pairs"
VERSION = 1
TELLS = frozenset({"chosen"})
EXCLUDES: frozenset[str] = frozenset()

MEASURE = "preference"
SIDES = ("chosen", "rejected")


def matches(entry: Entry) -> bool:
    """Tell by ``chosen`` beside ``rejected``."""
    return "chosen" in entry and "rejected" in entry


def read(entry: Entry) -> Talk:
    """Read the prompt once and both sides below it as branches, chosen (rank 0) before rejected (rank 1).

    The ranks judge the first reply of each branch. Raises BadShape for wrong types, and for a side without a reply of
    its own, as where both are equal.
    """
    tree = PrefixTree()
    places = {key: tree.add(chain(_side(entry, key, _prompt(entry)))) for key in SIDES}
    talk = Talk(tree.messages, first_id(entry, "conversation_id"), first_id(entry, "user_id"))
    for rank, (key, other) in enumerate(zip(SIDES, reversed(SIDES), strict=True)):
        shared = set(places[other])
        own = [place for place in places[key] if place not in shared and tree.messages[place].role == "assistant"]
        if not own:
            raise BadShape(f"{key} must hold a reply of its own")
        target = own[0]
        talk.ratings.append(Rating("rank", float(rank), target=target, measure=MEASURE))
        if (score := optional_number(entry, f"score_{key}")) is not None:
            talk.ratings.append(Rating("score", score, target=target, measure=MEASURE))
    return talk


def _prompt(entry: Entry) -> list[Message]:
    if entry.get("prompt") is not None:
        prompt = read_turns(entry["prompt"], "prompt", "user")
    elif entry.get("conversations") is not None:
        prompt = read_turns(entry["conversations"], "conversations", "user")
    else:
        prompt = read_question(entry, "instruction", "input") or read_question(entry, "question", "context")
    if prompt and prompt[-1].role == "assistant" and not prompt[-1].text and not prompt[-1].tool_calls:
        prompt.pop()
    if system := optional_text(entry, "system"):
        prompt.insert(0, Message("system", system))
    return prompt


def _side(entry: Entry, key: str, prompt: list[Message]) -> list[Message]:
    """Return prompt and side as one talk, whether or not the side repeats the prompt."""
    side = read_turns(entry.get(key), key, "assistant")
    asked = [_content(message) for message in _spoken(prompt)]
    if [_content(message) for message in _spoken(side)[: len(asked)]] == asked:
        system = [message for message in prompt if message.role == "system"]
        return side if any(message.role == "system" for message in side) else [*system, *side]
    return [*prompt, *side]


def _spoken(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.role != "system"]


def _content(message: Message) -> tuple[Any, ...]:
    calls = tuple((call.name, call.arguments) for call in message.tool_calls)
    return message.role, message.text.strip(), calls, tuple(part.content for part in message.parts)
