"""Requests to forget."""

import pyarrow as pa

from schemas.shared_columns import COORDINATE_COLUMNS, COORDINATES, KAFKA_AT, LANDED_AT, TENANT
from schemas.table import UTC_MICROSECONDS, Column, Table

ERASURES = Table(
    name="erasures",
    doc="One row per request to erase a user.",
    key=COORDINATES,
    columns=(
        *COORDINATE_COLUMNS,
        TENANT,
        Column("user_ref", pa.string(), "Keyed reference of the user to forget."),
        KAFKA_AT,
        LANDED_AT,
        Column("proven_at", UTC_MICROSECONDS, "When the proof was made, UTC; null while it is open."),
    ),
    statistics=("tenant", "kafka_at", "landed_at", "partition", "offset"),
    holds_text=False,
)
