"""Files that survive a power cut: flushed to disk before anything names them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def flush_to_disk(paths: Iterable[Path]) -> None:
    """Force files and folders to disk; a rename lasts once the folder that holds it is flushed too."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file by one rename: readers see the old content or the new, also after a power cut."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(content)
    flush_to_disk([part])
    part.replace(path)
    flush_to_disk([path.parent])
