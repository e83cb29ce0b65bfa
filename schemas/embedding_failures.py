"""Texts that a model gave no vector for."""

from enum import StrEnum

import pyarrow as pa

from schemas.shared_columns import TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null, one_of


class EmbeddingFailure(StrEnum):
    """Why a text has no vector."""

    NOT_FINITE = "not_finite"
    ZERO_VECTOR = "zero_vector"


EMBEDDING_FAILURES = Table(
    name="embedding_failures",
    doc="One row per distinct text and model fingerprint of a tenant that has no usable vector, also not in float32.",
    key=("tenant", "text_hash", "model_fingerprint"),
    columns=(
        TENANT,
        Column("text_hash", pa.string(), "SHA-256 of the anonymised text, hex.", (not_null,), "0" * 64),
        Column("model_fingerprint", pa.string(), "Fingerprint of the model, as in embeddings.", (not_null,), "m1"),
        Column("model", pa.string(), "Name of the model.", (not_null,), "sentence-transformers/all-MiniLM-L6-v2"),
        Column("reason", pa.string(), "Typed reason.", (not_null, one_of(*EmbeddingFailure)), "not_finite"),
        Column("n_tokens", pa.int32(), "Tokens of the whole text.", (not_null, at_least(0)), 1),
        Column("backend", pa.string(), "Engine and device that failed.", (not_null,), "torch-cuda-float16"),
        Column("failed_at", UTC_MICROSECONDS, "Start of the micro-batch, UTC.", (not_null,), EXAMPLE_TIME),
    ),
    statistics=("tenant", "text_hash", "model_fingerprint", "failed_at"),
    holds_text=False,
)
