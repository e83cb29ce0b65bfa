"""A streamed answer that a log holds in place of the response: text of server-sent events, JSON lines, or a list."""

from __future__ import annotations

from typing import Any

from pipelines.intake.decode import Undecodable, load_json
from pipelines.intake.items import Entry
from pipelines.intake.shape import BadShape
from pipelines.intake.streams.grouping import group_pieces
from pipelines.intake.streams.server_sent_events import sse_events


def join_streamed_response(streamed: str | list[Any]) -> Entry:
    """Return the one response that the pieces make, as its log format reads a bare response.

    Raises BadShape where the text is no stream, a piece is no JSON object, or the pieces make no response or several.
    """
    pieces, is_closed = (streamed, False) if isinstance(streamed, list) else _pieces(streamed)
    groups = group_pieces([piece if isinstance(piece, dict) else None for piece in pieces], is_closed=is_closed)
    if len(groups) != 1 or len(groups[0].pieces) < len(pieces):
        raise BadShape(f"response must be the pieces of one streamed answer, found {len(groups)} in {len(pieces)}")
    return groups[0].stream_format.join(groups[0].pieces)


def _pieces(text: str) -> tuple[list[Any], bool]:
    raw = text.encode("utf-8", "surrogatepass")
    events = sse_events(raw)
    lines = [line for line in raw.split(b"\n") if line.strip()] if events is None else events.payloads
    try:
        return [load_json(line)[0] for line in lines], events is not None and events.is_closed
    except Undecodable:
        raise BadShape("response must be JSON or the events of a streamed answer") from None
