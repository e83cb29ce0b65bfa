"""Where things lie in a lake."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CHECKPOINT_GENERATION = 1
"""Bumped when a query's source, stateful operator, key or watermark column changes (reference: Spark's guide)."""


@dataclass(frozen=True)
class Lake:
    """A folder that holds tables, checkpoints, index, dataset versions and models; never keys, never raw text."""

    path: Path

    def table(self, name: str) -> Path:
        """Folder of a Delta table."""
        return self.path / "tables" / name

    def exists(self, name: str) -> bool:
        """Tell whether the table has been created."""
        return (self.table(name) / "_delta_log").is_dir()

    def checkpoint(self, query: str) -> Path:
        """Folder of a streaming query's checkpoint, with its generation."""
        return self.path / "checkpoints" / query / f"v{CHECKPOINT_GENERATION}"

    @property
    def index(self) -> Path:
        """Folder of the vector index."""
        return self.path / "index"

    def dataset(self, version: str) -> Path:
        """Folder of a materialised dataset version."""
        return self.path / "datasets" / version

    def model(self, version: str) -> Path:
        """Folder of a model that a run made."""
        return self.path / "models" / version

    def run(self, run_id: str) -> Path:
        """Folder of a training run: its log, checkpoints and result."""
        return self.path / "runs" / run_id
