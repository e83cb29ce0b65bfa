"""Conversations -> ``drops`` and one gated dataset version a tenant.

spark-submit $(turnmill spark-args) jobs/curate_batch.py --lake LAKE
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from jobs.curate_cut import DatasetCut, staging_folder
from jobs.curate_explain import explain_turn
from jobs.curate_inputs import NOTHING_TO_CUT, held, pinned_inputs
from jobs.curate_what_if import compare_policies
from jobs.options import Exit, Settings, UserError, turnmill_command
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.datasets.policy import CurationPolicy, PolicyError
from pipelines.datasets.policy_files import PRESETS, SFT_LENIENT, find_policy

JOB = "curate"
Figures = dict[str, Any]


def curate_lake(
    settings: Settings,
    *,
    tenant: str | None = None,
    policy: CurationPolicy = SFT_LENIENT,
    benchmarks: Sequence[Path] = (),
) -> Figures:
    """Cut a dataset version for ``tenant``, or for each; tenants never share one, since models stay inside a tenant.

    ``benchmarks`` are files or folders of items that no example may hold. Returns the figures of the largest version
    that passed the gate, and of all under ``versions``. Raises ``UserError`` with exit code 4 when none passed; what
    was held is in ``dataset_versions`` all the same.
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill curate")
    begun = time.monotonic()
    with one_driver(lake, JOB), staging_folder(lake) as staging:
        inputs = pinned_inputs(spark, lake, settings, [policy], tenant, benchmarks)
        curated = inputs.curate(policy, held)
        cut = DatasetCut(spark, lake, staging, inputs, policy, dt.datetime.now(dt.UTC))
        cuts = [cut.version_of(name, curated) for name in ([tenant] if tenant else inputs.tenants())]
    if not cuts:
        raise UserError(NOTHING_TO_CUT)
    best = max(cuts, key=lambda figures: (figures["gate"] == "passed", figures["examples"], figures["tenant"]))
    if best["gate"] == "held":
        raise UserError(held_message(cuts), Exit.GATE_HELD)
    return {"job": JOB, **best, "versions": cuts, "seconds": round(time.monotonic() - begun, 2)}


def held_message(cuts: list[Figures]) -> str:
    """Say which expectations failed and by how much, for every version that was held."""
    held = [figures for figures in cuts if figures["gate"] == "held"]
    return "\n".join(
        f"the gate held {figures['dataset_version']} of tenant {figures['tenant']}: {'; '.join(figures['failed'])}"
        for figures in held
    )


def _found_policy(_context: click.Context, _parameter: click.Parameter, value: str | None) -> CurationPolicy | None:
    try:
        return None if value is None else find_policy(value)
    except PolicyError as error:
        raise click.BadParameter(str(error)) from None


@turnmill_command(JOB, help="Conversations -> drops, examples and a gated dataset version.")
@click.option("--tenant", default=None, help="Only this tenant.  [default: a version for each]")
@click.option(
    "--policy",
    default=SFT_LENIENT.name,
    show_default=True,
    callback=_found_policy,
    metavar="PRESET|FILE",
    help=f"What goes in: {', '.join(PRESETS)}, or a TOML file that says what differs from one.",
)
@click.option(
    "--validation-percent",
    type=click.IntRange(0, 100),
    default=None,
    help="Share of users (without one: of conversations) whose examples are held out.  [default: the policy's]",
)
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|DIR",
    help="Benchmarks whose items no example may hold; may be given again.",
)
@click.option(
    "--what-if",
    default=None,
    callback=_found_policy,
    metavar="PRESET|FILE",
    help="Count by reason what this policy would keep and drop beside --policy; write nothing.",
)
@click.option("--explain", default=None, metavar="TURN_ID", help="Tell what became of one turn; write nothing.")
@batch_schedule
def command(
    settings: Settings,
    schedule: Schedule,
    tenant: str | None,
    policy: CurationPolicy,
    validation_percent: int | None,
    benchmarks: tuple[Path, ...],
    what_if: CurationPolicy | None,
    explain: str | None,
) -> None:
    """Cut once, or again and again, and tell what came out; exit with 4 when the gate held a version."""
    if explain is not None:
        explain_turn(settings, explain, tenant)
        return
    if validation_percent is not None:
        policy = replace(policy, validation_percent=validation_percent)
        what_if = what_if and replace(what_if, validation_percent=validation_percent)
    if what_if is not None:
        compare_policies(settings, policy, what_if, tenant, benchmarks)
        return
    figures = repeatedly(
        schedule, JOB, partial(curate_lake, settings, tenant=tenant, policy=policy, benchmarks=benchmarks)
    )
    if settings.json:
        settings.emit(figures)
    else:
        for cut in figures["versions"]:
            settings.console.print(
                f"{cut['dataset_version']} ({cut['tenant']}): {cut['examples']:,} examples, "
                f"{cut['train']:,} train and {cut['validation']:,} validation; "
                f"{sum(cut['drops'].values()):,} dropped; gate {cut['gate']}"
            )
            if cut["topics"] == 0:
                settings.console.print("  topics are not balanced: too few vectors of questions; see `turnmill embed`")
            for giant in cut["giant_clusters"]:
                settings.console.print(
                    f"  look at turn {giant['turn_id']}: {giant['near_duplicates']:,} near duplicates of it went"
                )
    if any(cut["gate"] == "held" for cut in figures["versions"]):
        raise UserError(held_message(figures["versions"]), Exit.GATE_HELD)


if __name__ == "__main__":
    command()
