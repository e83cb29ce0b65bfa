"""How far an incremental batch has come: the Delta version of each source that its output stands at."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from pipelines.adapters.lake import Lake
from pipelines.durable_files import replace_file


class Progress:
    """Versions by table in a small file of the lake, replaced atomically.

    It is written after the output is committed, so a crash in between repeats a batch; the outputs are merged by key.
    """

    def __init__(self, lake: Lake, job: str) -> None:
        self.path = lake.path / "progress" / f"{job}.json"
        self.versions: dict[str, int] = orjson.loads(self.path.read_bytes()) if self.path.exists() else {}

    def advance(self, versions: Mapping[str, int]) -> None:
        """Record the versions that the output now stands at."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, orjson.dumps(dict(versions)))
        self.versions = dict(versions)
