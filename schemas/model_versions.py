"""Models that runs made."""

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, not_null

MODEL_VERSIONS = Table(
    name="model_versions",
    doc="One row per model that a run made.",
    key=("model_version",),
    columns=(
        Column("model_version", pa.string(), "Name of the model.", (not_null,), "model-1"),
        Column("run_id", pa.string(), "Run that made it.", (not_null,), "run-1"),
        Column("parent", pa.string(), "Model that it was tuned from.", (not_null,), "turnmill-tiny"),
        Column("path", pa.string(), "Folder of the weights, relative to the lake.", (not_null,), "models/model-1"),
        Column("evaluation", pa.map_(pa.string(), pa.float64()), "Figures on the held-out split.", (), {}),
        Column("alias", pa.string(), "Name it is served under; null for a candidate."),
        Column("contains_erased", pa.bool_(), "Trained on rows that were erased since.", (not_null,), False),
        Column("created_at", UTC_MICROSECONDS, "When it was registered, UTC.", (not_null,), EXAMPLE_TIME),
    ),
    statistics=("model_version", "run_id", "created_at"),
    holds_text=False,
)
