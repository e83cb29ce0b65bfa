"""The formats of streamed answers whose pieces intake joins: add a module under ``streams`` and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipelines.intake.items import Entry
from pipelines.intake.streams import anthropic_events, openai_chunks, otel_message_events, responses_events


class StreamFormat(Protocol):
    """What a module of pieces gives. A piece is of one stream format and of no log format.

    ``OPENS_WITH_NAME``: the piece that names the stream is its first, so pieces before it are of another stream.
    ``ENDS_WITH_DONE``: the end mark of server-sent events ends a stream, whatever its pieces say.
    """

    @property
    def NAME(self) -> str:  # noqa: D102, N802
        ...

    @property
    def OPENS_WITH_NAME(self) -> bool:  # noqa: D102, N802
        ...

    @property
    def ENDS_WITH_DONE(self) -> bool:  # noqa: D102, N802
        ...

    def matches(self, entry: Entry) -> bool:
        """Tell by shape whether the entry is a lone piece of a stream of the format. Never raises."""

    def key(self, entry: Entry) -> str | None:
        """Return what joins the piece to others; None when it has nothing of the kind. Never raises."""

    def names_stream(self, entry: Entry) -> bool:
        """Tell whether the key is that of the whole stream and not of a part of it. Never raises."""

    def keys_closed_by(self, entry: Entry) -> list[str]:
        """Return the keys of the pieces that a log entry makes superfluous, being their whole. Never raises."""

    def is_whole(self, pieces: Sequence[Entry]) -> bool:
        """Tell whether the pieces have their beginning and all their ends. Never raises."""

    def join(self, pieces: Sequence[Entry]) -> Entry:
        """Return one entry of a log format; pure. Raises BadShape when a field is not what the format says."""


STREAM_FORMATS: tuple[StreamFormat, ...] = (openai_chunks, anthropic_events, responses_events, otel_message_events)

STREAM_FORMAT_OF_NAME: dict[str, StreamFormat] = {stream_format.NAME: stream_format for stream_format in STREAM_FORMATS}


def stream_format_of(entry: Entry) -> StreamFormat | None:
    """Return the format that the entry is a lone piece of; None for a log entry or an unknown shape. Never raises."""
    for stream_format in STREAM_FORMATS:
        if stream_format.matches(entry):
            return stream_format
    return None
