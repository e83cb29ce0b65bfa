"""The stages of a long command on a terminal: one bar each, its count and its seconds; silent elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

Advance = Callable[..., None]
"""Called as ``advance(done, total=None, note="")``."""


class Seconds(ProgressColumn):
    """Elapsed seconds, frozen when the stage ends."""

    def render(self, task: Task) -> Text:
        """Return the seconds of the stage."""
        elapsed = task.finished_time if task.finished else task.elapsed
        return Text(f"{elapsed or 0:6.1f} s", style="progress.elapsed")


class Stages:
    """Runs stages one after the other and remembers how long each took."""

    def __init__(self, console: Console, *, quiet: bool) -> None:
        self.seconds: dict[str, float] = {}
        self.shown = console.is_terminal and not quiet
        self.told = not self.shown and not quiet
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=28),
            Seconds(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            disable=not self.shown,
        )

    def __enter__(self) -> Stages:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    @contextmanager
    def stage(self, name: str, note: str = "") -> Iterator[Advance]:
        """Show a bar for the stage while its block runs; give the function that moves it."""
        task = self.progress.add_task(name, total=None, note=note)
        started = time.monotonic()

        def advance(done: float | None = None, total: float | None = None, note: str | None = None) -> None:
            self.progress.update(task, completed=done, total=total)
            if note is not None:
                self.progress.update(task, note=note)

        yield advance
        self.seconds[name] = round(time.monotonic() - started, 2)
        self.progress.update(task, total=1, completed=1)
        if self.told:
            shown = self.progress.tasks[task].fields["note"]
            self.console.print(f"{name:<10} {self.seconds[name]:6.1f} s  {shown}", markup=False, highlight=False)
