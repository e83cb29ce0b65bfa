"""Which version of a table a reader means: a number, or the newest one at a time. Needs no JVM."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from urllib.parse import unquote, urlparse

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from pipelines.adapters.lake import Lake
from pipelines.index.errors import HistoryGoneError

AsOf = int | str | dt.datetime
NOT_YET = -1
"""The version of a table at a time before it was made."""

FORMS = "wanted a version like 3, or a time like 2026-01-31 or 2026-01-31T12:00:00Z"


def version_as_of(lake: Lake, name: str, as_of: AsOf) -> int:
    """Return the version of the table that ``as_of`` means, ``NOT_YET`` for a time before its first one.

    A time without a zone is UTC; a version counts from its commit on. Raises ``ValueError`` for what is neither, and
    ``HistoryGoneError`` where the log or the files of then are no longer there, or never were.
    """
    version = parsed(as_of)
    if isinstance(version, dt.datetime):
        version = _version_at(lake, name, version) if lake.exists(name) else NOT_YET
    if version != NOT_YET:
        _check_files(lake, name, version)
    return version


def parsed(as_of: AsOf) -> int | dt.datetime:
    """Return a version as a number and a time with its zone; raises ``ValueError``."""
    if isinstance(as_of, str):
        text = as_of.strip()
        try:
            as_of = int(text) if text.isdecimal() else dt.datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(FORMS) from None
    if isinstance(as_of, dt.datetime):
        return as_of if as_of.tzinfo else as_of.replace(tzinfo=dt.UTC)
    if isinstance(as_of, bool) or not isinstance(as_of, int) or as_of < 0:
        raise ValueError(FORMS)
    return as_of


def _version_at(lake: Lake, name: str, time: dt.datetime) -> int:
    milliseconds = int(time.timestamp() * 1000)
    commits = {int(one["version"]): int(one["timestamp"]) for one in DeltaTable(lake.table(name)).history()}
    known = [version for version, at in commits.items() if at <= milliseconds]
    if known:
        return max(known)
    if 0 in commits:
        return NOT_YET
    first = min(commits)
    since = dt.datetime.fromtimestamp(commits[first] / 1000, dt.UTC)
    raise HistoryGoneError(f"the log of {name} begins with version {first} at {since:%Y-%m-%dT%H:%M:%SZ}")


def _check_files(lake: Lake, name: str, version: int) -> None:
    newest = _newest(lake, name)
    if version > newest:
        raise HistoryGoneError(f"wanted version {version} of {name}; its newest is {newest if newest >= 0 else 'none'}")
    try:
        files = DeltaTable(lake.table(name), version=version).file_uris()
    except DeltaError as error:
        raise HistoryGoneError(
            f"the log of {name} no longer holds version {version} ({type(error).__name__}); take a newer one"
        ) from None
    gone = sum(not _path(uri).exists() for uri in files)
    if gone:
        raise HistoryGoneError(f"vacuum took {gone} of the {len(files)} files of {name} at version {version}")


def _newest(lake: Lake, name: str) -> int:
    try:
        return int(DeltaTable(lake.table(name)).version())
    except TableNotFoundError:
        return NOT_YET


def _path(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path) if uri.startswith("file:") else uri)
