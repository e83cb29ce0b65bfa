"""vLLM's text log: lines with the prompt of a request and, where switched on, with the generated text.

Source: vllm-project/vllm, RequestLogger. Prompts stand in INFO lines up to 0.10.2 and in DEBUG lines after that; both
may be cut by ``--max-log-len``, which leaves no trace. A prompt is the whole render of a talk, and what it marks as
roles may come from anyone, so it is one user text here.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from pipelines.intake import flags
from pipelines.intake.flags import repair_message
from pipelines.intake.items import Entry, Message, Talk
from pipelines.intake.shape import BadShape, optional_text
from schemas.records import DeadReason

NAME = "vllm_log"
VERSION = 1
TELLS = frozenset({"text"})
EXCLUDES: frozenset[str] = frozenset()

LONGEST_LITERAL = 4 * 1024 * 1024
"""Characters of a logged text that are read: evaluating a literal takes many times its size in memory."""

LONGEST_PREFIX = 400
"""Bytes before the message of a log line: level, time, place in the source, names of processes."""

_ID = r"[^\s:]{1,200}"
_STREAM = r" \(streaming (?:delta|complete)\)"
_EVENT = re.compile(
    rf"Received request (?P<received>{_ID}): (?:prompt: |params: )"
    rf"|Request (?P<details>{_ID}) details: prompt: "
    rf"|Generated response (?P<generated>{_ID})(?P<stream>{_STREAM})?: output: "
)
_EVENT_BYTES = re.compile(
    rf"(?:Received request {_ID}: (?:prompt|params): |Request {_ID} details: prompt: "
    rf"|Generated response {_ID}(?:{_STREAM})?: output: )".encode()
)
_LEVEL = re.compile(rb"\b(?:INFO|DEBUG)\b")
_LITERAL = re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"")
_WHOLE_ESCAPES = re.compile(r"[^\\]*(?:\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[^xuU])[^\\]*)*")
_FINISH = re.compile(r"\bfinish_reason: (\w+)")


@dataclass(slots=True)
class _Event:
    """What a line says about a request: a prompt, an answer, or a piece of one. ``text`` is None where it has none."""

    request_id: str
    is_prompt: bool
    text: str | None
    is_cut: bool = False
    is_delta: bool = False
    finish_reason: str | None = None


def matches(entry: Entry) -> bool:
    """Tell by an entry of nothing but ``text`` that ``matches_text`` knows. Never raises."""
    text = entry.get("text")
    return len(entry) == 1 and isinstance(text, str) and matches_text(text.encode("utf-8", "surrogatepass"))


def matches_text(value: bytes) -> bool:
    """Tell whether a text that is no JSON has a line of vLLM's request logger: level first, then its message."""
    for found in _EVENT_BYTES.finditer(value):
        line_start = value.rfind(b"\n", max(0, found.start() - LONGEST_PREFIX), found.start()) + 1
        if found.start() - line_start > LONGEST_PREFIX or not _LEVEL.search(value, line_start, found.start()):
            continue
        if not _is_json(value[line_start : found.start()].decode("utf-8", "replace")):
            return True
    return False


def _is_json(line: str) -> bool:
    """Tell a broken JSON log, which holds a log line in a string: its literal is escaped once more."""
    return line.lstrip(" \t[").startswith("{")


def read(entry: Entry) -> Talk:
    """Read prompts, each with the answers that the same text logs for it.

    Raises BadShape: ``no_messages`` where the lines hold neither a prompt nor an answer.
    """
    lines = (optional_text(entry, "text") or "").split("\n")
    events = [event for line in lines if (event := _read_line(line)) is not None]
    messages: list[Message] = []
    prompt_of: dict[str, int] = {}
    for event in events:
        if event.is_prompt and event.text is not None:
            prompt_of[event.request_id] = len(messages)
            message = Message("user", event.text, flags=[flags.ROLES_UNTRUSTED])
            _finish(message, event)
            messages.append(message)
    for event in _answers(events):
        # A completion request numbers its prompts, id-0 and so on, and logs its answer under the bare id.
        parent = prompt_of.get(event.request_id, prompt_of.get(f"{event.request_id}-0", -1))
        message = Message("assistant", event.text or "", parent, response_id=event.request_id)
        message.finish_reason = event.finish_reason
        _finish(message, event)
        if event.is_delta and event.finish_reason is None:
            message.flags.append(flags.STREAM_INCOMPLETE)
        messages.append(message)
    if not messages:
        raise BadShape(
            f"{len(events)} requests without prompt: vLLM logs prompts at DEBUG level only, since 0.11",
            DeadReason.NO_MESSAGES,
        )
    return Talk(messages)


def _read_line(line: str) -> _Event | None:
    """Return what the line logs. Only its first event counts: more of them stand inside a logged text."""
    found = _EVENT.search(line)
    if found is None or _is_json(line):
        return None
    request_id = found["received"] or found["details"] or found["generated"]
    event = _Event(request_id, found["generated"] is None, None)
    literal = _LITERAL.match(line, found.end())
    if literal is not None:
        event.text = _evaluated(literal[0])
    elif line[found.end() : found.end() + 1] in ("'", '"'):
        event.text, event.is_cut = _evaluated_cut(line[found.end() :]), True
    event.is_delta = "delta" in (found["stream"] or "")
    if literal is not None and (reason := _FINISH.search(line, literal.end())) and reason[1] != "None":
        event.finish_reason = reason[1]
    return event


def _evaluated(literal: str) -> str:
    """Return the string of a Python literal, as ``repr`` writes it."""
    if len(literal) > LONGEST_LITERAL:
        raise BadShape(f"a logged text of {len(literal)} characters, at most {LONGEST_LITERAL} are read")
    try:
        return str(ast.literal_eval(literal))
    except (ValueError, SyntaxError):
        raise BadShape("a logged text must be a Python string") from None


def _evaluated_cut(rest: str) -> str:
    """Return what is left of a literal that the line does not close, up to its last whole escape."""
    quote, body = rest[0], rest[1:].rstrip("\r")
    whole = _WHOLE_ESCAPES.match(body)
    return _evaluated(quote + (whole[0] if whole else "") + quote)


def _answers(events: list[_Event]) -> list[_Event]:
    """Return the answers; logged pieces of a stream are joined where the text lacks the whole."""
    whole = [event for event in events if not event.is_prompt and not event.is_delta and event.text is not None]
    with_whole = {event.request_id for event in whole}
    joined: dict[str, _Event] = {}
    pieces: dict[str, list[str]] = {}
    for event in events:
        if event.is_delta and event.text is not None and event.request_id not in with_whole:
            answer = joined.setdefault(event.request_id, event)
            answer.finish_reason = event.finish_reason or answer.finish_reason
            answer.is_cut = answer.is_cut or event.is_cut
            pieces.setdefault(event.request_id, []).append(event.text)
    for request_id, answer in joined.items():
        answer.text = "".join(pieces[request_id])
    return [*whole, *joined.values()]


def _finish(message: Message, event: _Event) -> None:
    if event.is_cut:
        message.flags.append(flags.UPSTREAM_TRUNCATED)
    repair_message(message)
