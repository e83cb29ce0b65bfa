"""The one table that the Kafka query writes."""

import pyarrow as pa

from schemas.records import Outcome
from schemas.shared_columns import (
    CONSENT,
    COORDINATE_COLUMNS,
    COORDINATES,
    CREATED_AT,
    FEEDBACK_COLUMNS,
    KAFKA_AT,
    LANDED_AT,
    MESSAGE_COLUMNS,
    TENANT,
)
from schemas.table import Column, Table, not_null, one_of

JOINED_FROM = pa.list_(
    pa.struct(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("entry", pa.int32()),
            ("position", pa.int32()),
        ]
    )
)

_OPTIONAL_HERE = tuple(Column(c.name, c.type, c.doc, (), c.example) for c in (*MESSAGE_COLUMNS, *FEEDBACK_COLUMNS))

LANDING = Table(
    name="landing",
    doc="One row per item of a Kafka record with its outcome: the one place where a record is decided. Internal.",
    key=COORDINATES,
    columns=(
        *COORDINATE_COLUMNS,
        Column("outcome", pa.string(), "What became of the item.", (not_null, one_of(*Outcome)), "turn"),
        TENANT,
        CONSENT,
        Column("reason", pa.string(), "Typed reason of a dead letter; null for all others."),
        Column("detail", pa.string(), "What was wanted and found, as names and counts, never values."),
        Column("payload_encrypted", pa.binary(), "The raw record under AES-GCM; dead letters and fragments only."),
        Column("payload_key_id", pa.string(), "Key of the payload, for instance payload-1."),
        Column("fragment_key", pa.string(), "On a fragment and what was joined of it: keyed reference of the answer."),
        Column(
            "joined_from",
            JOINED_FROM,
            "On what a join of fragments made, in its first row: their coordinates; entry and position included.",
        ),
        Column("attempts", pa.int32(), "Which try of the record this is; 2 and more are replays.", (not_null,), 1),
        KAFKA_AT,
        LANDED_AT,
        Column("batch_id", pa.int64(), "Micro-batch of the ingest query.", (not_null,), 0),
        Column("trace_id", pa.string(), "Trace id of the record's traceparent header."),
        CREATED_AT,
        *_OPTIONAL_HERE,
    ),
    statistics=(*COORDINATES, "outcome", "tenant", "kafka_at", "landed_at", "batch_id", "fragment_key"),
)
