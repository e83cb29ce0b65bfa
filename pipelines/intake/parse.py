"""Kafka record -> items with identity: turns, feedback, fragments, rejections.

Pure: no clock, no randomness, and no I/O but for the schemas that a registry is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from pipelines.intake.decode import LoggedEntry, Undecodable, decode_entries, encode_element
from pipelines.intake.flags import flag_messages, repair_message, repair_text
from pipelines.intake.formats import LogFormat, matching_formats
from pipelines.intake.identify import identify
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Entry, Fragment, Headers, Item, Rejection, Talk
from pipelines.intake.otlp_envelopes import expand_envelope
from pipelines.intake.ownership import (
    DEFAULT_TENANT,
    STRICTEST_CONSENT,
    BadHeader,
    Ownership,
    check_consent,
    read_ownership,
)
from pipelines.intake.readers import chatml, openai_responses
from pipelines.intake.shape import BadShape, optional_text, wrong_type
from pipelines.intake.stream_formats import StreamFormat, stream_format_of
from pipelines.intake.streams import responses_events
from pipelines.intake.streams.grouping import PieceGroup, group_pieces
from pipelines.intake.text_forms import read_text
from pipelines.intake.wire_forms import Limits, is_plain, unwrap
from pipelines.intake.writer_schemas import SchemaSource, SchemasUnavailable
from schemas.records import MAX_RECORD_BYTES, TRACE_HEADER, DeadReason

TOLD_KEYS = 10
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32}-[0-9a-f]{16})-[0-9a-f]{2}")

CLOSED: Entry = {"type": "turnmill.closed"}
"""The piece that says of an answer that it has landed whole, by itself: its other pieces are superfluous."""


def parse_record(
    value: bytes | None,
    headers: Headers,
    identity: IdentityKey,
    *,
    max_record_bytes: int = MAX_RECORD_BYTES,
    default_consent: str = "training",
    schemas: SchemaSource | None = None,
) -> list[Item]:
    """Return at least one item for any bytes, and the same items for the same bytes.

    A header wins over the log's own field. (entry, position) is unique among the items: messages in logged order, then
    the entry's feedback. What cannot be used is a Rejection for the record or for one entry, its neighbours stay. A
    null value is the caller's tombstone; here it is ``empty_value``. ``default_consent`` counts where nothing says.
    Raises nothing but SchemasUnavailable, when the registry cannot be asked: try again.
    """
    tenant, consent = DEFAULT_TENANT, STRICTEST_CONSENT
    try:
        owner = read_ownership(headers)
        tenant, consent = owner.tenant, owner.consent or default_consent
        if value is None:
            raise Undecodable(DeadReason.EMPTY_VALUE, "null value")
        if len(value) > max_record_bytes:
            raise Undecodable(DeadReason.TOO_LARGE, f"{len(value)} bytes, at most {max_record_bytes} are read")
        if not is_plain(value, headers):
            value = unwrap(value, headers, limits=Limits(max_record_bytes), schemas=schemas).value
        return _Record(owner, headers, identity, default_consent).items(value)
    except BadHeader as bad:
        return [Rejection(0, 0, bad.reason, bad.detail, bad.tenant, STRICTEST_CONSENT)]
    except Undecodable as bad:
        return [Rejection(0, 0, bad.reason, bad.detail, tenant, consent)]
    except SchemasUnavailable:
        raise
    except Exception as fault:  # a fault of ours must not stop the query; the text of a foreign error may hold values
        return [Rejection(0, 0, DeadReason.INTERNAL_ERROR, type(fault).__name__, tenant, consent)]


def parse_joined(
    stream_format: StreamFormat,
    pieces: Sequence[Entry],
    headers: Headers,
    identity: IdentityKey,
    *,
    entry: int,
    default_consent: str = "training",
) -> list[Item]:
    """Return the items of an answer whose pieces came as records of their own, as those of log entry ``entry``."""
    tenant, consent = DEFAULT_TENANT, STRICTEST_CONSENT
    try:
        owner = read_ownership(headers)
        tenant, consent = owner.tenant, owner.consent or default_consent
        return list(_Record(owner, headers, identity, default_consent).joined(stream_format, pieces, entry, None))
    except BadHeader as bad:
        return [Rejection(entry, 0, bad.reason, bad.detail, bad.tenant, STRICTEST_CONSENT)]
    except Exception as fault:  # as above
        return [Rejection(entry, 0, DeadReason.INTERNAL_ERROR, type(fault).__name__, tenant, consent)]


class _Record:
    """What all entries of a record share, and how an entry becomes items."""

    __slots__ = ("default_consent", "headers", "identity", "owner")

    def __init__(self, owner: Ownership, headers: Headers, identity: IdentityKey, default_consent: str) -> None:
        self.owner, self.headers, self.identity, self.default_consent = owner, headers, identity, default_consent

    def items(self, value: bytes) -> list[Item]:
        """Return the items of the unwrapped bytes. Raises Undecodable when they fail as a whole."""
        decoded, is_closed = self._decoded(value)
        if len(decoded) == 1:
            formats = self._formats(decoded[0])
            if formats:
                return self._entry_items(decoded[0], 0, formats)
        entries = [entry for logged in decoded for entry in self._expanded(logged)]
        formats_of = [self._formats(logged) for logged in entries]
        groups: list[PieceGroup] = []
        if not all(formats_of):
            groups = group_pieces([logged.value for logged in entries], is_closed=is_closed)
        grouped = {index for group in groups for index in group.indices}
        items: list[Item] = []
        for group in groups:
            items += self._group_items(group, entries)
        for index, (logged, formats) in enumerate(zip(entries, formats_of, strict=True)):
            if index not in grouped:
                items += self._entry_items(logged, index, formats)
        return sorted(items, key=lambda item: (item.entry, item.position)) if groups else items

    def _decoded(self, value: bytes) -> tuple[list[LoggedEntry], bool]:
        named = self.owner.log_format
        try:
            # Words in a ChatML text may have lines that are JSON; read as JSON lines, they would be all that is left.
            if named is chatml and value.lstrip().startswith(chatml.START.encode()):
                raise Undecodable(DeadReason.BAD_JSON, "ChatML is no JSON")
            return decode_entries(value), False
        except Undecodable as failure:
            text = read_text(value, named) if failure.reason is DeadReason.BAD_JSON else None
            if text is None:
                raise
            return text.entries, text.is_closed

    def _formats(self, logged: LoggedEntry) -> Sequence[LogFormat]:
        """Return the formats that the entry may be read by; none for a piece of a stream and for unknown shapes."""
        if not isinstance(logged.value, dict):
            return ()
        named = self.owner.log_format
        if named is None:
            return matching_formats(logged.value)
        return () if not named.matches(logged.value) and stream_format_of(logged.value) else (named,)

    def _expanded(self, logged: LoggedEntry) -> list[LoggedEntry]:
        """Return the entries inside of an OTLP envelope, else the entry alone."""
        if logged.failure is not None:
            return [logged]
        try:
            return expand_envelope(logged.value, to_repair=logged.to_repair) or [logged]
        except (BadShape, Undecodable) as bad:
            logged.failure = Undecodable(bad.reason, bad.detail)
            return [logged]

    def _group_items(self, group: PieceGroup, entries: Sequence[LoggedEntry]) -> Iterator[Item]:
        """Yield the turns of a whole answer, or its pieces, each waiting for those that are elsewhere."""
        payloads = [_payload_of(entries[index]) for index in group.indices]
        if group.is_whole:
            whole = b"\n".join(filter(None, payloads))
            yield from self.joined(group.stream_format, group.pieces, group.indices[0], whole)
            return
        owner, consent = self.owner, self.owner.consent or self.default_consent
        key = group.key or self._trace()
        for index, payload in zip(group.indices, payloads, strict=True):
            if key is None:
                detail = f"a piece of {group.stream_format.NAME} without an id of its answer or a {TRACE_HEADER} header"
                yield Rejection(index, 0, DeadReason.UNJOINABLE_FRAGMENT, detail, owner.tenant, consent, payload)
            else:
                yield self._fragment(group.stream_format, key, index, 0, payload)

    def joined(
        self, stream_format: StreamFormat, pieces: Sequence[Entry], entry: int, payload: bytes | None
    ) -> Iterator[Item]:
        """Yield the items of an answer that its pieces make."""
        try:
            logged = LoggedEntry(stream_format.join(pieces), payload, to_repair=True)
        except BadShape as bad:
            logged = LoggedEntry(None, payload, failure=Undecodable(bad.reason, bad.detail))
        formats = () if logged.failure else matching_formats(logged.value)
        yield from self._entry_items(logged, entry, formats)

    def _fragment(
        self, stream_format: StreamFormat, key: str, entry: int, position: int, payload: bytes | None
    ) -> Item:
        owner = self.owner
        reference = self.identity.fragment_key(owner.tenant, owner.stream, stream_format.NAME, key)
        consent = owner.consent or self.default_consent
        return Fragment(entry, position, reference, owner.tenant, consent, payload)

    def _trace(self) -> str | None:
        """Return what joins the pieces of one request where only the header of its span tells."""
        found = _TRACEPARENT.fullmatch(self.headers.get(TRACE_HEADER, b""))
        return found[1].decode() if found else None

    def _entry_items(self, logged: LoggedEntry, index: int, formats: Sequence[LogFormat]) -> list[Item]:
        """Return the items of one entry, or the one rejection that says why it has none."""
        consent = self.owner.consent or self.default_consent
        try:
            if logged.failure is not None:
                raise logged.failure
            entry = logged.value
            if not isinstance(entry, dict):
                raise BadShape(wrong_type("a log entry", "an object", entry).detail, DeadReason.NOT_AN_OBJECT)
            return self._read(entry, logged, index, formats[0] if len(formats) == 1 else _no_one_format(entry, formats))
        except (BadShape, Undecodable) as bad:
            reason, detail = bad.reason, bad.detail
        except BadHeader as bad:
            reason, detail, consent = bad.reason, bad.detail, STRICTEST_CONSENT
        except Exception as fault:  # as above; the neighbours in the record stay
            reason, detail = DeadReason.INTERNAL_ERROR, type(fault).__name__
        payload = encode_element(logged.value) if logged.is_element else logged.payload
        return [Rejection(index, 0, reason, detail, self.owner.tenant, consent, payload)]

    def _read(self, entry: Entry, logged: LoggedEntry, index: int, log_format: LogFormat) -> list[Item]:
        """Return the items of an entry of a known format. Raises BadShape or BadHeader."""
        consent = self.owner.consent or self.default_consent
        talks = log_format.read(entry)
        items: list[Item] = []
        for talk in talks if isinstance(talks, list) else (talks,):
            if self.owner.consent is None and (talk.consent is not None or "consent" in entry):
                consent = _logged_consent(talk, entry, self.owner, self.default_consent)
            if logged.to_repair:
                _repair(talk)
            flag_messages(talk.messages)
            items += identify(talk, index, len(items), self.owner, consent, log_format, self.identity)
        if not items:
            raise BadShape(f"no message in the {log_format.NAME} entry", DeadReason.NO_MESSAGES)
        if log_format is openai_responses:
            items += self._closing(entry, index, len(items))
        return items

    def _closing(self, entry: Entry, index: int, position: int) -> Iterator[Item]:
        """Yield the pieces by which other pieces of this very answer, if any came alone, learn that it is whole."""
        payload = orjson.dumps(CLOSED)
        for place, key in enumerate(responses_events.keys_closed_by(entry), position):
            yield self._fragment(responses_events, key, index, place, payload)


def _payload_of(logged: LoggedEntry) -> bytes | None:
    return encode_element(logged.value) if logged.payload is None else logged.payload


def _no_one_format(entry: Entry, found: Sequence[LogFormat]) -> LogFormat:
    if found:
        names = ", ".join(log_format.NAME for log_format in found)
        raise BadShape(f"several formats match: {names}; name one in the header", DeadReason.UNKNOWN_FORMAT)
    keys = [key if _PLAIN_KEY.fullmatch(key) else "?" for key in list(entry)[:TOLD_KEYS]]
    more = f" and {len(entry) - TOLD_KEYS} more" if len(entry) > TOLD_KEYS else ""
    raise BadShape(f"no format has the keys {', '.join(keys) or '(none)'}{more}", DeadReason.UNKNOWN_FORMAT)


def _logged_consent(talk: Talk, entry: Entry, owner: Ownership, default_consent: str) -> str:
    """Return the consent that the log itself gives. Raises BadHeader for an unknown one, BadShape for no string."""
    said = talk.consent if talk.consent is not None else optional_text(entry, "consent")
    if said is None:
        return default_consent
    check_consent(said, "consent", owner.tenant)
    return said


def _repair(talk: Talk) -> None:
    for message in talk.messages:
        repair_message(message)
    talk.conversation_id = _repaired(talk.conversation_id)
    talk.user_id = _repaired(talk.user_id)
    for rating in talk.ratings:
        rating.text = _repaired(rating.text)
        rating.response_id = _repaired(rating.response_id)
        rating.measure = _repaired(rating.measure)


def _repaired(text: Any) -> Any:
    return text if text is None else repair_text(text) or None
