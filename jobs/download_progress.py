"""A progress bar for downloads, shown to people only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from jobs.options import Settings
from pipelines.adapters.jars import Progress as JarProgress


def byte_bar(settings: Settings) -> Progress:
    """Return a bar that counts bytes on standard error; silent with ``--json`` and where no terminal is."""
    shown = settings.console.is_terminal and not settings.json
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=settings.console, disable=not shown, transient=True)


@contextlib.contextmanager
def download_progress(settings: Settings, what: str) -> Iterator[JarProgress]:
    """Give a callback of (bytes so far, bytes in all, file name) that moves a bar; no bar without a download."""
    bar = byte_bar(settings)
    with bar:
        task = None

        def tell(done: int, total: int, name: str) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task(f"Downloading {what}", total=total)
            bar.update(task, completed=done)

        yield tell
