"""Records that are text and not JSON: server-sent events, vLLM's log lines, ChatML where a header names it."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.intake.decode import LoggedEntry, Undecodable, load_json
from pipelines.intake.formats import LogFormat
from pipelines.intake.readers import chatml, vllm_log
from pipelines.intake.streams.server_sent_events import sse_events
from schemas.records import DeadReason


@dataclass(frozen=True, slots=True)
class TextRecord:
    """The entries of a text; ``is_closed`` tells that a stream in it says itself that it ends here."""

    entries: list[LoggedEntry]
    is_closed: bool = False


def read_text(value: bytes, log_format: LogFormat | None) -> TextRecord | None:
    """Return the entries of a record that is no JSON; None when it has no form that is known.

    The data of a server-sent event that does not parse fails by itself. Raises Undecodable: ``bad_utf8``, or
    ``no_messages`` for an end mark alone.
    """
    if log_format is chatml or (log_format in (None, vllm_log) and vllm_log.matches_text(value)):
        try:
            return TextRecord([LoggedEntry({"text": value.decode()}, None, b"\0" in value)])
        except UnicodeDecodeError as error:
            raise Undecodable(DeadReason.BAD_UTF8, f"byte {error.start} of {len(value)} is not UTF-8") from None
    events = sse_events(value)
    if events is None:
        return None
    if not events.payloads:
        raise Undecodable(DeadReason.NO_MESSAGES, "the end mark of a stream, without an event before it")
    return TextRecord([_event(payload) for payload in events.payloads], events.is_closed)


def _event(payload: bytes) -> LoggedEntry:
    try:
        loaded, to_repair = load_json(payload)
    except Undecodable as failure:
        return LoggedEntry(None, payload, False, failure)
    return LoggedEntry(loaded, payload, to_repair)
