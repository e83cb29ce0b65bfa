"""Sketches as Arrow columns: those of the table ``duplicate_signatures``, in a file or on their way through Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipelines.duplicates.bands import Bands
from pipelines.duplicates.ragged import Ints, Ragged, starts_of
from pipelines.duplicates.sketches import RAGGED, VERSION, Sketches

NUMBERS = ("n_words", "negations")
SKETCH_COLUMNS = ("sketch_version", "band_rows", "exact", *NUMBERS, "band_keys", "signature", *RAGGED)
"""Columns of a sketch, in the order of the table."""

ID = "subject_id"
BATCH_ROWS = 100_000
"""Rows of one piece of ``to_arrow``: the places of its values fit into 32 bits."""


def sketch_columns(rows: Sketches) -> dict[str, Any]:
    """Return the ``SKETCH_COLUMNS`` of up to ``BATCH_ROWS`` rows as Arrow arrays.

    Unsigned integers are stored as signed ones of the same bits: Delta and Spark know no others.
    """
    whole = len(rows)
    byte_width, keys = rows.bytes.shape[1], rows.bands.shape[1]
    places = np.arange(whole + 1, dtype=np.int64)
    columns = {
        "sketch_version": pa.array(np.full(whole, rows.version, np.int32)),
        "band_rows": pa.array(np.full(whole, rows.cut.rows, np.int32)),
        "exact": pa.array(rows.exact.view(np.int64)),
        **{name: pa.array(getattr(rows, name).astype(np.int64)) for name in NUMBERS},
        "band_keys": _lists(Ragged(np.ascontiguousarray(rows.bands).ravel(), places * keys)),
        "signature": _binary(np.ascontiguousarray(rows.bytes), places * byte_width),
        **{name: _lists(getattr(rows, name)) for name in RAGGED},
    }
    return {name: columns[name] for name in SKETCH_COLUMNS}


def sketches_of(table: Any) -> Sketches:
    """Return the sketches of the rows of a table or record batch that has the ``SKETCH_COLUMNS``, in their order.

    Raises ``ValueError`` where rows were made by another version of the sketches, or cut in different bands.
    """
    arrays = {name: _one(table.column(name)) for name in SKETCH_COLUMNS}
    made = {name: set(arrays[name].unique().to_pylist()) for name in ("sketch_version", "band_rows")}
    if made["sketch_version"] != {VERSION} or len(made["band_rows"]) != 1:
        raise ValueError(f"wanted sketches of version {VERSION} and one length of bands, found {made}")
    keys = _ragged(arrays["band_keys"], np.uint32)
    bands = keys.values.reshape(len(keys), -1)
    ragged: dict[str, Any] = {name: _ragged(arrays[name], kind) for name, kind in RAGGED.items()}
    flat: dict[str, Any] = {name: _numbers(arrays[name]) for name in NUMBERS}
    return Sketches(
        exact=_numbers(arrays["exact"]).view(np.uint64),
        bands=bands,
        bytes=_bytes(arrays["signature"]),
        cut=Bands(bands.shape[1] - 1, made["band_rows"].pop()),
        **flat,
        **ragged,
    )


def to_arrow(ids: list[str], rows: Sketches) -> Any:
    """Return a table of ``subject_id`` and the ``SKETCH_COLUMNS``: what an index needs to accept the rows again."""
    parts = []
    for low in range(0, max(len(ids), 1), BATCH_ROWS):
        part = np.arange(low, min(low + BATCH_ROWS, len(ids)))
        names = pa.array(ids[low : low + BATCH_ROWS], pa.string())
        parts.append(pa.table({ID: names, **sketch_columns(rows.take(part))}))
    return pa.concat_tables(parts)


def from_arrow(table: Any) -> tuple[list[str], Sketches]:
    """Return ids and sketches of a table that ``to_arrow`` made, or of rows of ``duplicate_signatures``.

    Raises ``ValueError`` as ``sketches_of`` does, and for a table without rows.
    """
    return table.column(ID).to_pylist(), sketches_of(table)


def _lists(part: Ragged) -> Any:
    signed = part.values.view(f"i{part.values.itemsize}")
    return pa.ListArray.from_arrays(pa.array(part.starts.astype(np.int32)), pa.array(signed))


def _binary(values: Any, starts: Ints) -> Any:
    places = pa.py_buffer(starts.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(starts) - 1, [None, places, pa.py_buffer(values)])


def _one(column: Any) -> Any:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _numbers(array: Any) -> Any:
    return array.to_numpy(zero_copy_only=True)


def _bytes(array: Any) -> Any:
    """Return binary values of one size as rows of bytes."""
    array = array.cast(pa.large_binary())
    starts = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(array.buffers()[2], np.uint8)[starts[0] : starts[-1]].reshape(len(array), -1)


def _ragged(array: Any, kind: Any) -> Ragged:
    starts = _numbers(array.offsets).astype(np.int64, copy=False)
    values = _numbers(array.values)[starts[0] : starts[-1]]
    return Ragged(values.view(kind), starts_of(np.diff(starts)))
