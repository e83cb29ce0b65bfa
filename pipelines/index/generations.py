"""The folder of an index: one writer at a time, generations, pointer files, and readers that nobody deletes from under.

Layout: ``CURRENT`` and ``PREVIOUS`` (``standing``), ``generations/gNNNNNN/``, ``readers/*.lease``, ``writer.lock``,
``writer.fence``.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from pipelines.durable_files import flush_to_disk, replace_file
from pipelines.index.errors import IndexBusyError, IndexUnreadableError
from pipelines.index.standing import PREVIOUS, Standing, file_states, read_standing, write_standing

LEASE_WAIT_SECONDS = 30.0
"""How long an erasure waits for readers of the old files; then it deletes them, and those readers open the new ones."""


class ReaderLease:
    """A reader's claim on a version of a generation; gone with ``release`` or with the process."""

    def __init__(self, folder: Path, standing: Standing) -> None:
        readers = folder / "readers"
        readers.mkdir(parents=True, exist_ok=True)
        name = f"{standing.generation}-{standing.store_version}-{uuid.uuid4().hex}.lease"
        self.path = readers / name
        self._lock = FileLock(self.path)
        self._lock.acquire(timeout=0)

    def release(self) -> None:
        """Give the claim back."""
        self.path.unlink(missing_ok=True)
        self._lock.release()

    def __del__(self) -> None:
        with suppress(Exception):
            self.release()


class Generations:
    """The folder of one index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._fence: int | None = None

    def standing(self) -> Standing | None:
        """What readers find now, or found before where the pointer is damaged; None before the first build."""
        return read_standing(self.folder) or read_standing(self.folder, PREVIOUS)

    def previous(self) -> Standing | None:
        """What readers found before the last change."""
        return read_standing(self.folder, PREVIOUS)

    def must_stand(self) -> Standing:
        """Return the standing, or raise ``IndexUnreadableError``."""
        standing = self.standing()
        if standing is None:
            raise IndexUnreadableError(f"no readable index in {self.folder}; build it: turnmill index --available-now")
        return standing

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Be the only writer, or raise ``IndexBusyError`` at once; inside another ``writer`` block, the same one."""
        if self._fence is not None:
            yield
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / "writer.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise IndexBusyError(f"another process is writing the index in {self.folder}; let it end first") from None
        try:
            self._fence = self._newest_fence() + 1
            replace_file(self.folder / "writer.fence", str(self._fence).encode())
            yield
        finally:
            self._fence = None
            lock.release()

    def _newest_fence(self) -> int:
        try:
            return int((self.folder / "writer.fence").read_bytes())
        except (OSError, ValueError):
            standing = self.standing()
            return standing.fence if standing else 0

    def path(self, standing: Standing) -> Path:
        """Folder of the standing's generation."""
        return self.folder / "generations" / standing.generation

    def new_name(self) -> str:
        """Create the folder of the next generation and return its name."""
        generations = self.folder / "generations"
        taken = [int(path.name[1:]) for path in generations.glob("g*") if path.name[1:].isdigit()]
        name = f"g{max(taken, default=0) + 1:06d}"
        (generations / name).mkdir(parents=True)
        return name

    def publish(self, standing: Standing, before: Mapping[Path, tuple[int, int]]) -> Standing:
        """Force to disk what changed since ``before``, then move the pointer; readers see it from then on.

        Raises ``IndexBusyError`` where another writer took over, for instance while this one was suspended on a file
        system whose locks expire.
        """
        after = file_states(self.path(standing))
        # Lance itself forces nothing to disk (tenequm/pond#110).
        flush_to_disk(path for path, state in after.items() if before.get(path) != state and path.exists())
        if self._fence is None or self._newest_fence() != self._fence:
            raise IndexBusyError(f"another process took over the writing of {self.folder}; this one must not go on")
        standing = replace(standing, fence=self._fence)
        write_standing(self.folder, standing)
        return standing

    def claimed(self) -> set[tuple[str, int]]:
        """(generation, version) of all readers that live; claims of dead ones are swept away."""
        live = set()
        for path in (self.folder / "readers").glob("*.lease"):
            lock = FileLock(path)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                generation, version, _ = path.name.split("-")
                live.add((generation, int(version)))
            except OSError:
                continue
            else:
                path.unlink(missing_ok=True)
                lock.release()
        return live

    def prune(self, keep: Iterable[str], *, wait_seconds: float | None = None) -> None:
        """Delete generations that no reader claims; after ``wait_seconds``, those too."""
        kept = set(keep)
        end = time.monotonic() + (wait_seconds or 0)
        while True:
            claimed = {generation for generation, _ in self.claimed()}
            old = [path for path in (self.folder / "generations").glob("g*") if path.name not in kept]
            for path in old:
                if path.name not in claimed:
                    shutil.rmtree(path, ignore_errors=True)
            if wait_seconds is None or all(path.name not in claimed for path in old):
                return
            if time.monotonic() >= end:
                for path in old:
                    shutil.rmtree(path, ignore_errors=True)
                return
            time.sleep(0.05)
