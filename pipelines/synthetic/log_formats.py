"""A dialogue as seven log formats write it. A format that logs each request repeats the talk so far in every record."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from pipelines.synthetic.dialogues import Dialogue, Line

Json = dict[str, Any]
MODELS = ("mill-small-2", "mill-large-1", "grist-7b")
_TOOLS = ("get_order", "save_contact", "find_customer")
_LANGUAGE_NAMES = {
    "en": "English", "de": "German", "es": "Spanish", "fr": "French",
    "pt": "Portuguese", "it": "Italian", "nl": "Dutch", "pl": "Polish",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One log entry: its JSON, how many lines of the dialogue it holds, and the id that feedback joins on."""

    json: Json
    lines: int
    response_id: str | None = None


@dataclass(slots=True)
class Clock:
    """Ids and times of a log, from its own randomness; times rise by some seconds a call, epoch seconds."""

    random: Random
    now: int = 1_780_000_000

    def tick(self) -> int:
        """Return a later time than the last one."""
        self.now += self.random.randrange(1, 40)
        return self.now

    def hex(self, digits: int) -> str:
        """Return a random id in hex."""
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"


def _answers(dialogue: Dialogue) -> list[tuple[int, Line, list[str]]]:
    """Return (lines before, the line, its texts with the alternative last) for each line of the assistant."""
    return [
        (place, line, [line.text, *([line.alternative] if line.alternative else [])])
        for place, line in enumerate(dialogue.lines)
        if line.role == "assistant"
    ]


