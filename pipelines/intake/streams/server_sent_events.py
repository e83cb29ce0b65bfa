"""Server-sent events, the text in which answers are streamed -> the data of each event.

Source: WHATWG HTML Living Standard, section "Server-sent events". ``[DONE]`` is OpenAI's end mark and no JSON.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import orjson

DONE = b"[DONE]"
FIELDS = frozenset({b"data", b"event", b"id", b"retry"})

_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:(?:data|event|id|retry)?:|(?:data|event|id|retry)[\r\n])")
_LINE_END = re.compile(b"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerSentEvents:
    """The data of each event in order, without the end mark; ``is_closed`` says that the mark was there.

    There may be the mark alone: a logger that writes each line of a stream as a record of its own does that.
    """

    payloads: list[bytes]
    is_closed: bool


def sse_events(text: bytes) -> ServerSentEvents | None:
    """Return the data of the events in ``text``; None when it is not server-sent events.

    It is when each line is a comment, empty, or one of the fields that the standard names, and one holds data. Lines
    end with LF, CR or CRLF; data lines of one event are joined with LF. More lenient than a browser: a last event
    without its empty line counts, and data lines that are a JSON value each are events whose empty lines a logger
    dropped.
    """
    if not _BEGINNING.match(text):
        return None
    events: list[list[bytes]] = [[]]
    for line in _LINE_END.split(text.removeprefix(b"\xef\xbb\xbf")):
        if not line:
            events.append([])
            continue
        name, _, value = line.partition(b":")
        if name and name not in FIELDS:
            return None
        if name == b"data":
            events[-1].append(value.removeprefix(b" "))
    payloads = [payload for lines in events for payload in _payloads(lines)]
    if not payloads:
        return None
    kept = [payload for payload in payloads if payload.strip() != DONE]
    return ServerSentEvents(kept, len(kept) < len(payloads))


def _payloads(lines: list[bytes]) -> list[bytes]:
    if len(lines) > 1 and all(_is_whole(line) for line in lines):
        return lines
    whole = b"\n".join(lines)
    return [whole] if whole else []


def _is_whole(line: bytes) -> bool:
    line = line.strip()
    if not line.startswith(b"{"):
        return line == DONE
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True
