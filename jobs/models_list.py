"""``turnmill models list|show``: models, verdicts and aliases, without Spark."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table as RichTable

from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake

MODELS = "SELECT * REPLACE (map_entries(evaluation) AS evaluation) FROM model_versions ORDER BY created_at DESC"
SHOWN = ("model_version", "tenant", "alias", "verdict", "dataset_version", "parent")


def models_of(lake: Lake) -> list[dict[str, Any]]:
    """Return the rows of ``model_versions``, the newest first, with the evaluation by name."""
    cursor = connect(lake).execute(MODELS)
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return [model | {"evaluation": {m["key"]: m["value"] for m in model["evaluation"] or []}} for model in found]


@turnmill_command("list", help="List models with verdict and alias, the newest first.")
@click.option("--tenant", default=None, help="Only models of this tenant.")
def command(settings: Settings, tenant: str | None) -> None:
    """Show one row a model."""
    found = [m for m in models_of(existing_lake(settings)) if tenant in (None, m["tenant"])]
    if settings.json:
        settings.emit({"models": found})
        return
    shown = RichTable("model", "tenant", "alias", "verdict", "dataset", "from", "loss", "base")
    for model in found:
        losses = [model["evaluation"].get(name) for name in ("loss", "loss_base")]
        figures = ("-" if loss is None else f"{loss:.3f}" for loss in losses)
        shown.add_row(*(str(model[name] or "-") for name in SHOWN), *figures)
    settings.console.print(shown if found else "No models.")


@turnmill_command("show", help="Tell how a model was judged: verdict, reason, every figure.")
@click.argument("model_version")
def show_model(settings: Settings, model_version: str) -> None:
    """Show the row of one model."""
    found = [m for m in models_of(existing_lake(settings)) if m["model_version"] == model_version]
    if not found:
        raise UserError("wanted the name of a model, found none like it; `turnmill models list` shows them")
    if settings.json:
        settings.emit(found[0])
        return
    evaluation = found[0].pop("evaluation")
    for name, value in [*found[0].items(), *sorted(evaluation.items())]:
        told = f"{value:.6g}" if isinstance(value, float) else value
        settings.console.print(f"{name:>28}  {told}", markup=False, highlight=False)
