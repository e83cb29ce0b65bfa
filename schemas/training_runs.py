"""Training runs."""

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, not_null, one_of

TRAINING_RUNS = Table(
    name="training_runs",
    doc="One row per training run.",
    key=("run_id",),
    columns=(
        Column("run_id", pa.string(), "Name of the run, made from its trigger key.", (not_null,), "run-1"),
        Column("trigger_key", pa.string(), "What asked for the run; one run a key, ever.", (not_null,), "manual-1"),
        Column("dataset_version", pa.string(), "Data that it saw.", (not_null,), "ds-1"),
        Column("base", pa.string(), "Base model by name, with its fingerprint.", (not_null,), "turnmill-tiny"),
        Column("method", pa.string(), "How it trains.", (not_null, one_of("sft", "dpo", "kto")), "sft"),
        Column("spec_digest", pa.string(), "SHA-256 of all that the run depends on, hex.", (not_null,), "0" * 64),
        Column(
            "state", pa.string(), "Where it stands.", (not_null, one_of("running", "succeeded", "failed")), "succeeded"
        ),
        Column("launcher", pa.string(), "What ran it.", (not_null,), "local-torchrun"),
        Column("metrics", pa.map_(pa.string(), pa.float64()), "Figures by name, for instance loss_before.", (), {}),
        Column("failure", pa.string(), "Why it failed, in one sentence without data."),
        Column("started_at", UTC_MICROSECONDS, "Start, UTC.", (not_null,), EXAMPLE_TIME),
        Column("ended_at", UTC_MICROSECONDS, "End, UTC; null while it runs."),
    ),
    statistics=("run_id", "dataset_version", "started_at"),
    holds_text=False,
)
