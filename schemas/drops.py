"""Rows kept out of dataset versions."""

import pyarrow as pa

from schemas.shared_columns import TENANT
from schemas.table import Column, Table, not_null, one_of

DROP_SUBJECTS = ("turn", "conversation", "pair", "feedback")

DROPS = Table(
    name="drops",
    doc="One row per subject, rule and dataset version: what was kept out, by which rule and because of which row.",
    key=("tenant", "subject_id", "rule", "dataset_version"),
    columns=(
        TENANT,
        Column("dataset_version", pa.string(), "Dataset version that lacks the row.", (not_null,), "ds-1"),
        Column(
            "subject_id",
            pa.string(),
            "Id of what was dropped; of a pair CHOSEN>REJECTED, both turns, or for an edit the feedback and the turn.",
            (not_null,),
            "t1",
        ),
        Column("subject", pa.string(), "What the id names.", (not_null, one_of(*DROP_SUBJECTS)), "turn"),
        Column("rule", pa.string(), "Rule that dropped it.", (not_null,), "exact_duplicate"),
        Column("score", pa.float64(), "What was measured, where the rule measures; for a cap the rank in the draw."),
        Column("threshold", pa.float64(), "What the rule allows, where it measures."),
        Column("matched_id", pa.string(), "turn_id of the row that it repeats, or benchmark#item that it holds."),
    ),
    statistics=("tenant", "dataset_version", "rule", "subject_id"),
    holds_text=False,
)
