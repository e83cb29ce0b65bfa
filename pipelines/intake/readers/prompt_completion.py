"""Prompt and completion: rows of training sets, and OpenAI's completions API with ``choices`` that hold ``text``.

Source: TRL, dataset formats; OpenAI completions API. A ``label`` of TRL's unpaired preferences is a thumb.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake import flags
from pipelines.intake.envelopes import is_text_completion, request_of
from pipelines.intake.items import Entry, Message, Rating, Talk
from pipelines.intake.readers.turn_lists import read_turns
from pipelines.intake.roles import chain, last_of_chain
from pipelines.intake.shape import (
    BadShape,
    first_id,
    objects,
    optional_id,
    optional_number,
    optional_object,
    optional_text,
    optional_time,
    text_or_empty,
)

NAME = "prompt_completion"
VERSION = 1
TELLS = frozenset({"prompt", "choices", "request"})
EXCLUDES: frozenset[str] = frozenset()

OF_CHATS = frozenset({"messages", "chosen", "rejected", "conversations", "conversation", "instruction"})


def matches(entry: Entry) -> bool:
    """Tell by ``prompt`` beside a text or messages as ``completion`` or ``response``, or by a text completion."""
    if not OF_CHATS.isdisjoint(entry):
        return False
    if "prompt" in entry and "choices" not in entry:
        return isinstance(entry.get("completion"), (str, list)) or isinstance(entry.get("response"), str)
    return request_of(entry) is None and is_text_completion(entry) and _is_whole(entry)


def read(entry: Entry) -> Talk:
    """Read prompts and what completes them; several choices are siblings. Raises BadShape for wrong types."""
    if "completion" in entry or isinstance(entry.get("response"), str):
        return _read_row(entry)
    request = optional_object(entry, "request") or entry
    response = entry if "choices" in entry else optional_object(entry, "response") or {}
    prompts = _prompts(request)
    messages: list[Message] = []
    ends = []
    for prompt in prompts:
        _extend(messages, read_turns(prompt, "prompt", "user"), -1)
        ends.append(last_of_chain(messages))
    _add_choices(messages, ends or [-1], request, response)
    user_id = first_id(entry, "user_id", "user") or first_id(request, "user", "safety_identifier")
    return Talk(messages, first_id(entry, "conversation_id"), user_id)


def _read_row(entry: Entry) -> Talk:
    replies = read_turns(entry.get("completion", entry.get("response")), "completion", "assistant")
    messages = chain([*read_turns(entry.get("prompt"), "prompt", "user"), *replies])
    if system := optional_text(entry, "system"):
        messages = chain([Message("system", system), *messages])
    model = optional_text(entry, "model")
    for message in replies:
        message.model = model if message.role == "assistant" else None
    talk = Talk(messages, first_id(entry, "conversation_id"), first_id(entry, "user_id", "user"))
    if replies and isinstance(label := entry.get("label"), bool):
        talk.ratings.append(Rating("thumb", 1.0 if label else -1.0, target=len(messages) - 1))
    return talk


def _is_whole(entry: Entry) -> bool:
    """Tell a whole answer from a piece of a streamed one, which alone has no ``usage``."""
    return "choices" not in entry or "prompt" in entry or isinstance(entry.get("usage"), dict)


def _prompts(request: dict[str, Any]) -> list[Any]:
    """Return the prompts of a request: one, or each of a list of strings."""
    prompt = request.get("prompt")
    if isinstance(prompt, list) and prompt and all(isinstance(text, str) for text in prompt):
        return prompt
    return [] if prompt is None else [prompt]


def _extend(messages: list[Message], turns: list[Message], parent: int) -> None:
    for message in turns:
        message.parent = -1 if message.role == "system" else parent
        if message.role != "system":
            parent = len(messages)
        messages.append(message)


def _add_choices(messages: list[Message], ends: list[int], request: dict[str, Any], response: dict[str, Any]) -> None:
    """Add each choice below its prompt: choices are numbered prompt by prompt, ``n`` for each."""
    each = int(optional_number(request, "n") or 1)
    for number, choice in enumerate(objects(response, "choices")):
        if "text" not in choice:
            raise BadShape("each of choices must hold text")
        index = int(optional_number(choice, "index") or number)
        parent = ends[min(max(index, 0) // max(each, 1), len(ends) - 1)]
        text = text_or_empty(choice, "text")
        if request.get("echo") is True and parent >= 0:
            text = text.removeprefix(messages[parent].text)
        message = Message("assistant", text, parent)
        message.model = optional_text(response, "model") or optional_text(request, "model")
        message.response_id = optional_id(response, "id")
        message.created_at = optional_time(response, "created")
        message.finish_reason = optional_text(choice, "finish_reason")
        if message.finish_reason is None and "finish_reason" in choice:
            message.flags.append(flags.STREAM_INCOMPLETE)
        messages.append(message)
