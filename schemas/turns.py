"""Messages of conversations."""

import pyarrow as pa

from schemas.shared_columns import (
    CONSENT,
    COORDINATE_COLUMNS,
    CREATED_AT,
    KAFKA_AT,
    LANDED_AT,
    MESSAGE_COLUMNS,
    TENANT,
)
from schemas.table import Column, Table

TURNS = Table(
    name="turns",
    doc="One row per message of a conversation, personal data replaced; read it through the view `turns_current`.",
    key=("tenant", "turn_id"),
    columns=(
        TENANT,
        *MESSAGE_COLUMNS,
        CONSENT,
        CREATED_AT,
        KAFKA_AT,
        LANDED_AT,
        *COORDINATE_COLUMNS,
        Column("trace_id", pa.string(), "Trace id of the record's traceparent header."),
    ),
    statistics=("tenant", "turn_id", "root_id", "kafka_at", "landed_at", "partition", "offset"),
)
