"""Items that could not be used."""

import pyarrow as pa

from schemas.records import DeadReason
from schemas.shared_columns import COORDINATE_COLUMNS, COORDINATES, KAFKA_AT, LANDED_AT, TENANT
from schemas.table import Column, Table, at_least, not_null, one_of

DEAD_LETTERS = Table(
    name="dead_letters",
    doc="One row per item that could not be used, with a typed reason; its payload is encrypted.",
    key=COORDINATES,
    columns=(
        *COORDINATE_COLUMNS,
        TENANT,
        Column("reason", pa.string(), "Typed reason.", (not_null, one_of(*DeadReason)), "bad_json"),
        Column("detail", pa.string(), "What was wanted and found, as names and counts, never values."),
        Column("stage", pa.string(), "Stage that gave up: parse or anonymise.", (not_null,), "parse"),
        Column("attempts", pa.int32(), "How often the item has been tried.", (not_null, at_least(1)), 1),
        Column("payload_encrypted", pa.binary(), "The raw record under AES-GCM, coordinates as associated data."),
        Column("payload_key_id", pa.string(), "Key of the payload, for instance payload-1.", (), "payload-1"),
        Column(
            "replayed_as",
            pa.struct([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())]),
            "Coordinates of the record that a replay made of it.",
        ),
        KAFKA_AT,
        LANDED_AT,
    ),
    statistics=("tenant", "reason", "kafka_at", "landed_at", "partition", "offset"),
)
