"""Models that runs made."""

import pyarrow as pa

from schemas.shared_columns import TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, not_null, one_of

MODEL_VERSIONS = Table(
    name="model_versions",
    doc="One row per model that a run made.",
    key=("model_version",),
    columns=(
        Column("model_version", pa.string(), "Name of the model.", (not_null,), "model-1"),
        TENANT,
        Column("run_id", pa.string(), "Run that made it.", (not_null,), "run-1"),
        Column("dataset_version", pa.string(), "Data that it was tuned on.", (not_null,), "ds-1"),
        Column("parent", pa.string(), "Model that it was tuned from.", (not_null,), "turnmill-tiny"),
        Column("path", pa.string(), "Folder of the weights, relative to the lake.", (not_null,), "models/model-1"),
        Column("evaluation", pa.map_(pa.string(), pa.float64()), "Figures on the held-out split.", (), {}),
        Column("verdict", pa.string(), "What the rule of promotion said.", (one_of("promote", "hold", "reject"),)),
        Column("verdict_reason", pa.string(), "Why, in sentences with the figures that decided."),
        Column("compared_with", pa.string(), "Champion that it was measured against; null before the first."),
        Column("alias", pa.string(), "Name it is served under; null for none.", (one_of("champion", "challenger"),)),
        Column("alias_reason", pa.string(), "Why it got or lost the alias."),
        Column("replaced", pa.string(), "Champion that it took the alias from."),
        Column("promoted_at", UTC_MICROSECONDS, "When it became champion, UTC."),
        Column("rolled_back_at", UTC_MICROSECONDS, "When it was rolled back, UTC."),
        Column("contains_erased", pa.bool_(), "Trained on rows that were erased since.", (not_null,), False),
        Column("created_at", UTC_MICROSECONDS, "When it was registered, UTC.", (not_null,), EXAMPLE_TIME),
    ),
    statistics=("model_version", "tenant", "run_id", "created_at"),
    holds_text=False,
)
