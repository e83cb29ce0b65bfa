"""The references of all rows in memory, for readers that answer many questions.

Fetching eight columns of ten hits from Lance costs more than finding the hits (5 of 7.5 ms of one core at 100,000
rows); from memory it costs a tenth of a millisecond. A reader that answers a few questions never loads them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipelines.index.rows import HIT_COLUMNS, Hit

SEARCHES_BEFORE_LOADING = 32
"""From then on the reading of all references pays at 100,000 rows."""

MOST_ROWS = 1_000_000
"""Rows whose references are held at most: about 250 bytes each."""

REPEATED = ("tenant", "role", "lang")


class References:
    """Hits by Lance's row ids, for one version of a table."""

    def __init__(self) -> None:
        self._searches = 0
        self._row_ids: npt.NDArray[np.uint64] | None = None
        self._columns = pa.table({})

    def ready(self, table: Any, rows: int) -> bool:
        """Count a search of ``table``; True once the references of its ``rows`` rows are in memory."""
        self._searches += 1
        if self._row_ids is None and self._searches > SEARCHES_BEFORE_LOADING and rows <= MOST_ROWS:
            self._load(table)
        return self._row_ids is not None

    def _load(self, table: Any) -> None:
        found = table.search().with_row_id(True).select(HIT_COLUMNS).to_arrow().sort_by("_rowid").combine_chunks()
        self._row_ids = found["_rowid"].to_numpy()
        columns = {name: found[name].dictionary_encode() if name in REPEATED else found[name] for name in HIT_COLUMNS}
        self._columns = pa.table(columns).combine_chunks()

    def hits(self, row_ids: npt.NDArray[np.uint64], scores: npt.NDArray[np.float32]) -> list[Hit]:
        """Return the hits of rows, in the order given; ``ready`` was true before."""
        places = np.searchsorted(self._row_ids, row_ids)  # type: ignore[arg-type]  # loaded, says ready
        found = self._columns.take(pa.array(places)).to_pylist()
        return [Hit(**row, score=float(score)) for row, score in zip(found, scores, strict=True)]
