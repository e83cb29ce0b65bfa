"""A stored row -> one example: messages in order, tool calls with ids that fit together, arguments as logged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

Kind = Literal["sft", "conversation", "preference", "unpaired"]
KINDS: tuple[Kind, ...] = ("sft", "conversation", "preference", "unpaired")


class UnfitExampleError(ValueError):
    """An example that a form cannot hold. The message is the reason that is counted, never content."""

    safe_to_show = True


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; ``arguments`` is the raw string that the model wrote."""

    id: str
    name: str
    arguments: str

    @property
    def parsed(self) -> Any:
        """The arguments as a value of JSON; none of them is an empty object."""
        try:
            return orjson.loads(self.arguments) if self.arguments.strip() else {}
        except orjson.JSONDecodeError:
            # No chaining: the decoder's message would show the arguments.
            raise UnfitExampleError("tool arguments that are no JSON") from None


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``call_id`` and ``name`` are those of the call that a tool message answers."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """One example. ``chosen`` and ``rejected`` are a preference's, ``completion`` is the target of all others.

    Of a conversation ``loss_mask`` says which messages of the completion are learned; empty, all are.
    """

    kind: Kind
    split: str
    prompt: tuple[Message, ...]
    completion: tuple[Message, ...] = ()
    chosen: tuple[Message, ...] = ()
    rejected: tuple[Message, ...] = ()
    label: bool | None = None
    loss_mask: tuple[bool, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    language: str = ""
    source: str = ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """Prompt and completion in one."""
        return self.prompt + self.completion

    @property
    def learned(self) -> tuple[bool, ...]:
        """Of each message of the completion whether it is learned."""
        return self.loss_mask or (True,) * len(self.completion)


def example_of(row: Mapping[str, Any]) -> Example:
    """Return the example of a row of ``training_examples``; columns that a version does not have may be missing.

    A call without an id gets ``call_N`` by its place, a tool message without one that of the oldest call still open.
    ``tools`` are definitions as OpenAI writes them, as a string of JSON or as objects.
    """
    prompt = _messages(row["prompt"])
    sides = {side: _messages(row.get(side)) for side in ("completion", "chosen", "rejected")}
    fitted = {side: _fitted(prompt + told)[len(prompt) :] for side, told in sides.items()}
    tools = row.get("tools") or []
    return Example(
        kind=row["kind"],
        split=row["split"],
        prompt=_fitted(prompt),
        **fitted,
        label=row.get("label"),
        loss_mask=tuple(row.get("loss_mask") or ()),
        tools=tuple(orjson.loads(tools) if isinstance(tools, str) else tools),
        language=row.get("language") or "",
        source=row.get("source") or "",
    )


def last_of(messages: Sequence[Message]) -> Message:
    """Return the one message of a side; forms that hold one reply a side have no room for more."""
    if len(messages) != 1:
        raise UnfitExampleError("a side of several messages" if messages else "an empty side")
    return messages[0]


def _messages(told: Iterable[Mapping[str, Any]] | None) -> tuple[Message, ...]:
    return tuple(
        Message(
            role=m["role"],
            text=m["text"] or "",
            calls=tuple(Call(c["id"] or "", c["name"], c["arguments"] or "") for c in m["tool_calls"] or ()),
            call_id=m["tool_call_id"] or "",
        )
        for m in told or ()
    )


def _fitted(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Give each call an id and each tool message the id and the name of the call that it answers."""
    fitted: list[Message] = []
    waiting: dict[str, str] = {}
    named: dict[str, str] = {}
    n_calls = 0
    for message in messages:
        calls = []
        for call in message.calls:
            n_calls += 1
            calls.append(replace(call, id=call.id or f"call_{n_calls}"))
            waiting[calls[-1].id] = named[calls[-1].id] = call.name
        call_id = message.call_id
        if message.role == "tool":
            call_id = call_id or next(iter(waiting), "")
            waiting.pop(call_id, None)
        fitted.append(replace(message, calls=tuple(calls), call_id=call_id, name=named.get(call_id, "")))
    return tuple(fitted)
