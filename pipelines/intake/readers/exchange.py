"""One call of a chat API as gateways log it: a bare request and a bare response; their shape tells which API it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.json_text import load_body, looks_like_json
from pipelines.intake.readers import anthropic_messages, openai_chat, openai_responses, prompt_completion
from pipelines.intake.roles import last_of_chain
from pipelines.intake.shape import BadShape, wrong_type
from pipelines.intake.streams.streamed_response import join_streamed_response
from pipelines.intake.tool_definitions import offer_tools
from schemas.records import DeadReason


class BodyFormat(Protocol):
    """A log format that also reads ``{"request": …, "response": …}``."""

    def matches(self, entry: Entry) -> bool:
        """Tell by shape whether the bodies are of this API."""

    def read(self, entry: Entry) -> Talk:
        """Read the bodies."""


BODY_FORMATS: tuple[BodyFormat, ...] = (anthropic_messages, openai_responses, prompt_completion, openai_chat)
"""The API with the plainest shape last: a list of messages could be for any of them."""


def read_exchange(request: Any, response: Any) -> Talk:
    """Read history and reply of one call, whatever API it was for; either side may be None.

    Text that holds JSON is decoded, a list of messages counts as a request. A response may also be an agent's
    ``{"messages": […]}``, which goes on where the request ended or repeats it. Raises BadShape: ``no_messages`` without
    both, ``bad_shape`` where no API has this shape. A streamed answer, text or a list of its pieces, is joined first.
    """
    request, response = _request_body(request), _response_body(response)
    entry = {key: body for key, body in (("request", request), ("response", response)) if body is not None}
    if not entry:
        raise BadShape("neither request nor response holds a body", DeadReason.NO_MESSAGES)
    if response is not None and isinstance(response.get("messages"), list):
        talk = _read_steps(request, response)
    else:
        talk = _read_bodies(entry)
    offer_tools(talk.messages, request or {})
    return talk


def _read_bodies(entry: Entry) -> Talk:
    if len(entry) == 1:
        return _format_of(entry).read(entry)
    asked, whole = _format_of({"request": entry["request"]}), _format_of(entry)
    if asked in (whole, openai_chat):
        return whole.read(entry)
    talk = asked.read({"request": entry["request"]})
    _go_on(talk, _format_of({"response": entry["response"]}).read({"response": entry["response"]}).messages)
    return talk


def _format_of(entry: Entry) -> BodyFormat:
    for body_format in BODY_FORMATS:
        if body_format.matches(entry):
            return body_format
    raise BadShape(f"{' and '.join(entry)} have the shape of no chat API that is known")


def _request_body(value: Any) -> dict[str, Any] | None:
    value = load_body(value, "request")
    if isinstance(value, list):
        return {"messages": value} if value else None
    if value is None or isinstance(value, dict):
        return value or None
    raise wrong_type("request", "an object or a list of messages", value)


def _response_body(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str) and value.strip() and not looks_like_json(value):
        return join_streamed_response(value)
    value = load_body(value, "response")
    if isinstance(value, list):
        return join_streamed_response(value) if value else None
    if value is None or isinstance(value, dict):
        return value or None
    raise wrong_type("response", "an object or a streamed answer", value)


def _read_steps(request: dict[str, Any] | None, response: dict[str, Any]) -> Talk:
    """Read an agent's answer: all messages of its steps, or the whole talk again with them at its end."""
    steps = _format_of({"request": response}).read({"request": response})
    if request is None:
        return steps
    talk = _format_of({"request": request}).read({"request": request})
    known = len(talk.messages)
    if _spoken(steps.messages[:known]) == _spoken(talk.messages):
        steps.conversation_id, steps.user_id = talk.conversation_id, talk.user_id
        return steps
    _go_on(talk, steps.messages)
    return talk


def _spoken(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def _go_on(talk: Talk, messages: Sequence[Message]) -> None:
    """Link messages that have links among themselves to the end of the talk."""
    first, parent = len(talk.messages), last_of_chain(talk.messages)
    for message in messages:
        if message.role != "system":
            message.parent = parent if message.parent < 0 else first + message.parent
        talk.messages.append(message)
