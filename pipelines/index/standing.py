"""What the index stands at: one small file, replaced atomically after everything that it names is on disk."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from pipelines.durable_files import replace_file

POINTER, PREVIOUS = "CURRENT", "PREVIOUS"


@dataclass(frozen=True)
class Standing:
    """Generation and its version that readers open, and the Delta versions that it equals.

    ``store_version`` and ``dimension`` are 0 while no row was ever indexed. ``table_ids`` are the Delta ids of the
    source tables, so that a table that was made anew is not taken for the old one. ``key_hash`` is that of
    ``rows.key_hash`` over all keys, in hex. ``fence`` counts writers: a higher one took over from a lower.
    ``rows_trained`` is the number of rows that the approximate index was trained on, 0 without one. ``effort`` is the
    multiple of an engine's usual work that each search does, raised where an audit found recall too low; None compares
    all rows.
    """

    generation: str
    store_version: int
    rows: int
    dimension: int
    model: str
    model_fingerprint: str
    versions: dict[str, int]
    table_ids: dict[str, str]
    key_hash: str = "0" * 16
    fence: int = 0
    rows_trained: int = 0
    effort: int | None = 1


def read_standing(folder: Path, name: str = POINTER) -> Standing | None:
    """Read a pointer file of the index folder; None where there is none or where it cannot be read."""
    try:
        return Standing(**orjson.loads((folder / name).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_standing(folder: Path, standing: Standing) -> None:
    """Replace the pointer file and keep the one before; after the call both survive a power cut."""
    before = read_standing(folder)
    if before is not None:
        replace_file(folder / PREVIOUS, _content(before))
    replace_file(folder / POINTER, _content(standing))


def _content(standing: Standing) -> bytes:
    return orjson.dumps(asdict(standing), option=orjson.OPT_INDENT_2)


def file_states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Modification time and size of every file and folder below ``folder``, itself included."""
    states = {}
    for path in [folder, *folder.rglob("*")] if folder.exists() else []:
        try:
            status = path.stat()
        except FileNotFoundError:  # a clean-up ran beside
            continue
        states[path] = (status.st_mtime_ns, status.st_size)
    return states
