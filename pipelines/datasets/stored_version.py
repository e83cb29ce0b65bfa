"""A published dataset version as it lies on disk: its manifest, its rows, whether it is still what was published."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.datasets.version import (
    EXAMPLES_FILE,
    MANIFEST,
    ROWS_A_GROUP,
    canonical_row,
    file_sha256,
    version_name,
)

NAME = re.compile(r"ds-[0-9a-f]{16}(?:\.held)?")


class StoredVersionError(RuntimeError):
    """A version that is not there, was held or has no files; the message names it, never content."""

    safe_to_show = True


@dataclass(frozen=True)
class Verdict:
    """What reading every byte found: faults, and the hash of the rows as they are, None where they are unreadable."""

    content_hash: str | None
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Tell whether the version is what was published."""
        return not self.faults


@dataclass(frozen=True)
class StoredVersion:
    """A folder with a manifest; a version that the gate held has no more than that."""

    folder: Path

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """What the version rests on."""
        try:
            told: Mapping[str, Any] = orjson.loads((self.folder / MANIFEST).read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise StoredVersionError(
                f"{self.folder.name}: wanted a manifest that can be read, found {type(error).__name__}"
            ) from None
        return told

    @property
    def name(self) -> str:
        """Name of the version, without the mark of a held one."""
        return self.folder.name.removesuffix(".held")

    @property
    def is_held(self) -> bool:
        """Tell whether the gate held it, so that it has no files."""
        return self.folder.name.endswith(".held")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the examples in their order. Raises ``StoredVersionError`` where there are none to read."""
        if self.is_held:
            raise StoredVersionError(f"{self.name}: the gate held this version, so it has no examples to read")
        try:
            for batch in pq.ParquetFile(self.folder / EXAMPLES_FILE).iter_batches(ROWS_A_GROUP):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise StoredVersionError(
                f"{self.name}: wanted {EXAMPLES_FILE} whole, found {type(error).__name__}; "
                "run `turnmill dataset verify`"
            ) from None

    def digests(self) -> dict[str, tuple[str, str, str]]:
        """Return kind, split and a digest of each row by its example_id."""
        return {
            row["example_id"]: (row["kind"], row["split"], hashlib.sha256(canonical_row(row)).hexdigest())
            for row in self.rows()
        }

    def verified(self) -> Verdict:
        """Read every file again: names, hashes of the files, hash of the rows, the name that follows from it."""
        faults = [
            f"{name}: {'changed since it was published' if (self.folder / name).is_file() else 'missing'}"
            for name, wanted in self.manifest["sha256"].items()
            if not (self.folder / name).is_file() or file_sha256(self.folder / name) != wanted
        ]
        extra = {path.name for path in self.folder.iterdir()} - {MANIFEST, *self.manifest["sha256"]}
        faults += [f"{name}: not in the manifest" for name in sorted(extra)]
        found = self._content_hash()
        if found is None:
            faults.append(f"{EXAMPLES_FILE}: cannot be read")
        elif found != self.manifest["content_hash"]:
            faults.append("content hash: the rows are not those of the manifest")
        if version_name(self.manifest["content_hash"]) != self.name:
            faults.append("name: does not follow from the content hash of the manifest")
        return Verdict(found, tuple(faults))

    def _content_hash(self) -> str | None:
        digest = hashlib.sha256()
        try:
            for row in self.rows():
                digest.update(canonical_row(row) + b"\n")
        except StoredVersionError:
            return None
        return digest.hexdigest()


def stored_versions(folder: Path) -> list[StoredVersion]:
    """Return the versions in the folder ``datasets`` of a lake, held ones too, in the order of their names."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [StoredVersion(path) for path in found if NAME.fullmatch(path.name) and (path / MANIFEST).is_file()]


def stored_version(folder: Path, name: str) -> StoredVersion:
    """Return the version called ``name``, or the only one whose name begins so; one that passed before a held one.

    Raises ``StoredVersionError`` that lists what is there.
    """
    found = [one for one in stored_versions(folder) if one.name == name] or [
        one for one in stored_versions(folder) if one.name.startswith(name) and len(name) > len("ds-")
    ]
    passed = [one for one in found if not one.is_held] or found
    if len(passed) != 1:
        there = ", ".join(sorted({one.name for one in stored_versions(folder)})) or "none"
        raise StoredVersionError(f"wanted one dataset version called {name}, found {len(passed)}; there are: {there}")
    return passed[0]


@dataclass(frozen=True)
class VersionDifference:
    """Examples that two versions do not share, by kind and split, and what their manifests say differently."""

    added: Mapping[str, int]
    removed: Mapping[str, int]
    changed: Mapping[str, int]
    unchanged: int
    manifest: Mapping[str, tuple[Any, Any]]


def difference(old: StoredVersion, new: StoredVersion) -> VersionDifference:
    """Compare two versions example by example; ``changed`` has the same target in both and other content."""
    before, after = old.digests(), new.digests()

    def counted(rows: Mapping[str, tuple[str, str, str]], ids: set[str]) -> dict[str, int]:
        return dict(sorted(Counter(f"{rows[one][0]}.{rows[one][1]}" for one in ids).items()))

    shared = before.keys() & after.keys()
    changed = {one for one in shared if before[one] != after[one]}
    return VersionDifference(
        added=counted(after, after.keys() - before.keys()),
        removed=counted(before, before.keys() - after.keys()),
        changed=counted(after, changed),
        unchanged=len(shared) - len(changed),
        manifest=_manifest_difference(old.manifest, new.manifest),
    )


TOLD_APART = ("dataset_version", "content_hash", "sha256", "gate.expectations")
"""Parts of a manifest that differ in any two versions."""


def _manifest_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    before, after = (dict(_leaves(one, "")) for one in (old, new))
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _leaves(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, one in value.items():
        if f"{path}{name}" in TOLD_APART:
            continue
        if isinstance(one, Mapping):
            yield from _leaves(one, f"{path}{name}.")
        else:
            yield f"{path}{name}", one
