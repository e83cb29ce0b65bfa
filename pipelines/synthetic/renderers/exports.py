"""Data exports of chat products: ChatGPT's tree of nodes, Claude's list of messages with links."""

from __future__ import annotations

from pipelines.synthetic.dialogues import Dialogue, Line
from pipelines.synthetic.renderers.entries import MODELS, Clock, Entry, Json, arguments_text, conversation_id, iso


def chatgpt_export(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk; an alternative is a sibling that the shown branch leaves out."""
    mapping: dict[str, Json] = {}
    above = _add_node(mapping, clock, None, None)
    if dialogue.system:
        above = _add_node(mapping, clock, above, _node_message("system", dialogue.system, clock))
    model = clock.random.choice(MODELS)
    for line in dialogue.lines:
        before = above
        for text in [*([line.alternative] if line.alternative else []), line.text]:
            above = _add_node(mapping, clock, before, _spoken_node(line, text, model, clock))
    entry = {
        "title": "Help desk", "create_time": clock.tick(), "conversation_id": conversation_id(dialogue, clock, "", 32),
        "current_node": above, "mapping": mapping,
    }  # fmt: skip
    return [Entry(entry, len(dialogue.lines))]


def claude_export(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """One record a talk; calls and the results of their tools stand in one message of the assistant."""
    messages: list[Json] = []
    above: str | None = None
    for line in dialogue.lines:
        if line.role == "tool" and messages and messages[-1]["sender"] == "assistant":
            messages[-1]["content"].append(_claude_result(line))
            continue
        before = above
        for text in [*([line.alternative] if line.alternative else []), line.text]:
            message = _claude_message(line, text, before, clock)
            messages.append(message)
            above = message["uuid"]
    entry: Json = {
        "uuid": conversation_id(dialogue, clock, "", 32), "name": "Help desk", "chat_messages": messages,
        "current_leaf_message_uuid": above,
    }  # fmt: skip
    if dialogue.user_id:
        entry["account"] = {"uuid": dialogue.user_id}
    return [Entry(entry, len(dialogue.lines))]


def _add_node(mapping: dict[str, Json], clock: Clock, parent: str | None, message: Json | None) -> str:
    name = clock.hex(32)
    mapping[name] = {"id": name, "parent": parent, "children": [], "message": message}
    if parent is not None:
        mapping[parent]["children"].append(name)
    return name


def _spoken_node(line: Line, text: str, model: str, clock: Clock) -> Json:
    if line.calls:
        call = line.calls[0]
        message = _node_message("assistant", "", clock)
        message["content"] = {"content_type": "code", "language": "json", "text": arguments_text(call)}
        return {**message, "recipient": call.name, "metadata": {"model_slug": model}}
    message = _node_message(line.role, text, clock)
    if line.role == "tool":
        message["author"]["name"] = line.tool_name
    elif line.role == "assistant":
        message |= {"recipient": "all", "metadata": {"model_slug": model, "finish_details": {"type": "stop"}}}
    return message


def _node_message(role: str, text: str, clock: Clock) -> Json:
    content = {"content_type": "text", "parts": [text]}
    return {"id": clock.hex(32), "author": {"role": role}, "create_time": clock.tick() + 0.5, "content": content}


def _claude_message(line: Line, text: str, parent: str | None, clock: Clock) -> Json:
    sender = "human" if line.role == "user" else "assistant"
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.arguments} for one in line.calls]
    if line.role == "tool":
        text, content = "", [_claude_result(line)]
    return {
        "uuid": clock.hex(32), "sender": sender, "text": text, "content": content, "created_at": iso(clock.tick()),
        "parent_message_uuid": parent, "attachments": [], "files": [],
    }  # fmt: skip


def _claude_result(line: Line) -> Json:
    return {"type": "tool_result", "tool_use_id": line.call_id, "content": [{"type": "text", "text": line.text}]}
