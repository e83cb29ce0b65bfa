"""What people and judges said of answers."""

from schemas.shared_columns import (
    CONSENT,
    CONVERSATION_REF,
    COORDINATE_COLUMNS,
    CREATED_AT,
    FEEDBACK_COLUMNS,
    KAFKA_AT,
    KEY_EPOCH,
    LANDED_AT,
    REDACTIONS_COLUMN,
    TENANT,
    TEXT,
    USER_REF,
)
from schemas.table import Table

FEEDBACK = Table(
    name="feedback",
    doc="One row per rating, edit, regeneration, vote or evaluation of an answer.",
    key=("tenant", "feedback_id"),
    columns=(
        TENANT,
        *FEEDBACK_COLUMNS,
        TEXT,
        REDACTIONS_COLUMN,
        KEY_EPOCH,
        USER_REF,
        CONVERSATION_REF,
        CONSENT,
        CREATED_AT,
        KAFKA_AT,
        LANDED_AT,
        *COORDINATE_COLUMNS,
    ),
    statistics=("tenant", "feedback_id", "kafka_at", "landed_at", "partition", "offset"),
)
