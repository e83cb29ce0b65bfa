"""Keyed identity of talks, messages and feedback, made of the raw canonical content before anonymisation."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pipelines.intake.items import Message, Rating
from pipelines.intake.tool_arguments import canonical_arguments

KEY_BYTES = 32
"""Least length of an identity key: the output of SHA-256 (RFC 2104, section 3)."""

ID_BYTES = 16
"""Ids are HMAC-SHA-256 cut to 128 bits: a chance below 1e-16 for any collision among 1e11 turns."""

SPLIT_BUCKETS = 100

_ABSENT = b"\xff\xff\xff\xff"
_LINE_END = re.compile("\r\n?")


def _field(value: str | None) -> bytes:
    if value is None:
        return _ABSENT
    raw = value.encode("utf-8", "surrogatepass")
    return len(raw).to_bytes(4, "big") + raw


_CONTENT = _field("content")
_TURN = _field("turn")
_ROOT = _field("root")
_MESSAGE = _field("message")
_FEEDBACK = _field("feedback")
_FRAGMENT = _field("fragment")
_TOOL_CALL = _field("tool_call")
_MEDIA = _field("media")
_BEFORE_PARENT = (_TURN + (2 * ID_BYTES).to_bytes(4, "big")).decode()
_BEFORE_CONTENT = (2 * ID_BYTES).to_bytes(4, "big").decode()
_CONTENT_OF_ROLE = {role: _CONTENT + _field(role) for role in ("system", "user", "assistant", "tool")}


class _KeyedHash:
    """HMAC-SHA-256 (RFC 2104) under one key, both states begun once: half the cost of hmac.digest for a short text."""

    __slots__ = ("_inner", "_key", "_outer")

    def __init__(self, key: bytes) -> None:
        self._key = key
        size = sha256().block_size
        block = (sha256(key).digest() if len(key) > size else key).ljust(size, b"\0")
        self._inner = sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in block))

    def __reduce__(self) -> tuple[type[_KeyedHash], tuple[bytes]]:
        return _KeyedHash, (self._key,)

    def digest(self, content: bytes) -> bytes:
        inner = self._inner.copy()
        inner.update(content)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()

    def id(self, content: bytes) -> str:
        return self.digest(content)[:ID_BYTES].hex()


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IdentityKey:
    """Make the same ids of the same content under one key, for good; without the key nobody can guess or link them.

    An id is HMAC-SHA-256 over a domain tag and fields, each behind its length in 4 bytes (absent: 0xFFFFFFFF), cut to
    128 bits, as 32 lower-case hex characters. References, split bucket and media digests have a subkey each
    (HKDF-SHA256, RFC 5869, info = purpose), so that they tell nothing about turn ids. Picklable, silent in ``repr``.
    Raises ValueError for a key below 32 bytes.
    """

    key: bytes
    _ids: _KeyedHash = field(init=False)
    _users: _KeyedHash = field(init=False)
    _conversations: _KeyedHash = field(init=False)
    _splits: _KeyedHash = field(init=False)
    _media: _KeyedHash = field(init=False)

    def __post_init__(self) -> None:
        if len(self.key) < KEY_BYTES:
            raise ValueError(f"an identity key has at least {KEY_BYTES} bytes, found {len(self.key)}")
        object.__setattr__(self, "_ids", _KeyedHash(self.key))
        for name, purpose in (
            ("_users", b"user_ref"),
            ("_conversations", b"conversation_ref"),
            ("_splits", b"split_bucket"),
            ("_media", b"media_digest"),
        ):
            subkey = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(self.key)
            object.__setattr__(self, name, _KeyedHash(subkey))

    def content_id(self, message: Message) -> str:
        """Identify role and visible content: text, tool calls in order, media in order.

        Text counts in NFC with line feeds as line ends and without outer white space. A tool call counts as name and
        canonical JSON of its arguments, or the raw string where that does not parse; media by digest. Reasoning,
        generated ids, times and models do not count.
        """
        text = message.text.strip()
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if "\r" in text:
            text = _LINE_END.sub("\n", text)
        raw = text.encode("utf-8", "surrogatepass")
        head = _CONTENT_OF_ROLE.get(message.role) or _CONTENT + _field(message.role)
        content = head + len(raw).to_bytes(4, "big") + raw
        if message.tool_calls or message.parts:
            content = b"".join((content, *_other_fields(message)))
        return self._ids.id(content)

    def turn_id(self, parent_turn_id: str, content_id: str) -> str:
        """Identify a message in its place: the chain of everything said before it. Both arguments are ids."""
        content = f"{_BEFORE_PARENT}{parent_turn_id}{_BEFORE_CONTENT}{content_id}".encode()
        return self._ids.id(content)

    def root_id(self, tenant: str, stream: str, conversation_id: str | None, user_id: str | None) -> str:
        """Identify the place where a talk begins; None and an empty string differ."""
        return self._id(_ROOT, tenant, stream, conversation_id, user_id)

    def message_turn_id(self, root_id: str, source_message: str) -> str:
        """Identify a message that is logged without its history, by the source's message id or its span and order."""
        return self._id(_MESSAGE, root_id, source_message)

    def feedback_id(self, root_id: str, target_turn_id: str | None, user_id: str | None, rating: Rating) -> str:
        """Identify a rating by whom and what it judges, its kind, value, text and time: a replay is the same one."""
        return self._id(
            _FEEDBACK,
            root_id,
            target_turn_id,
            rating.response_id,
            user_id,
            rating.kind,
            None if rating.value is None else repr(float(rating.value)),
            rating.text,
            None if rating.created_at is None else rating.created_at.isoformat(),
            rating.measure,
        )

    def fragment_key(self, tenant: str, stream: str, stream_format: str, key: str) -> str:
        """Identify a streamed answer by the key that its pieces share, for instance the completion id."""
        return self._id(_FRAGMENT, tenant, stream, stream_format, key)

    def user_ref(self, tenant: str, user_id: str) -> str:
        """Return the keyed reference of a logged user id inside a tenant."""
        return self._users.id(_field(tenant) + _field(user_id))

    def conversation_ref(self, tenant: str, conversation_id: str) -> str:
        """Return the keyed reference of a logged conversation id inside a tenant."""
        return self._conversations.id(_field(tenant) + _field(conversation_id))

    def split_bucket(self, tenant: str, user_or_conversation: str) -> int:
        """Return the bucket, 0 to 99, that all rows of a user (without one: of a conversation) share for good."""
        digest = self._splits.digest(_field(tenant) + _field(user_or_conversation))
        return int.from_bytes(digest[:8], "big") % SPLIT_BUCKETS

    def media_digest(self, content: bytes) -> str:
        """Return the keyed digest of an image, audio clip or file (or of its URI): 64 hex characters."""
        return self._media.digest(content).hex()

    def _id(self, tag: bytes, *fields: str | None) -> str:
        return self._ids.id(b"".join((tag, *map(_field, fields))))


def _other_fields(message: Message) -> list[bytes]:
    fields: list[bytes] = []
    for call in message.tool_calls:
        arguments = canonical_arguments(call.arguments)
        fields += (_TOOL_CALL, _field(call.name), _field(call.arguments if arguments is None else arguments))
    for part in message.parts:
        fields += (_MEDIA, _field(part.sha256))
    return fields
