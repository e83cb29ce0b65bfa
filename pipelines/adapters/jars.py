"""The jars of Spark's connectors and of the Kafka broker: a checked-in list, a verified cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import platformdirs
from filelock import FileLock

from pipelines.adapters.ivy import Coordinates, Ivy, IvyError
from pipelines.adapters.java import find_java
from pipelines.durable_files import flush_to_disk

LOCK_FILE = Path(__file__).with_name("jars.lock.json")
MARKER = "complete"

Progress = Callable[[int, int, str], None]
"""Called with bytes so far, bytes in all, and the name of the jar that has just come."""


class JarError(RuntimeError):
    """The jars are not there and could not be had; the message says what was wanted, what came, and what to do."""

    safe_to_show = True


@dataclass(frozen=True)
class Jar:
    """One jar of the checked-in list."""

    group: str
    artifact: str
    version: str
    sha256: str
    size: int

    @property
    def coordinates(self) -> Coordinates:
        """Its place in a Maven repository."""
        return Coordinates(self.group, self.artifact, self.version)

    @property
    def file_name(self) -> str:
        """Its name in the cache."""
        return self.coordinates.file_name


@cache
def jar_sets() -> dict[str, tuple[Jar, ...]]:
    """Return the checked-in list: set name (``spark``, ``broker``) to all jars that are needed, in a fixed order."""
    listed = json.loads(LOCK_FILE.read_text("utf-8"))
    return {name: tuple(Jar(**jar) for jar in jars) for name, jars in listed.items()}


def cache_folder() -> Path:
    """Folder of downloaded things: environment ``TURNMILL_CACHE``, else the user's cache folder."""
    return Path(os.environ.get("TURNMILL_CACHE") or platformdirs.user_cache_dir("turnmill")).absolute()


def jars_folder(set_name: str, progress: Progress | None = None) -> Path:
    """Return the folder that holds exactly the jars of a set, downloading and verifying them where they are missing.

    A filled cache is told by its marker and the sizes of the files, without Java and without network. A download is
    checked by sha256, and becomes visible by one rename; of two processes that start at once, one downloads.
    Environment ``TURNMILL_MAVEN_REPOSITORY`` names a mirror to use instead of Maven Central.
    Errors: ``JarError``, ``JavaError``; ``KeyError`` for a set that the list does not have.
    """
    jars = jar_sets()[set_name]
    folder = _folder_of(set_name, jars)
    if _is_complete(folder, jars):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if not _is_complete(folder, jars):
            _download(set_name, jars, folder, progress or (lambda done, total, name: None))
    return folder


def classpath(set_name: str, progress: Progress | None = None) -> list[Path]:
    """Paths of all jars of a set, in the order of the list; downloads like ``jars_folder``."""
    folder = jars_folder(set_name, progress)
    return [folder / jar.file_name for jar in jar_sets()[set_name]]


def is_cached(set_name: str) -> bool:
    """Tell whether the cache holds the set, by marker and sizes."""
    jars = jar_sets()[set_name]
    return _is_complete(_folder_of(set_name, jars), jars)


def verify(set_name: str) -> list[str]:
    """Check every cached jar of a set by sha256; return the names of those missing or different (none: all is well)."""
    jars = jar_sets()[set_name]
    return _differing(_folder_of(set_name, jars), jars)


def write_lock(sets: Mapping[str, Sequence[Jar]], path: Path = LOCK_FILE) -> None:
    """Write the list, sorted by coordinates, one jar a line, so that a change of it reads well."""
    parts = []
    for name in sorted(sets):
        lines = (json.dumps(asdict(jar)) for jar in sorted(sets[name], key=lambda jar: jar.coordinates))
        parts.append(f"{json.dumps(name)}: [\n  " + ",\n  ".join(lines) + "\n]")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder_of(set_name: str, jars: Sequence[Jar]) -> Path:
    digest = hashlib.sha256("\n".join(jar.sha256 for jar in jars).encode()).hexdigest()[:12]
    return cache_folder() / "jars" / f"{set_name}-{digest}"


def _is_complete(folder: Path, jars: Sequence[Jar]) -> bool:
    if not (folder / MARKER).is_file():
        return False
    try:
        return all((folder / jar.file_name).stat().st_size == jar.size for jar in jars)
    except FileNotFoundError:
        return False


def _differing(folder: Path, jars: Sequence[Jar]) -> list[str]:
    paths = [(jar, folder / jar.file_name) for jar in jars]
    return [jar.file_name for jar, path in paths if not path.is_file() or sha256_of(path) != jar.sha256]


def _download(set_name: str, jars: Sequence[Jar], folder: Path, progress: Progress) -> None:
    work = folder.with_name(f".{folder.name}.partial")
    fresh = work / "jars"
    shutil.rmtree(fresh, ignore_errors=True)
    sizes = {jar.coordinates: jar.size for jar in jars}
    got: set[Coordinates] = set()

    def count(coordinates: Coordinates) -> None:
        got.add(coordinates)
        progress(sum(sizes.get(one, 0) for one in got), sum(sizes.values()), coordinates.file_name)

    mirror = os.environ.get("TURNMILL_MAVEN_REPOSITORY") or None
    try:
        Ivy(find_java(), work / "ivy", mirror).fetch([jar.coordinates for jar in jars], fresh, count)
    except IvyError as failure:
        raise _could_not_get(set_name, jars, work / "ivy" / "cache") from failure
    if different := _differing(fresh, jars):
        shutil.rmtree(work)
        raise JarError(
            f"{len(different)} of {len(jars)} jars of set {set_name} are not those of the checked-in list "
            f"(sha256 differs, first {different[0]}); nothing was kept. Try again, and check the mirror if one is set."
        )
    _publish(fresh, folder)
    shutil.rmtree(work, ignore_errors=True)


def _could_not_get(set_name: str, jars: Sequence[Jar], ivy_cache: Path) -> JarError:
    missing = [jar for jar in jars if not any(ivy_cache.rglob(f"{jar.artifact}-{jar.version}.jar"))]
    return JarError(
        f"Wanted {len(jars)} jars of set {set_name} from Maven Central, got {len(jars) - len(missing)}"
        + (f" (first missing: {missing[0].coordinates})" if missing else "")
        + f". Check the network and run again (what came is kept), set TURNMILL_MAVEN_REPOSITORY to a mirror, "
        f"or copy a filled cache to {cache_folder()} (environment TURNMILL_CACHE)."
    )


def _publish(fresh: Path, folder: Path) -> None:
    (fresh / MARKER).write_bytes(b"")
    flush_to_disk([*fresh.iterdir(), fresh])
    if folder.exists():
        shutil.rmtree(folder)
    fresh.rename(folder)
    flush_to_disk([folder.parent])
