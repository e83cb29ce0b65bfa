"""Immutable dataset versions."""

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null, one_of

DATASET_VERSIONS = Table(
    name="dataset_versions",
    doc="One row per dataset version.",
    key=("dataset_version",),
    columns=(
        Column("dataset_version", pa.string(), "ds- and the first 16 digits of the content hash.", (not_null,), "ds-1"),
        Column(
            "content_hash", pa.string(), "SHA-256 over the canonical rows sorted by key, hex.", (not_null,), "0" * 64
        ),
        Column("n_examples", pa.int64(), "Examples in all.", (not_null, at_least(0)), 1),
        Column("n_train", pa.int64(), "Examples of the train split.", (not_null, at_least(0)), 1),
        Column("n_validation", pa.int64(), "Examples of the validation split.", (not_null, at_least(0)), 0),
        Column(
            "source_versions",
            pa.map_(pa.string(), pa.int64()),
            "Delta version of each table read.",
            (not_null,),
            {"turns": 0},
        ),
        Column(
            "policy",
            pa.string(),
            "Curation policy: its name and the first 12 digits of its hash.",
            (not_null,),
            "sft-lenient@000000000000",
        ),
        Column("drop_counts", pa.map_(pa.string(), pa.int64()), "Dropped rows by rule.", (not_null,), {}),
        Column(
            "gate", pa.string(), "Verdict of the data-quality gate.", (not_null, one_of("passed", "held")), "passed"
        ),
        Column(
            "failed_expectations", pa.list_(pa.string()), "Expectations that failed, with counts and no values.", (), []
        ),
        Column(
            "manifest_path", pa.string(), "Manifest, relative to the lake.", (not_null,), "datasets/ds-1/manifest.json"
        ),
        Column("created_at", UTC_MICROSECONDS, "When it was cut, UTC.", (not_null,), EXAMPLE_TIME),
        Column("withdrawn_at", UTC_MICROSECONDS, "When it was taken back, UTC; null while it stands."),
    ),
    statistics=("dataset_version", "created_at"),
    holds_text=False,
)
