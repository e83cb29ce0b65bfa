"""The rows of the index, whatever engine holds them: keys, references and a vector, never readable text."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.index.errors import DimensionMismatchError
from pipelines.index.standing import Standing

COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("tenant", pa.string()),
    ("turn_id", pa.string()),
    ("text_hash", pa.string()),
    ("role", pa.string()),
    ("conversation_ref", pa.string()),
    ("lang", pa.string()),
    ("created_at", pa.timestamp("us", tz="UTC")),
    ("landed_at", pa.timestamp("us", tz="UTC")),
)
"""Columns that come from the tables; ``landed_at`` tells Delta which files hold the text of a hit."""

HIT_COLUMNS = [name for name, _ in COLUMNS]

Key = tuple[str, str]
"""(tenant, turn_id)"""

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Change:
    """Keys that changed, and the rows (of the index schema) that they have now; a key without a row is gone."""

    keys: list[Key]
    rows: pa.Table


@dataclass(frozen=True)
class Hit:
    """A found turn; ``score`` is the cosine of its vector and the question, -1 to 1, or the weight of shared words."""

    tenant: str
    turn_id: str
    text_hash: str
    role: str
    conversation_ref: str | None
    lang: str
    created_at: dt.datetime | None
    landed_at: dt.datetime
    score: float


class Found(NamedTuple):
    """Hits, best first, what the index stood at, and how they were found (``planner``)."""

    standing: Standing
    hits: list[Hit]
    plan: str


@dataclass(frozen=True)
class Receipt:
    """Proof of an erasure: after it, ``files`` files of ``bytes`` bytes were searched and held none of the rows.

    ``rows`` rows were in the index before; ``generation`` is the first one that never held them.
    """

    rows: int
    generation: str
    files: int
    bytes: int


def index_schema(dimension: int) -> pa.Schema:
    """Return the Arrow schema of index rows with vectors of ``dimension`` float32 and their hashed words."""
    return pa.schema([*COLUMNS, ("terms", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def with_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Cast the columns of ``batch`` to ``schema``; raises ``DimensionMismatchError`` for vectors of other lengths."""
    wanted = schema.field("vector").type.list_size
    lengths = pa.compute.unique(pa.compute.list_value_length(batch.column("vector"))).to_pylist()
    if any(length != wanted for length in lengths):
        raise DimensionMismatchError(wanted, f"{sorted(length or 0 for length in lengths)}")
    return pa.RecordBatch.from_arrays([batch.column(field.name).cast(field.type) for field in schema], schema=schema)


def key_hash(keys: Iterable[Key]) -> int:
    """Return the exclusive or of 64-bit hashes of ``keys``: equal for equal sets, cheap to bring up to date."""
    total = 0
    for tenant, turn_id in keys:
        name = f"{len(tenant)}:{tenant}{turn_id}".encode("utf-8", "surrogatepass")
        total ^= int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")
    return total


def keys_of(rows: pa.Table | pa.RecordBatch) -> list[Key]:
    """Return the keys of rows, in their order."""
    return list(zip(rows["tenant"].to_pylist(), rows["turn_id"].to_pylist(), strict=True))


def matrix(vectors: pa.ChunkedArray | pa.Array) -> Vector:
    """Return a column of fixed-size lists as float32 [n, d], without a copy where it is one chunk."""
    array = vectors.combine_chunks() if isinstance(vectors, pa.ChunkedArray) else vectors
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    flat: Vector = array.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(array), array.type.list_size).astype(np.float32, copy=False)


def checked_vector(vector: Vector, dimension: int) -> Vector:
    """Return a question's vector as float32 of unit length; raises ``DimensionMismatchError``, ``ValueError``."""
    if vector.shape != (dimension,):
        raise DimensionMismatchError(dimension, f"shape {vector.shape}")
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        raise ValueError("the question's vector is zero or not finite; embed the question again")
    return (vector / length).astype(np.float32)
