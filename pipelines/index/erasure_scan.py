"""The proof of an erasure: every file is read again and must hold none of the erased bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipelines.index.errors import IndexUnreadableError
from pipelines.index.rows import matrix

CHUNK_BYTES = 16 * 2**20
SHORTEST_ID, VECTOR_NUMBERS = 16, 8


def traces(path: Path, needles: Sequence[bytes]) -> set[int]:
    """Return the numbers of the needles that the file holds; reads it in chunks of 16 MiB."""
    found: set[int] = set()
    overlap = max(map(len, needles), default=1) - 1
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(CHUNK_BYTES):
            seen = tail + chunk
            found |= {number for number, needle in enumerate(needles) if number not in found and needle in seen}
            tail = seen[-overlap:] if overlap else b""
    return found


def needles_of(rows: pa.Table, live: Iterable[pa.RecordBatch]) -> list[bytes]:
    """Return what files would hold of erased rows: each id, and the start of each vector as float32 (32 bytes).

    Left out is what rows in ``live`` hold rightly: equal texts have equal vectors. Ids shorter than 16 bytes prove
    nothing, since other values may hold them by chance.
    """
    needles = {turn_id.encode() for turn_id in rows["turn_id"].to_pylist() if len(turn_id) >= SHORTEST_ID}
    needles |= _starts(rows)
    for batch in live:
        if not needles:
            break
        needles -= _starts(batch)
        needles.difference_update(turn_id.encode() for turn_id in batch["turn_id"].to_pylist())
    return sorted(needles)


def _starts(rows: pa.Table | pa.RecordBatch) -> set[bytes]:
    if not rows.num_rows:
        return set()
    starts = np.ascontiguousarray(matrix(rows["vector"])[:, :VECTOR_NUMBERS], np.float32)
    return {start.tobytes() for start in starts}


def prove_gone(folder: Path, needles: Sequence[bytes]) -> tuple[int, int]:
    """Read every file below ``folder``; return their number and bytes, or raise ``IndexUnreadableError`` at a trace."""
    files = n_bytes = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        files, n_bytes = files + 1, n_bytes + path.stat().st_size
        held = traces(path, needles)
        if held:
            raise IndexUnreadableError(
                f"{len(held)} erased values are still in {path.relative_to(folder)}; "
                "build the index anew: turnmill index --available-now"
            )
    return files, n_bytes
