"""The Kafka record contract: topics, headers, consent of one log record, typed reasons for dead letters."""

from __future__ import annotations

from enum import StrEnum

LOGS_TOPIC = "turnmill.logs"
FEEDBACK_TOPIC = "turnmill.feedback"
EVENTS_TOPIC = "turnmill.events"
TOPICS = (LOGS_TOPIC, FEEDBACK_TOPIC, EVENTS_TOPIC)

TENANT_HEADER = "turnmill-tenant"
STREAM_HEADER = "turnmill-stream"
USER_HEADER = "turnmill-user"
CONVERSATION_HEADER = "turnmill-conversation"
CONSENT_HEADER = "turnmill-consent"
FORMAT_HEADER = "turnmill-format"
TRACE_HEADER = "traceparent"
ATTEMPT_HEADER = "turnmill-attempt"
"""Set by a replay of a dead letter: which try this is, 2 or more."""
HEADERS = (
    TENANT_HEADER,
    STREAM_HEADER,
    USER_HEADER,
    CONVERSATION_HEADER,
    CONSENT_HEADER,
    FORMAT_HEADER,
    TRACE_HEADER,
    ATTEMPT_HEADER,
)

MAX_RECORD_BYTES = 16 * 1024 * 1024
"""A larger record is dead-lettered as ``too_large`` (default; ``--max-record-bytes``)."""

TOPIC_MESSAGE_BYTES = 64 * 1024 * 1024
"""``max.message.bytes`` of our topics: well above the record limit, so that a record above it is told, not refused."""


class Outcome(StrEnum):
    """What became of one item of a Kafka record."""

    TURN = "turn"
    FEEDBACK = "feedback"
    DEAD = "dead"
    FRAGMENT = "fragment"
    TOMBSTONE = "tombstone"


class DeadReason(StrEnum):
    """Why an item could not be used. Each has one sentence in ``DEAD_REASONS``."""

    EMPTY_VALUE = "empty_value"
    TOO_LARGE = "too_large"
    BAD_UTF8 = "bad_utf8"
    BAD_JSON = "bad_json"
    TOO_DEEP = "too_deep"
    NOT_AN_OBJECT = "not_an_object"
    UNKNOWN_FORMAT = "unknown_format"
    BAD_COMPRESSION = "bad_compression"
    DECOMPRESSION_BOMB = "decompression_bomb"
    UNKNOWN_SCHEMA = "unknown_schema"
    BAD_AVRO = "bad_avro"
    NO_GENAI_ATTRIBUTES = "no_genai_attributes"
    UNKNOWN_CONSENT = "unknown_consent"
    BAD_HEADER = "bad_header"
    BAD_SHAPE = "bad_shape"
    UNKNOWN_ROLE = "unknown_role"
    NO_MESSAGES = "no_messages"
    ANONYMISE_FAILED = "anonymise_failed"
    ANONYMISE_LEFT_VALUE = "anonymise_left_value"
    UNJOINABLE_FRAGMENT = "unjoinable_fragment"
    INTERNAL_ERROR = "internal_error"


DEAD_REASONS: dict[DeadReason, str] = {
    DeadReason.EMPTY_VALUE: "The record has a value of zero bytes or only white space.",
    DeadReason.TOO_LARGE: "The record is larger than the limit of bytes for one record.",
    DeadReason.BAD_UTF8: "The value is not UTF-8.",
    DeadReason.BAD_JSON: "The value is not JSON.",
    DeadReason.TOO_DEEP: "The JSON, or what it is wrapped in, is nested deeper than the parser goes.",
    DeadReason.NOT_AN_OBJECT: "A log entry must be a JSON object.",
    DeadReason.UNKNOWN_FORMAT: "No adapter knows the shape of the log entry.",
    DeadReason.BAD_COMPRESSION: "The value begins as gzip or zstd and is cut off, damaged or followed by other bytes.",
    DeadReason.DECOMPRESSION_BOMB: "The compressed value grows more than a thousand times.",
    DeadReason.UNKNOWN_SCHEMA: "The schema that the record names is not in the registry, is of a kind that is not read, or "
    "no registry is configured.",
    DeadReason.BAD_AVRO: "The bytes are no Avro value of the schema that the record names.",
    DeadReason.NO_GENAI_ATTRIBUTES: "Spans or log records of an OTLP envelope have no attributes of a model call.",
    DeadReason.UNKNOWN_CONSENT: "The consent given is none of training, analytics, none.",
    DeadReason.BAD_HEADER: "A Kafka header of ours is not UTF-8, is empty, or names an unknown format.",
    DeadReason.BAD_SHAPE: "A field of the log entry has another type than its format says.",
    DeadReason.UNKNOWN_ROLE: "A message has a role that no format defines.",
    DeadReason.NO_MESSAGES: "The log entry holds no message at all.",
    DeadReason.ANONYMISE_FAILED: "Anonymisation raised an error or ran out of time.",
    DeadReason.ANONYMISE_LEFT_VALUE: "The proof after anonymisation found a detected value left in the row.",
    DeadReason.UNJOINABLE_FRAGMENT: "A piece of a streamed answer came alone, without an id that names the answer.",
    DeadReason.INTERNAL_ERROR: "A fault of the pipeline itself; replay it after an upgrade.",
}
