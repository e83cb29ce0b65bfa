"""Why runs start and why they do not."""

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, not_null, one_of

TRIGGER_DECISIONS = Table(
    name="trigger_decisions",
    doc="One row per decision to start or to hold a training run.",
    key=("decision_id",),
    columns=(
        Column("decision_id", pa.string(), "Name of the decision, and trigger key of its run.", (not_null,), "d1"),
        Column("at", UTC_MICROSECONDS, "When it was taken, UTC.", (not_null,), EXAMPLE_TIME),
        Column("policy", pa.string(), "Policy or limit that decided.", (not_null,), "new_examples"),
        Column("inputs", pa.map_(pa.string(), pa.float64()), "What was found, and what was wanted.", (not_null,), {}),
        Column("verdict", pa.string(), "Start or hold.", (not_null, one_of("start", "hold")), "start"),
        Column("reason", pa.string(), "The verdict in one sentence.", (not_null,), "120 new examples, 50 wanted."),
        Column("dataset_version", pa.string(), "Dataset version that it is about."),
        Column("event_id", pa.string(), "Event that asked for a run; null for none."),
        Column("run_id", pa.string(), "Run that it started."),
    ),
    statistics=("decision_id", "at", "verdict"),
    holds_text=False,
)
