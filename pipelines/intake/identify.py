"""A talk with its owner -> turns and feedback with keyed identity and place."""

from __future__ import annotations

import functools

from pipelines.intake.formats import LogFormat
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Feedback, Item, Message, Talk, Turn
from pipelines.intake.ownership import Ownership


def identify(
    talk: Talk, entry: int, first: int, owner: Ownership, consent: str, log_format: LogFormat, identity: IdentityKey
) -> list[Item]:
    """Return the turns and feedback of a talk with their ids, positions from ``first`` on.

    Links of messages may point only to earlier ones.
    """
    tenant, stream = owner.tenant, owner.stream
    conversation_id = owner.conversation_id or talk.conversation_id
    user_id = owner.user_id or talk.user_id
    root_id, conversation_ref = _place(identity, tenant, stream, conversation_id, user_id)
    source, version = log_format.NAME, log_format.VERSION
    items: list[Item] = []
    turn_ids: list[str] = []
    system_turn_id = None
    if talk.previous_response_id is not None:
        _follow(talk)
    for position, message in enumerate(talk.messages, first):
        if message.parts:
            _digest_media(message, identity)
        content_id = identity.content_id(message)
        parent_id = root_id if message.parent < 0 else turn_ids[message.parent]
        if message.source_id is None:
            turn_id = identity.turn_id(parent_id, content_id)
        else:
            turn_id = identity.message_turn_id(root_id, message.source_id)
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
    for position, rating in enumerate(talk.ratings, first + len(talk.messages)):
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


def _follow(talk: Talk) -> None:
    """Let the first message that is no system message name the answer that it follows."""
    for message in talk.messages:
        if message.role != "system":
            message.previous_response_id = talk.previous_response_id
            return


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
