"""Columns that several tables carry with the same meaning: coordinates, ownership, the message itself."""

from __future__ import annotations

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, at_least, not_null, one_of

ROLES = ("system", "user", "assistant", "tool")
CONSENTS = ("training", "analytics", "none")
FEEDBACK_KINDS = (
    "thumb",
    "stars",
    "score",
    "rank",
    "vote",
    "edit",
    "regenerate",
    "flag",
    "copy",
    "retry",
    "evaluation",
)

REDACTIONS = pa.list_(
    pa.struct([("field", pa.string()), ("start", pa.int32()), ("end", pa.int32()), ("type", pa.string())])
)
PARTS = pa.list_(
    pa.struct(
        [
            ("type", pa.string()),
            ("media_type", pa.string()),
            ("sha256", pa.string()),
            ("bytes", pa.int64()),
            ("uri", pa.string()),
        ]
    )
)
TOOL_CALLS = pa.list_(pa.struct([("id", pa.string()), ("name", pa.string()), ("arguments", pa.string())]))
MESSAGES = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("text", pa.string()),
            ("tool_calls", TOOL_CALLS),
            ("tool_call_id", pa.string()),
        ]
    )
)

COORDINATES = ("topic", "partition", "offset", "entry", "position")
ARRIVAL = ("landed_at", *COORDINATES)
"""Order of arrival: total, and the same in every replay."""

COORDINATE_COLUMNS = (
    Column("topic", pa.string(), "Kafka topic of the record.", (not_null,), "turnmill.logs"),
    Column("partition", pa.int32(), "Kafka partition of the record.", (not_null, at_least(0)), 0),
    Column("offset", pa.int64(), "Kafka offset of the record.", (not_null, at_least(0)), 0),
    Column("entry", pa.int32(), "Log entry inside the record, from 0.", (not_null, at_least(0)), 0),
    Column("position", pa.int32(), "Item inside the log entry, from 0.", (not_null, at_least(0)), 0),
)

TENANT = Column("tenant", pa.string(), "Owner of the data; part of every key.", (not_null,), "default")
CONSENT = Column(
    "consent",
    pa.string(),
    "What the row may be used for: training, analytics (all but training) or none (stored and counted only).",
    (not_null, one_of(*CONSENTS)),
    "training",
)
KAFKA_AT = Column("kafka_at", UTC_MICROSECONDS, "Time stamp of the Kafka record, UTC.", (not_null,), EXAMPLE_TIME)
LANDED_AT = Column(
    "landed_at",
    UTC_MICROSECONDS,
    "Start of the micro-batch that landed the row, UTC; the same in a replay.",
    (not_null,),
    EXAMPLE_TIME,
)
CREATED_AT = Column("created_at", UTC_MICROSECONDS, "Time given by the log itself, UTC; null when it gives none.")
CONVERSATION_REF = Column(
    "conversation_ref", pa.string(), "Keyed reference of the logged conversation id; null when none was logged."
)
USER_REF = Column("user_ref", pa.string(), "Keyed reference of the logged user id; null when none was logged.")
KEY_EPOCH = Column("key_epoch", pa.int32(), "Epoch of the surrogate and payload keys used on the row.", (), 1)
TEXT = Column("text", pa.string(), "Visible text, personal data replaced.", (), "hello")
REDACTIONS_COLUMN = Column(
    "redactions",
    REDACTIONS,
    "Spans written by the anonymiser: field as JSON pointer, start and end in code points of the stored text, type.",
    (),
    [],
)

MESSAGE_COLUMNS = (
    Column("turn_id", pa.string(), "Keyed identity of the message in its place in the talk.", (not_null,), "t1"),
    Column("parent_id", pa.string(), "turn_id of the message before it; root_id for the first.", (not_null,), "r1"),
    Column(
        "root_id", pa.string(), "Keyed identity of the talk: tenant, stream, conversation and user.", (not_null,), "r1"
    ),
    Column("system_turn_id", pa.string(), "turn_id of the system message in force; null without one."),
    Column("content_id", pa.string(), "Keyed identity of role and visible content alone.", (not_null,), "c1"),
    CONVERSATION_REF,
    USER_REF,
    Column("stream", pa.string(), "Product or channel that the talk belongs to.", (not_null,), "default"),
    Column("source", pa.string(), "Adapter that read the log entry.", (not_null,), "openai_chat"),
    Column("adapter_version", pa.int32(), "Version of the adapter's rules.", (), 1),
    Column("role", pa.string(), "Who spoke.", (not_null, one_of(*ROLES)), "user"),
    TEXT,
    Column("text_hash", pa.string(), "SHA-256 of the anonymised text, hex; the key of its embedding.", (), "0" * 64),
    Column("reasoning", pa.string(), "Hidden reasoning, anonymised; never a training target."),
    Column("parts", PARTS, "Images, audio and files as references with hash and size; never their bytes.", (), []),
    Column("tool_calls", TOOL_CALLS, "Tool calls with their raw argument string, anonymised.", (), []),
    Column("tool_call_id", pa.string(), "On a tool message: the call that it answers."),
    Column("tool_name", pa.string(), "On a tool message: the tool's name where the log gives it."),
    Column(
        "tools",
        pa.string(),
        "On an answer: functions that its request offered, a JSON list in OpenAI's form, anonymised; null without any.",
    ),
    Column("model", pa.string(), "Model that wrote the message, as logged."),
    Column("response_id", pa.string(), "Id of the response, as logged; feedback joins on it."),
    Column("span_id", pa.string(), "Id of the call at a tracer or gateway, as logged; feedback joins on it too."),
    Column(
        "previous_response_id",
        pa.string(),
        "Response that the message follows, as logged, where the log leaves the history to a chain of responses.",
    ),
    Column("finish_reason", pa.string(), "Why the model stopped, as logged."),
    Column(
        "flags",
        pa.list_(pa.string()),
        "What a reader should know of the message, for instance tool_args_invalid_json.",
        (),
        [],
    ),
    REDACTIONS_COLUMN,
    Column("redaction_counts", pa.map_(pa.string(), pa.int32()), "Replaced spans by type.", (), {}),
    Column("policy", pa.string(), "Anonymisation policy in force.", (), "training"),
    Column("detector_version", pa.int32(), "Version of the detectors.", (), 1),
    KEY_EPOCH,
)

FEEDBACK_COLUMNS = (
    Column("feedback_id", pa.string(), "Keyed identity of the feedback.", (not_null,), "f1"),
    Column("target_turn_id", pa.string(), "Turn that is judged, where the log tells."),
    Column("target_response_id", pa.string(), "Response that is judged, or its span, where the log tells."),
    Column("kind", pa.string(), "What kind of feedback it is.", (not_null, one_of(*FEEDBACK_KINDS)), "thumb"),
    Column("value", pa.float64(), "Its value: thumbs are 1 and -1, ranks start at 0 (best)."),
    Column("measure", pa.string(), "What an evaluation measured, as logged."),
)
