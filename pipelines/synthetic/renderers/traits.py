"""What a dialogue may hold that not every log format can carry."""

from __future__ import annotations

from enum import StrEnum


class Trait(StrEnum):
    """A property of a dialogue; a format names those that come back as they were when its log is read."""

    SYSTEM = "system"
    """A system prompt."""
    TOOLS = "tools"
    """Calls of tools, and their answers."""
    PARALLEL_CALLS = "parallel_calls"
    """Several calls in one message."""
    WORDS_WITH_CALLS = "words_with_calls"
    """Words in a message that also calls a tool."""
    RAW_ARGUMENTS = "raw_arguments"
    """Arguments that are text as the model wrote it, also where it is no JSON."""
    IMAGES = "images"
    AUDIO = "audio"
    FILES = "files"
    ALTERNATIVES = "alternatives"
    """A second answer in the same place."""
    CONVERSATION_ID = "conversation_id"
    USER_ID = "user_id"
    QUESTIONS = "questions"
    """What was said before the answer; without it the log holds one answer alone."""
    HISTORY = "history"
    """More than one exchange."""
    ANY_ORDER = "any_order"
    """Roles in any order; without it users and assistant take turns, the user first."""
    OPEN_END = "open_end"
    """Last words that the assistant has not answered."""
    EMPTY_TEXTS = "empty_texts"
    """Messages without words."""
    CONTROL_TOKENS = "control_tokens"
    """Words that look like the marks of a chat template."""
    CHAIN = "chain"
    """Which message follows which; without it each message is known by its own id."""


EVERYTHING = frozenset(Trait)
MEDIA = frozenset({Trait.IMAGES, Trait.AUDIO, Trait.FILES})
CALLS = frozenset({Trait.TOOLS, Trait.PARALLEL_CALLS, Trait.WORDS_WITH_CALLS, Trait.RAW_ARGUMENTS})
IDS = frozenset({Trait.CONVERSATION_ID, Trait.USER_ID})
