"""Content-addressed vectors."""

import pyarrow as pa

from schemas.shared_columns import TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null

EMBEDDINGS = Table(
    name="embeddings",
    doc="One row per distinct text and model fingerprint of a tenant.",
    key=("tenant", "text_hash", "model_fingerprint"),
    columns=(
        TENANT,
        Column("text_hash", pa.string(), "SHA-256 of the anonymised text, hex.", (not_null,), "0" * 64),
        Column(
            "model_fingerprint",
            pa.string(),
            "Hash of weights, tokenizer, pooling and length policy.",
            (not_null,),
            "m1",
        ),
        Column("model", pa.string(), "Name of the model.", (not_null,), "sentence-transformers/all-MiniLM-L6-v2"),
        Column("vector", pa.list_(pa.float32()), "Embedding of unit length.", (not_null,), [1.0, 0.0]),
        Column("n_tokens", pa.int32(), "Tokens of the whole text.", (not_null, at_least(0)), 1),
        Column("truncated", pa.bool_(), "The model saw only the first tokens.", (not_null,), False),
        Column("backend", pa.string(), "Engine and device, for instance torch-cpu.", (not_null,), "torch-cpu"),
        Column("embedded_at", UTC_MICROSECONDS, "Start of the micro-batch, UTC.", (not_null,), EXAMPLE_TIME),
    ),
    statistics=("tenant", "text_hash", "model_fingerprint", "embedded_at"),
    holds_text=False,
)
