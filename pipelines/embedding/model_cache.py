"""Keep what is made from a model on this machine: built once by one process, found by all others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import platformdirs
from filelock import FileLock

from pipelines.durable_files import flush_to_disk


def made_once(key: str, make: Callable[[Path], None], cache: str | None = None) -> Path:
    """Return the folder named ``key``, which ``make`` fills the first time; half a folder is never seen.

    The key names all that decides the content, so a folder is never updated. Its place is ``embedding`` under
    ``cache``, by default the user's cache folder. Other processes wait while one makes it.
    """
    root = Path(cache or platformdirs.user_cache_dir("turnmill")).absolute() / "embedding"
    folder = root / key
    if folder.is_dir():
        return folder
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / f".{key}.lock"):
        if not folder.is_dir():
            draft = root / f".{key}.draft"
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            make(draft)
            flush_to_disk([*(path for path in draft.rglob("*") if path.is_file()), draft])
            draft.rename(folder)
            flush_to_disk([root])
    return folder
