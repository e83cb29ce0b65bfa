"""What every engine of the index can do; ``tests/unit/test_index_conformance.py`` runs on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from pipelines.index.filters import EVERYTHING, Predicate
from pipelines.index.rows import Change, Found, Key, Receipt, Vector
from pipelines.index.standing import Standing


class VectorIndex(Protocol):
    """An index of one embedding model. Readers see the last whole state; after a crash the pointer names it still.

    ``apply``, ``rebuild``, ``fold`` and ``erase`` need the only writer: they take the place, or raise
    ``IndexBusyError``. What cannot be stored raises ``IndexWriteError`` and changes nothing for readers.
    """

    @property
    def folder(self) -> Path:
        """Where the pointer file lies, and the rows of an embedded engine."""

    def standing(self) -> Standing | None:
        """What readers find now; None before the first build."""

    def writer(self) -> AbstractContextManager[None]:
        """Be the only writer, or raise ``IndexBusyError`` at once."""

    def rebuild(
        self,
        batches: Iterable[pa.RecordBatch],
        *,
        model: str,
        model_fingerprint: str,
        versions: Mapping[str, int],
        table_ids: Mapping[str, str],
    ) -> Standing:
        """Build a new generation from all rows of the view, and switch readers to it."""

    def apply(
        self, changes: Iterable[Change], *, versions: Mapping[str, int], table_ids: Mapping[str, str]
    ) -> Standing:
        """Delete the keys of each change, append its rows, and move the pointer once, at the end."""

    def search(
        self, vector: Vector, k: int, tenant: str, where: Predicate = EVERYTHING, *, exact: bool = False
    ) -> Found:
        """Return the ``k`` nearest turns of the tenant that ``where`` lets through; fewer only where fewer are."""

    def search_terms(self, terms: Iterable[str], k: int, tenant: str, where: Predicate = EVERYTHING) -> Found:
        """Return up to ``k`` turns that share most with hashed words (``terms``), by BM25; none shares nothing."""

    def scan(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows of the standing, in the schema of the index."""

    def indexed_keys(self) -> set[Key]:
        """Return all keys that readers can find."""

    def verify(self) -> None:
        """Raise ``IndexUnreadableError`` unless the rows are those that the pointer file tells of."""

    def fold(self, *, retrain: bool = False) -> Standing:
        """Bring recent changes into the approximate index; with ``retrain`` train it anew."""

    def widen(self) -> bool:
        """Let each search look at twice as much from now on, in the end at all; False where it does already."""

    def erase(self, keys: Iterable[Key]) -> Receipt:
        """Take rows away so that no file holds them any more, and prove it."""

    def stats(self) -> dict[str, Any]:
        """Return rows, rows outside the approximate index, bytes on disk, generation, versions and model."""
