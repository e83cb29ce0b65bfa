"""``turnmill models promote|rollback``: aliases moved by hand, in one commit, with the reason in the table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import click

from jobs.candidate_trial import DEFAULT_TENANT, PROMOTION_LEASE, write_models
from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from jobs.streaming import one_driver
from pipelines.adapters import delta
from pipelines.promotion.aliases import promoted, rolled_back
from schemas import MODEL_VERSIONS

Rows = list[dict[str, Any]]


@turnmill_command("promote", help="Make a model the champion of its tenant, by hand.")
@click.argument("model_version")
@click.option("--reason", required=True, help="Why; it is kept with the model.")
@click.option("--force", is_flag=True, help="Also a model that the rule of promotion held or rejected.")
def promote_model(settings: Settings, model_version: str, reason: str, force: bool) -> None:
    """Promote a model; one that was not judged worthy of it needs --force."""

    def change(models: Rows) -> Rows:
        model = next((m for m in models if m["model_version"] == model_version), None)
        if model is not None and model["verdict"] != "promote" and not force:
            raise UserError(
                f"wanted a model that the rule promotes, found {model['verdict'] or 'none that was judged'}: "
                f"{model['verdict_reason'] or 'no reason'} Give --force to promote it all the same.",
                Exit.GATE_HELD,
            )
        return promoted(models, model_version, dt.datetime.now(dt.UTC), f"By hand: {reason}")

    _move(settings, change)


@turnmill_command("rollback", help="Go back to the champion before.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Tenant whose champion steps back.")
@click.option("--reason", default="by hand", show_default=True, help="Why; it is kept with the model.")
def rollback_model(settings: Settings, tenant: str, reason: str) -> None:
    """Take the alias from the champion and give it back to the one that it replaced."""
    _move(settings, lambda models: rolled_back(models, tenant, dt.datetime.now(dt.UTC), reason))


def _move(settings: Settings, change: Callable[[Rows], Rows]) -> None:
    """Read the models, change them, and write what changed in one commit."""
    from pipelines.adapters.spark_session import spark_session

    lake = existing_lake(settings)
    spark = spark_session("turnmill models", short_lived=True)
    with one_driver(lake, PROMOTION_LEASE):
        rows = change([row.asDict() for row in delta.read(spark, lake, MODEL_VERSIONS).collect()])
        if rows:
            write_models(spark, lake, rows)
    told = {row["model_version"]: row["alias"] for row in rows}
    if settings.json:
        settings.emit({"changed": told})
        return
    for name, alias in told.items():
        settings.console.print(f"{name}: {alias or 'no alias'}", markup=False, highlight=False)
    if not told:
        settings.console.print("Nothing to change.")
