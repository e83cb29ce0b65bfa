"""``turnmill dataset diff``: what came, went and changed between two versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import click
from rich.table import Table as RichTable

from jobs.dataset_choice import LATEST, version_with_files
from jobs.options import Settings, turnmill_command
from pipelines.datasets.stored_version import VersionDifference, difference


@turnmill_command("diff", help="Compare two versions, example by example, and their manifests.")
@click.argument("old")
@click.argument("new", default=LATEST)
def compare_versions(settings: Settings, old: str, new: str) -> None:
    """Tell how many examples came, went and changed, by kind and split, and where the manifests differ."""
    before, after = version_with_files(settings, old), version_with_files(settings, new)
    found = difference(before, after)
    if settings.json:
        settings.emit({"old": before.name, "new": after.name, **asdict(found)})
        return
    settings.console.print(f"{before.name} -> {after.name}")
    settings.console.print(_counts(found))
    shown = RichTable("manifest", before.name, after.name)
    for name, (was, is_now) in found.manifest.items():
        shown.add_row(name, *("-" if value is None else str(value) for value in (was, is_now)))
    settings.console.print(shown if found.manifest else "Their manifests say the same.")


def _counts(found: VersionDifference) -> str:
    def told(counts: Mapping[str, int]) -> str:
        each = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        return each or "none"

    parts = {"added": told(found.added), "removed": told(found.removed), "changed": told(found.changed)}
    return "\n".join([*(f"{name}: {each}" for name, each in parts.items()), f"unchanged: {found.unchanged:,}"])
