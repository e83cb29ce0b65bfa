"""Who took back the consent to training, later than it was logged."""

import pyarrow as pa

from schemas.shared_columns import CONSENTS, TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, not_null, one_of

SUBJECT_KINDS = ("user", "conversation")

CONSENT_WITHDRAWALS = Table(
    name="consent_withdrawals",
    doc="One row per user or conversation that is not for training any more, whatever its logs said.",
    key=("tenant", "subject_kind", "subject_ref"),
    columns=(
        TENANT,
        Column("subject_kind", pa.string(), "What is withdrawn.", (not_null, one_of(*SUBJECT_KINDS)), "user"),
        Column("subject_ref", pa.string(), "Its user_ref or conversation_ref in other tables.", (not_null,), "u1"),
        Column(
            "consent",
            pa.string(),
            "What its rows may still be used for: analytics (all but training) or none.",
            (not_null, one_of(*CONSENTS[1:])),
            "analytics",
        ),
        Column("withdrawn_at", UTC_MICROSECONDS, "When it was withdrawn here, UTC.", (not_null,), EXAMPLE_TIME),
    ),
    statistics=("tenant", "subject_kind", "subject_ref", "withdrawn_at"),
    holds_text=False,
)
