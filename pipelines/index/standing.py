"""What the index stands at: one small file, replaced atomically after everything that it names is on disk."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from pipelines.durable_files import replace_file

POINTER = "CURRENT"


@dataclass(frozen=True)
class Standing:
    """Generation and Lance version that readers open, and the Delta versions that it equals.

    ``lance_version`` is 0 and ``dimension`` 0 while no row was ever indexed. ``table_ids`` are the Delta ids of the
    source tables, so that a table that was made anew is not taken for the old one.
    """

    generation: str
    lance_version: int
    rows: int
    dimension: int
    model: str
    model_fingerprint: str
    versions: dict[str, int]
    table_ids: dict[str, str]


def read_standing(folder: Path) -> Standing | None:
    """Read the pointer file of the index folder; None where there is none or where it cannot be read."""
    try:
        return Standing(**orjson.loads((folder / POINTER).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_standing(folder: Path, standing: Standing) -> None:
    """Replace the pointer file; after the call it survives a power cut."""
    replace_file(folder / POINTER, orjson.dumps(asdict(standing), option=orjson.OPT_INDENT_2))


def file_states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Modification time and size of every file and folder below ``folder``, itself included."""
    paths = [folder, *folder.rglob("*")] if folder.exists() else []
    return {path: (status.st_mtime_ns, status.st_size) for path in paths for status in (path.stat(),)}
