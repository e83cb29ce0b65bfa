"""``turnmill dataset verify``: whether a version is still, byte for byte, what was published."""

from __future__ import annotations

import sys

import click

from jobs.dataset_choice import LATEST, version_with_files
from jobs.options import Exit, Settings, turnmill_command


@turnmill_command("verify", help="Read a version again: hash of every file and of the rows; exit 1 if one differs.")
@click.argument("version", default=LATEST)
def verify_version(settings: Settings, version: str) -> None:
    """Compare all hashes with the manifest, and the name of the version with the hash of its rows."""
    stored = version_with_files(settings, version)
    verdict = stored.verified()
    if settings.json:
        settings.emit({"dataset_version": stored.name, "ok": verdict.ok, "content_hash": verdict.content_hash,
                       "faults": list(verdict.faults)})  # fmt: skip
    else:
        told = "; ".join(verdict.faults) or f"ok, content hash {verdict.content_hash}"
        settings.console.print(f"{stored.name}: {told}", soft_wrap=True)
    if not verdict.ok:
        sys.exit(Exit.FAILED)
