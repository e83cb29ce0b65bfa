"""The key folder: 32 random bytes a key, in files that only their owner may read."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import secrets
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from pipelines.durable_files import flush_to_disk
from pipelines.privacy.key_sources import KeySource, source_of

T = TypeVar("T")

KEY_BYTES = 32
FOREIGN_ACCESS = stat.S_IRWXG | stat.S_IRWXO
SOURCE_FILE = "source"
"""A file of this name in the key folder holds ``module:function``, which gives the keys in the folder's stead."""
EPOCH_FILE = re.compile(r"(surrogate|payload)-([1-9][0-9]{0,8})")


class KeyFolderError(RuntimeError):
    """The key folder cannot be used. The message says what was wanted, what was found and what to do."""

    def __init__(self, path: Path, wanted: str, found: str, advice: str) -> None:
        super().__init__(f"{path}: wanted {wanted}, found {found}. {advice}")
        self.path, self.wanted, self.found, self.advice = path, wanted, found, advice

    def __reduce__(self) -> tuple[type[KeyFolderError], tuple[Path, str, str, str]]:
        return type(self), (self.path, self.wanted, self.found, self.advice)


class KeyFolder:
    """The keys of a lake: ``identity``, ``surrogate-<epoch>``, ``payload-<epoch>``, ``signing``.

    There is no fallback: without its file a key is an error. Pickles and prints as its path; keys are read where
    they are used, once per object. A folder with a file ``source`` holds no keys but names the ``KeySource`` that does.
    ``epoch`` pins the current epoch: all processes of a run use the one that it started with.
    """

    def __init__(self, path: str | os.PathLike[str], epoch: int | None = None) -> None:
        self.path = Path(path)
        self.epoch = epoch
        self._read: dict[str, bytes] = {}
        self._current_epoch = epoch
        self._source: KeySource | None = None

    def __repr__(self) -> str:
        return f"KeyFolder({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[KeyFolder], tuple[str, int | None]]:
        return KeyFolder, (str(self.path), self.epoch)

    def open(self) -> KeyFolder:
        """Check that the folder and all keys of its current epoch are there, and return self.

        Raises ``KeyFolderError`` when something is missing, short, or open to others; makes nothing.
        """
        self._check_folder()
        epoch = self.current_epoch
        for name in ("identity", f"surrogate-{epoch}", f"payload-{epoch}", "signing"):
            self._key(name)
        return self

    def open_or_create(self) -> KeyFolder:
        """Make the folder and its first keys where there are none yet, check them, and return self.

        Processes that start at once end with the same keys. A folder that was complete once is never topped up:
        a lost key raises ``KeyFolderError``, since a new one in its place would break every id and token made before.
        """
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
        self._check_folder()
        names = {file.name for file in self.path.iterdir()}
        if SOURCE_FILE in names:
            return self.open()
        # `signing` is made last and `identity` first, so a start that was cut short is told from a lost key.
        if "signing" not in names and ("identity" in names or not any(map(EPOCH_FILE.fullmatch, names))):
            for name in ("identity", "surrogate-1", "payload-1", "signing"):
                self._make(name)
        return self.open()

    def prepare_epoch(self) -> int:
        """Make the keys of the next epoch and return its number; a process uses them from its next start on."""
        self.open()
        epoch = self.epochs[-1] + 1
        for name in (f"payload-{epoch}", f"surrogate-{epoch}"):
            source = self._other_source()
            if source is None:
                self._make(name)
            else:
                self._asked(partial(source.make, name), name)
        return epoch

    @property
    def identity(self) -> bytes:
        """The key of turn ids and references; it does not rotate."""
        return self._key("identity")

    @property
    def signing(self) -> bytes:
        """The key that signs manifests and receipts."""
        return self._key("signing")

    def surrogate(self, epoch: int) -> bytes:
        """Return the key of pseudonyms inside text, of one epoch."""
        return self._key(f"surrogate-{epoch}")

    def payload(self, epoch: int) -> bytes:
        """Return the key of encrypted payloads, of one epoch."""
        return self._key(f"payload-{epoch}")

    @property
    def epochs(self) -> list[int]:
        """Epochs that have both keys, oldest first."""
        found = [m for name in self._names() if (m := EPOCH_FILE.fullmatch(name))]
        surrogate, payload = ({int(m[2]) for m in found if m[1] == kind} for kind in ("surrogate", "payload"))
        return sorted(surrogate & payload)

    @property
    def current_epoch(self) -> int:
        """The newest epoch when this object first asked: a process keeps its epoch until it restarts."""
        if self._current_epoch is None:
            epochs = self.epochs
            if not epochs:
                raise self._missing("surrogate-1 and payload-1")
            self._current_epoch = epochs[-1]
        return self._current_epoch

    def _key(self, name: str) -> bytes:
        key = self._read.get(name)
        if key is None:
            key = self._read[name] = self._load(name)
        return key

    def made_at(self, epoch: int) -> dt.datetime | None:
        """Return when the surrogate key of an epoch was made, UTC; None where another source holds it."""
        try:
            status = (self.path / f"surrogate-{epoch}").stat()
        except FileNotFoundError:
            return None
        return dt.datetime.fromtimestamp(status.st_mtime, dt.UTC)

    def _names(self) -> list[str]:
        self._check_folder()
        source = self._other_source()
        if source is None:
            return [file.name for file in self.path.iterdir()]
        return list(self._asked(source.names, "names of keys"))

    def _other_source(self) -> KeySource | None:
        """Return the source that the folder names; None where it holds the keys itself."""
        if self._source is None and (self.path / SOURCE_FILE).exists():
            told = self._read_file(SOURCE_FILE, 512).decode("utf-8", "replace").strip()
            self._source = self._asked(partial(source_of, told), "module:function")
        return self._source

    def _asked(self, ask: Callable[[], T], wanted: str) -> T:
        try:
            return ask()
        except Exception as error:
            # What a key service says may hold what nobody should read.
            advice = "Check the key service that this file names, and that its package is installed here."
            raise KeyFolderError(self.path / SOURCE_FILE, wanted, type(error).__name__, advice) from None

    def _load(self, name: str) -> bytes:
        self._check_folder()
        source = self._other_source()
        key = self._read_file(name, KEY_BYTES + 1) if source is None else self._asked(partial(source.load, name), name)
        if not isinstance(key, bytes):
            raise KeyFolderError(self.path / name, f"{KEY_BYTES} bytes", type(key).__name__, "Mend the key source.")
        if len(key) != KEY_BYTES:
            found = "more" if len(key) > KEY_BYTES else f"{len(key)} bytes"
            raise KeyFolderError(self.path / name, f"{KEY_BYTES} bytes", found, "Restore the key from your backup.")
        return key

    def _read_file(self, name: str, size: int) -> bytes:
        path = self.path / name
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise self._missing(name) from None
        except OSError as error:
            advice = "Run as the owner of the key folder, with plain files in it."
            raise KeyFolderError(path, "a readable key file", error.strerror or "an error", advice) from None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise KeyFolderError(path, "a plain file", "something else", "Restore the key from your backup.")
            self._check_mode(path, status.st_mode, 0o600)
            return file.read(size)

    def _make(self, name: str) -> None:
        """Write a new key under a name of its own, then link it: the first to link wins and no reader sees a part."""
        path = self.path / name
        if path.exists():
            return
        draft = self.path / f".{name}.{secrets.token_hex(8)}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(secrets.token_bytes(KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()
        flush_to_disk([self.path])

    def _check_folder(self) -> None:
        try:
            mode = self.path.stat().st_mode
        except FileNotFoundError:
            raise self._missing("a key folder") from None
        if not stat.S_ISDIR(mode):
            raise KeyFolderError(self.path, "a folder", "a file", "Name a folder for the keys.")
        self._check_mode(self.path, mode, 0o700)

    def _missing(self, wanted: str) -> KeyFolderError:
        advice = (
            "Restore it from your backup, or name the right folder (--keys); keys are made on the first ingest only."
        )
        return KeyFolderError(self.path, wanted, "none", advice)

    @staticmethod
    def _check_mode(path: Path, mode: int, wanted: int) -> None:
        if mode & FOREIGN_ACCESS:
            advice = f"Others may have read it: if so make new keys, else run chmod {wanted:o} on it."
            raise KeyFolderError(path, f"mode {wanted:04o}", f"{stat.S_IMODE(mode):04o}", advice)