def openai_chat(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record an answer: request with history, response; an alternative is a second choice or record."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in _answers(dialogue):
        request: Json = {"model": model, "messages": _openai_messages(dialogue, place), "temperature": 0.2}
        if dialogue.user_id:
            request["user"] = dialogue.user_id
        if any(one.calls for one in dialogue.lines):
            request["tools"] = [
                {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in _TOOLS
            ]
        together = len(texts) == 1 or clock.random.random() < 0.5
        for batch in [texts] if together else [[text] for text in texts]:
            choices = [_openai_choice(index, line, text) for index, text in enumerate(batch)]
            usage = {"prompt_tokens": 40 * place + 9, "completion_tokens": len(line.text) // 4}
            response: Json = {
                "id": f"chatcmpl-{clock.hex(24)}", "object": "chat.completion", "created": clock.tick(), "model": model,
                "choices": choices, "usage": usage,
            }  # fmt: skip
            envelope = {"timestamp": clock.now, "workload_id": "help-desk", "client_id": "shop", "request": request}
            entries.append(Entry({**envelope, "response": response}, place + 1, response["id"]))
    return entries


def _openai_choice(index: int, line: Line, text: str) -> Json:
    reason = "tool_calls" if line.calls else "stop"
    return {"index": index, "message": {**_openai_message(line), "content": text or None}, "finish_reason": reason}


def _openai_messages(dialogue: Dialogue, count: int) -> list[Json]:
    system = [{"role": "system", "content": dialogue.system}] if dialogue.system else []
    return system + [_openai_message(line) for line in dialogue.lines[:count]]


def _openai_message(line: Line) -> Json:
    message: Json = {"role": line.role, "content": line.text or None}
    if line.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": json.dumps(one.arguments)}}
            for one in line.calls
        ]
    if line.call_id:
        message["tool_call_id"] = line.call_id
    return message


def anthropic_messages(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record an answer: content in blocks, results of tools in user messages; alternatives as own records."""
    model, entries = clock.random.choice(MODELS), []
    for place, line, texts in _answers(dialogue):
        request: Json = {"model": model, "max_tokens": 512}
        if dialogue.system:
            request["system"] = [{"type": "text", "text": dialogue.system}]
        if dialogue.user_id:
            request["metadata"] = {"user_id": dialogue.user_id}
        request["messages"] = [_anthropic_message(one) for one in dialogue.lines[:place]]
        for text in texts:
            response: Json = {
                "id": f"msg_{clock.hex(24)}", "type": "message", "role": "assistant", "model": model,
                "content": _anthropic_blocks(line, text), "stop_reason": "tool_use" if line.calls else "end_turn",
                "usage": {"input_tokens": 40 * place + 9, "output_tokens": len(line.text) // 4},
            }  # fmt: skip
            entries.append(Entry({"request": request, "response": response}, place + 1, response["id"]))
    return entries


def _anthropic_message(line: Line) -> Json:
    if line.role == "tool":
        result = {"type": "tool_result", "tool_use_id": line.call_id, "content": line.text, "is_error": False}
        return {"role": "user", "content": [result]}
    plain = line.role == "user"
    return {"role": line.role, "content": line.text if plain else _anthropic_blocks(line, line.text)}


def _anthropic_blocks(line: Line, text: str) -> list[Json]:
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    return blocks + [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in line.calls]


def otel_genai(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One event an answer, by the attributes of the GenAI conventions; alternatives as further output messages."""
    conversation, model, entries = f"conv-{clock.hex(16)}", clock.random.choice(MODELS), []
    for place, line, texts in _answers(dialogue):
        finish = "tool_call" if line.calls else "stop"
        outputs = [{"role": "assistant", "parts": _otel_parts(line, text), "finish_reason": finish} for text in texts]
        attributes: Json = {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "mill", "gen_ai.request.model": model,
            "gen_ai.conversation.id": conversation, "gen_ai.response.id": f"resp-{clock.hex(20)}",
            "gen_ai.response.finish_reasons": [finish for _ in outputs],
            "gen_ai.input.messages": [
                {"role": one.role, "parts": _otel_parts(one, one.text)} for one in dialogue.lines[:place]
            ],
            "gen_ai.output.messages": outputs,
        }  # fmt: skip
        if dialogue.system:
            attributes["gen_ai.system_instructions"] = [{"type": "text", "content": dialogue.system}]
        if dialogue.user_id:
            attributes["user.id"] = dialogue.user_id
        event: Json = {"event_name": "gen_ai.client.inference.operation.details", "trace_id": clock.hex(32)}
        event |= {"span_id": clock.hex(16), "timestamp": clock.tick(), "attributes": attributes}
        entries.append(Entry(event, place + 1, attributes["gen_ai.response.id"]))
    return entries


def _otel_parts(line: Line, text: str) -> list[Json]:
    if line.role == "tool":
        return [{"type": "tool_call_response", "id": line.call_id, "response": text}]
    parts: list[Json] = [{"type": "text", "content": text}] if text else []
    return parts + [
        {"type": "tool_call", "id": one.id, "name": one.name, "arguments": one.arguments} for one in line.calls
    ]


def sharegpt(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk; calls and results of tools as ``function_call`` and ``observation``."""
    said: list[Json] = []
    for line in dialogue.lines:
        if line.calls:
            said += [
                {
                    "from": "function_call",
                    "value": json.dumps({"name": one.name, "arguments": one.arguments}, ensure_ascii=False),
                }
                for one in line.calls
            ]
        else:
            said.append({"from": {"user": "human", "tool": "observation"}.get(line.role, "gpt"), "value": line.text})
    entry: Json = {"id": f"talk-{clock.hex(16)}", "conversations": said}
    if dialogue.system:
        entry["system"] = dialogue.system
    return [Entry(entry, len(dialogue.lines))]


def wildchat(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk, with the labels of WildChat on every message."""
    language, said, turn = _LANGUAGE_NAMES[dialogue.language], [], clock.random.randrange(10_000, 99_999)
    labels = {"language": language, "redacted": False, "toxic": False}
    for line in dialogue.lines:
        turn += line.role == "user"
        said.append({"role": line.role, "content": line.text, **labels, "turn_identifier": turn})
    entry = {
        "conversation_hash": clock.hex(32), "model": clock.random.choice(MODELS), "timestamp": _iso(clock.tick()),
        "conversation": said, "turn": sum(line.role == "user" for line in dialogue.lines), **labels,
        "openai_moderation": [], "detoxify_moderation": [], "hashed_ip": clock.hex(64), "country": "Nowhere",
    }  # fmt: skip
    return [Entry(entry, len(dialogue.lines))]


def lmsys(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk, as in LMSYS-Chat-1M."""
    said = [{"role": line.role, "content": line.text} for line in dialogue.lines]
    moderation = {"categories": {"hate": False}, "category_scores": {"hate": 0.0}, "flagged": False}
    entry = {
        "conversation_id": clock.hex(32), "model": clock.random.choice(MODELS), "conversation": said,
        "turn": len(said) // 2, "language": _LANGUAGE_NAMES[dialogue.language],
        "openai_moderation": [moderation for _ in said], "redacted": False,
    }  # fmt: skip
    return [Entry(entry, len(dialogue.lines))]


def oasst_tree(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One tree a talk; alternatives are siblings, ranked after the answer that the talk goes on from."""
    replies: list[Json] = []
    for place in range(len(dialogue.lines) - 1, -1, -1):
        line = dialogue.lines[place]
        best = _oasst_message(dialogue, clock, line, line.text, replies)
        replies = [best]
        if line.alternative:
            best["rank"] = 0
            replies.append(_oasst_message(dialogue, clock, line, line.alternative, []) | {"rank": 1})
    prompt = replies[0]
    _link(prompt, None)
    tree = {"message_tree_id": prompt["message_id"], "tree_state": "ready_for_export", "prompt": prompt}
    return [Entry(tree, len(dialogue.lines))]


def _oasst_message(dialogue: Dialogue, clock: Clock, line: Line, text: str, replies: list[Json]) -> Json:
    role = "prompter" if line.role == "user" else "assistant"
    return {
        "message_id": clock.hex(32), "parent_id": None, "text": text, "role": role, "lang": dialogue.language,
        "review_result": True, "deleted": False, "rank": None, "synthetic": False, "replies": replies,
    }  # fmt: skip


def _link(message: Json, parent: str | None) -> None:
    message["parent_id"] = parent
    for reply in message["replies"]:
        _link(reply, message["message_id"])


def _iso(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat().replace("+00:00", "Z")


Format = Callable[[Dialogue, Clock], list[Entry]]
FORMATS: dict[str, Format] = {
    "openai_chat": openai_chat,
    "anthropic_messages": anthropic_messages,
    "otel_genai": otel_genai,
    "sharegpt": sharegpt,
    "wildchat": wildchat,
    "lmsys": lmsys,
    "oasst_tree": oasst_tree,
}
"""Log formats by name."""

WITH_TOOLS = frozenset({"openai_chat", "anthropic_messages", "otel_genai", "sharegpt"})
WITH_USER_ID = frozenset({"openai_chat", "anthropic_messages", "otel_genai"})
WITH_ALTERNATIVES = frozenset({"openai_chat", "anthropic_messages", "otel_genai", "oasst_tree"})
