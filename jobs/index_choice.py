"""Which index of a lake a command works on: its engine and its model."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from jobs.options import UserError
from pipelines.index.by_model import Choice, active_choice
from pipelines.index.vector_index import VectorIndex


def open_index(root: Path, choice: Choice) -> VectorIndex:
    """Return the index ``choice`` of the index folder ``root``; loads its engine."""
    folder = root / choice.name
    if choice.engine == "exact":
        from pipelines.index.exact import ExactIndex

        return ExactIndex(folder)
    if choice.engine == "qdrant":
        from pipelines.adapters.qdrant_points import ServerPoints
        from pipelines.index.qdrant import QdrantIndex

        if not choice.url:
            raise UserError("wanted the address of a Qdrant server, found none; give --qdrant-url")
        return QdrantIndex(folder, ServerPoints(choice.url, api_key=os.environ.get("TURNMILL_QDRANT_API_KEY")))
    from pipelines.index.lance import LanceIndex

    return LanceIndex(folder)


def searched_index(root: Path, fingerprint: str | None = None) -> VectorIndex:
    """Return the index that searches use, or the one of the model with ``fingerprint`` where both are there."""
    active = active_choice(root)
    if active is None:
        raise UserError(f"wanted an index in {root}, found none; build it: turnmill index --available-now")
    if fingerprint in (None, active.fingerprint):
        return open_index(root, active)
    beside = Choice(active.engine, str(fingerprint), active.url)
    return open_index(root, beside if (root / beside.name).is_dir() else active)


@dataclass(frozen=True)
class IndexAt:
    """The index ``choice`` in the index folder ``root``, for workers that open it themselves."""

    root: Path
    choice: Choice

    def __call__(self) -> VectorIndex:
        """Open it."""
        return open_index(self.root, self.choice)
