"""Public sets of talks: WildChat, LMSYS-Chat-1M, Open Assistant trees, and FastChat's raw rows."""

from __future__ import annotations

from typing import Any

from pipelines.synthetic.dialogues import Dialogue, Line
from pipelines.synthetic.renderers.entries import MODELS, Clock, Entry, Json, answers, conversation_id, encoded, iso

_LANGUAGE_NAMES = {
    "en": "English", "de": "German", "es": "Spanish", "fr": "French",
    "pt": "Portuguese", "it": "Italian", "nl": "Dutch", "pl": "Polish", "ru": "Russian", "ja": "Japanese",
}  # fmt: skip
_ARENA_ROLES = {"user": "USER", "assistant": "ASSISTANT"}


def wildchat(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk, with the labels of WildChat on every message."""
    language, said, turn = _LANGUAGE_NAMES[dialogue.language], [], clock.random.randrange(10_000, 99_999)
    labels = {"language": language, "redacted": False, "toxic": False}
    for line in dialogue.lines:
        turn += line.role == "user"
        said.append({"role": line.role, "content": line.text, **labels, "turn_identifier": turn})
    entry = {
        "conversation_hash": conversation_id(dialogue, clock, "", 32), "model": clock.random.choice(MODELS),
        "timestamp": iso(clock.tick()), "conversation": said, "turn": _questions(dialogue), **labels,
        "openai_moderation": [], "detoxify_moderation": [], "hashed_ip": dialogue.user_id or clock.hex(64),
        "country": "Nowhere",
    }  # fmt: skip
    return [Entry(entry, len(dialogue.lines))]


def lmsys(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk, as in LMSYS-Chat-1M."""
    said = [{"role": line.role, "content": line.text} for line in dialogue.lines]
    moderation = {"categories": {"hate": False}, "category_scores": {"hate": 0.0}, "flagged": False}
    entry = {
        "conversation_id": conversation_id(dialogue, clock, "", 32), "model": clock.random.choice(MODELS),
        "conversation": said, "turn": len(said) // 2, "language": _LANGUAGE_NAMES[dialogue.language],
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
    tree_id = dialogue.conversation_id or prompt["message_id"]
    tree = {"message_tree_id": tree_id, "tree_state": "ready_for_export", "prompt": prompt}
    return [Entry(tree, len(dialogue.lines))]


def fastchat_arena(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One ``chat`` row an answer, with the talk so far as its state; alternatives as rows of their own."""
    model, entries = clock.random.choice(MODELS), []
    state: Json = {"template_name": "mill", "roles": list(_ARENA_ROLES.values()), "offset": 0, "model_name": model}
    state |= {"system_message": dialogue.system or "", "conv_id": conversation_id(dialogue, clock, "", 32)}
    for place, line, texts in answers(dialogue):
        before = [[_ARENA_ROLES.get(one.role, one.role), _arena_content(one)] for one in dialogue.lines[:place]]
        for text in texts:
            messages = [*before, [_ARENA_ROLES[line.role], text]]
            row = {
                "tstamp": clock.tick() + 0.5,
                "type": "chat",
                "model": model,
                "state": {**state, "messages": messages},
            }
            if dialogue.user_id:
                row["ip"] = dialogue.user_id
            entries.append(Entry(row, place + 1))
    return entries


def _questions(dialogue: Dialogue) -> int:
    return sum(line.role == "user" for line in dialogue.lines)


def _oasst_message(dialogue: Dialogue, clock: Clock, line: Line, text: str, replies: list[Json]) -> Json:
    role = "prompter" if line.role == "user" else "assistant"
    message = {
        "message_id": clock.hex(32), "parent_id": None, "text": text, "role": role, "lang": dialogue.language,
        "review_result": True, "deleted": False, "rank": None, "synthetic": False, "replies": replies,
    }  # fmt: skip
    return {**message, "user_id": dialogue.user_id} if dialogue.user_id else message


def _link(message: Json, parent: str | None) -> None:
    message["parent_id"] = parent
    for reply in message["replies"]:
        _link(reply, message["message_id"])


def _arena_content(line: Line) -> Any:
    return [line.text, [{"base64_str": encoded(one)} for one in line.media]] if line.media else line.text
