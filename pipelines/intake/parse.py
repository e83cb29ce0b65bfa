"""Kafka record -> items with identity: turns, feedback, rejections. Pure: no I/O, no clock, no randomness."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from pipelines.intake.decode import LoggedEntry, Undecodable, decode_entries, encode_element
from pipelines.intake.flags import flag_messages, repair_message, repair_text
from pipelines.intake.formats import LogFormat, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Entry, Feedback, Item, Message, Rejection, Talk, Turn
from pipelines.intake.ownership import (
    DEFAULT_TENANT,
    STRICTEST_CONSENT,
    BadHeader,
    Ownership,
    check_consent,
    read_ownership,
)
from pipelines.intake.shape import BadShape, optional_text, wrong_type
from schemas.records import MAX_RECORD_BYTES, DeadReason

TOLD_KEYS = 10
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]{1,40}")


def parse_record(
    value: bytes | None,
    headers: Mapping[str, bytes],
    identity: IdentityKey,
    *,
    max_record_bytes: int = MAX_RECORD_BYTES,
    default_consent: str = "training",
) -> list[Item]:
    """Return at least one item for any bytes, and the same items for the same bytes; never raises.

    A header wins over the log's own field. (entry, position) is unique among the items: messages in logged order, then
    the entry's feedback. What cannot be used is a Rejection for the record or for one entry, its neighbours stay. A
    null value is the caller's tombstone; here it is ``empty_value``. ``default_consent`` counts where nothing says.
    """
    tenant, consent = DEFAULT_TENANT, STRICTEST_CONSENT
    try:
        owner = read_ownership(headers)
        tenant, consent = owner.tenant, owner.consent or default_consent
        if value is None:
            raise Undecodable(DeadReason.EMPTY_VALUE, "null value")
        if len(value) > max_record_bytes:
            raise Undecodable(DeadReason.TOO_LARGE, f"{len(value)} bytes, at most {max_record_bytes} are read")
        entries = decode_entries(value)
        if len(entries) == 1:
            return _entry_items(entries[0], 0, owner, identity, default_consent)
        items: list[Item] = []
        for index, entry in enumerate(entries):
            items += _entry_items(entry, index, owner, identity, default_consent)
        return items
    except BadHeader as bad:
        return [Rejection(0, 0, bad.reason, bad.detail, bad.tenant, STRICTEST_CONSENT)]
    except Undecodable as bad:
        return [Rejection(0, 0, bad.reason, bad.detail, tenant, consent)]
    except Exception as fault:  # a fault of ours must not stop the query; the text of a foreign error may hold values
        return [Rejection(0, 0, DeadReason.INTERNAL_ERROR, type(fault).__name__, tenant, consent)]


def _entry_items(
    logged: LoggedEntry, index: int, owner: Ownership, identity: IdentityKey, default_consent: str
) -> list[Item]:
    """Return the items of one entry, or the one rejection that says why it has none."""
    consent = owner.consent or default_consent
    try:
        if logged.failure is not None:
            raise logged.failure
        entry = logged.value
        if not isinstance(entry, dict):
            raise BadShape(wrong_type("a log entry", "an object", entry).detail, DeadReason.NOT_AN_OBJECT)
        log_format = owner.log_format or _detect(entry)
        talk = log_format.read(entry)
        if not talk.messages and not talk.ratings:
            raise BadShape(f"no message in the {log_format.NAME} entry", DeadReason.NO_MESSAGES)
        if owner.consent is None and (talk.consent is not None or "consent" in entry):
            consent = _logged_consent(talk, entry, owner, default_consent)
        if logged.to_repair:
            _repair(talk)
        flag_messages(talk.messages)
        return _identify(talk, index, owner, consent, log_format, identity)
    except (BadShape, Undecodable) as bad:
        reason, detail = bad.reason, bad.detail
    except BadHeader as bad:
        reason, detail, consent = bad.reason, bad.detail, STRICTEST_CONSENT
    except Exception as fault:  # as above; the neighbours in the record stay
        reason, detail = DeadReason.INTERNAL_ERROR, type(fault).__name__
    payload = encode_element(logged.value) if logged.is_element else logged.payload
    return [Rejection(index, 0, reason, detail, owner.tenant, consent, payload)]


def _logged_consent(talk: Talk, entry: Entry, owner: Ownership, default_consent: str) -> str:
    """Return the consent that the log itself gives. Raises BadHeader for an unknown one, BadShape for no string."""
    said = talk.consent if talk.consent is not None else optional_text(entry, "consent")
    if said is None:
        return default_consent
    check_consent(said, "consent", owner.tenant)
    return said


def _detect(entry: Entry) -> LogFormat:
    found = matching_formats(entry)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(log_format.NAME for log_format in found)
        raise BadShape(f"several formats match: {names}; name one in the header", DeadReason.UNKNOWN_FORMAT)
    keys = [key if _PLAIN_KEY.fullmatch(key) else "?" for key in list(entry)[:TOLD_KEYS]]
    more = f" and {len(entry) - TOLD_KEYS} more" if len(entry) > TOLD_KEYS else ""
    raise BadShape(f"no format has the keys {', '.join(keys) or '(none)'}{more}", DeadReason.UNKNOWN_FORMAT)


def _identify(
    talk: Talk, entry: int, owner: Ownership, consent: str, log_format: LogFormat, identity: IdentityKey
) -> list[Item]:
    """Give messages and ratings their ids; message links may point only to earlier messages."""
    tenant, stream = owner.tenant, owner.stream
    conversation_id = owner.conversation_id or talk.conversation_id
    user_id = owner.user_id or talk.user_id
    root_id, conversation_ref = _place(identity, tenant, stream, conversation_id, user_id)
    source, version = log_format.NAME, log_format.VERSION
    items: list[Item] = []
    turn_ids: list[str] = []
    system_turn_id = None
    for position, message in enumerate(talk.messages):
        if message.parts:
            _digest_media(message, identity)
        content_id = identity.content_id(message)
        parent_id = root_id if message.parent < 0 else turn_ids[message.parent]
        turn_id = identity.turn_id(parent_id, content_id)
        author = user_id if owner.user_id is not None else message.user_id or user_id
        turn_ids.append(turn_id)
        items.append(
            Turn(
                entry,
                position,
                message,
                turn_id,
                parent_id,
                root_id,
                None if system_turn_id == turn_id else system_turn_id,
                content_id,
                conversation_ref,
                None if author is None else _user_ref(identity, tenant, author),
                author,
                tenant,
                stream,
                consent,
                source,
                version,
            )
        )
        if message.role == "system":
            system_turn_id = turn_id
    for position, rating in enumerate(talk.ratings, len(talk.messages)):
        target = rating.turn_id if rating.target is None else turn_ids[rating.target]
        items.append(
            Feedback(
                entry,
                position,
                rating,
                identity.feedback_id(root_id, target, user_id, rating),
                target,
                None if user_id is None else _user_ref(identity, tenant, user_id),
                user_id,
                tenant,
                stream,
                consent,
                source,
                version,
                conversation_ref,
            )
        )
    return items


@functools.lru_cache(maxsize=4096)
def _place(
    identity: IdentityKey, tenant: str, stream: str, conversation_id: str | None, user_id: str | None
) -> tuple[str, str | None]:
    """Return root id and conversation reference; a talk logs the same place with each of its requests."""
    root_id = identity.root_id(tenant, stream, conversation_id, user_id)
    return root_id, None if conversation_id is None else identity.conversation_ref(tenant, conversation_id)


@functools.lru_cache(maxsize=4096)
def _user_ref(identity: IdentityKey, tenant: str, user_id: str) -> str:
    return identity.user_ref(tenant, user_id)


def _digest_media(message: Message, identity: IdentityKey) -> None:
    for part in message.parts:
        if part.content is not None:
            part.sha256 = identity.media_digest(part.content)
            part.content = None


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
