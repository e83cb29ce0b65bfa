"""Which dataset version a command means: a name, the beginning of one, or the latest that passed its gate."""

from __future__ import annotations

from typing import Any

from jobs.options import Exit, Settings, UserError, existing_lake
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.datasets.stored_version import StoredVersion, StoredVersionError, stored_version

LATEST = "latest"
NEWEST_PASSED = (
    "SELECT dataset_version FROM dataset_versions WHERE gate = 'passed' AND withdrawn_at IS NULL "
    "ORDER BY created_at DESC, dataset_version LIMIT 1"
)
WITHDRAWN_AT = "SELECT withdrawn_at FROM dataset_versions WHERE dataset_version = ? AND withdrawn_at IS NOT NULL"


def chosen_version(settings: Settings, name: str) -> StoredVersion:
    """Return the version on disk that ``name`` means; raises ``UserError`` where it means none or several."""
    lake = existing_lake(settings)
    if name == LATEST:
        found: list[Any] = connect(lake).execute(NEWEST_PASSED).fetchall()
        if not found:
            raise UserError("wanted a dataset version that passed its gate, found none; run `turnmill curate` first")
        name = found[0][0]
    try:
        return stored_version(lake.path / "datasets", name)
    except StoredVersionError as error:
        raise UserError(str(error), Exit.WRONG_USE) from None


def version_with_files(settings: Settings, name: str) -> StoredVersion:
    """Return the version that ``name`` means; raises ``UserError`` with exit code 4 where the gate held it."""
    stored = chosen_version(settings, name)
    if stored.is_held:
        raise UserError(f"{stored.name}: the gate held this version, so it has no files", Exit.GATE_HELD)
    return stored


def refuse_withdrawn(lake: Lake, version: StoredVersion) -> None:
    """Raise ``UserError`` for a version that was taken back: nothing may be trained on it any more."""
    found = connect(lake).execute(WITHDRAWN_AT, [version.name]).fetchall()
    if found:
        raise UserError(f"{version.name} was withdrawn on {found[0][0]:%Y-%m-%d}; take a later version")
