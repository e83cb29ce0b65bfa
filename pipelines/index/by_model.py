"""One index a model and engine, side by side; a small file says which one searches use.

So a new model is built while the old one answers, the switch is one rename, and the way back is another one.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from pipelines.durable_files import replace_file

ACTIVE = "ACTIVE"
ENGINES = ("lance", "exact", "qdrant")


@dataclass(frozen=True)
class Choice:
    """An index of a lake: its engine, and the fingerprint of its model; ``url`` is the server's, without a key."""

    engine: str
    fingerprint: str
    url: str | None = None

    @property
    def name(self) -> str:
        """Name of the index's folder."""
        return f"{self.engine}-{self.fingerprint[:16]}"


def active_choice(root: Path) -> Choice | None:
    """Return the index that searches use; None before the first one was built."""
    try:
        return Choice(**orjson.loads((root / ACTIVE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def activate(root: Path, choice: Choice) -> None:
    """Let searches use ``choice`` from now on; survives a power cut."""
    root.mkdir(parents=True, exist_ok=True)
    replace_file(root / ACTIVE, orjson.dumps(asdict(choice), option=orjson.OPT_INDENT_2))


def other_folders(root: Path, choice: Choice) -> list[Path]:
    """Return the folders of all indexes but ``choice``."""
    return sorted(path for path in root.glob("*-*") if path.is_dir() and path.name != choice.name)


def drop_others(root: Path, choice: Choice) -> int:
    """Delete the folders of all indexes but ``choice``; return how many."""
    others = other_folders(root, choice)
    for path in others:
        shutil.rmtree(path)
    return len(others)
