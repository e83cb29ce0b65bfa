"""``turnmill curate --what-if``: what another policy would keep and drop, counted by rule; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from jobs.curate_inputs import CurationInputs, held, pinned_inputs
from jobs.options import Settings, existing_lake
from pipelines.adapters.spark_session import spark_session
from pipelines.datasets.policy import CurationPolicy

KEPT = "kept"


def compare_policies(
    settings: Settings,
    current: CurationPolicy,
    other: CurationPolicy,
    tenant: str | None,
    benchmarks: Sequence[Path] = (),
) -> dict[str, Any]:
    """Cut by both policies from the same table versions and show counts of kept and dropped rows; returns them."""
    lake = existing_lake(settings)
    inputs = pinned_inputs(spark_session("turnmill curate"), lake, settings, [current, other], tenant, benchmarks)
    counted = [counts_of(inputs, policy) for policy in (current, other)]
    figures = {
        "job": "curate",
        "current": {"policy": current.name, "policy_hash": current.hash, "counts": counted[0]},
        "what_if": {"policy": other.name, "policy_hash": other.hash, "counts": counted[1]},
        "source_versions": inputs.versions,
    }
    if settings.json:
        settings.emit(figures)
    else:
        show(settings, current.name, other.name, *counted)
    return figures


def counts_of(inputs: CurationInputs, policy: CurationPolicy) -> dict[str, int]:
    """Return the number of examples that ``policy`` keeps, under ``kept``, and of drops by rule."""
    curated = inputs.curate(policy, held)
    dropped = {row.rule: row["count"] for row in curated.drops.groupBy("rule").count().collect()}
    return {KEPT: curated.placed.count(), **dict(sorted(dropped.items()))}


def show(settings: Settings, current: str, other: str, now: dict[str, int], then: dict[str, int]) -> None:
    """Print a table of both counts and their difference, one line a rule."""
    shown = RichTable("", current, f"if {other}", "difference")
    for rule in (KEPT, *sorted({*now, *then} - {KEPT})):
        a, b = now.get(rule, 0), then.get(rule, 0)
        shown.add_row(rule, f"{a:,}", f"{b:,}", f"{b - a:+,}" if a != b else "")
    Console().print(shown)
    settings.console.print("Nothing was written.")
