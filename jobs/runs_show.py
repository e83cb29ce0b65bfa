"""``turnmill runs list|show|logs|cancel``: read from the tables and the run's folder, without Spark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
from rich.table import Table as RichTable

from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake

RUN_ID = re.compile(r"[A-Za-z0-9_:-]{1,128}")
RUNS = (
    "SELECT run_id, trigger_key, dataset_version, base, method, state, launcher, failure, started_at, ended_at, "
    "map_entries(metrics) AS metrics FROM training_runs"
)


def runs_of(lake: Lake, run_id: str | None = None, limit: int = 20) -> list[dict[str, Any]]:
    """Return runs, the newest first, with their metrics by name."""
    where, given = (" WHERE run_id = ?", [run_id]) if run_id else ("", [])
    cursor = connect(lake).execute(f"{RUNS}{where} ORDER BY started_at DESC, run_id LIMIT ?", [*given, limit])
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return [run | {"metrics": {m["key"]: m["value"] for m in run["metrics"] or []}} for run in found]


def one_run(settings: Settings, run_id: str) -> tuple[dict[str, Any], Path]:
    """Return the run's row and folder; raises ``UserError`` for a name that no run has."""
    lake = existing_lake(settings)
    found = runs_of(lake, run_id) if RUN_ID.fullmatch(run_id) else []
    if not found:
        raise UserError("wanted the name of a run, found none like it; `turnmill runs list` shows them")
    return found[0], lake.run(run_id)


@turnmill_command("list", help="List training runs, the newest first.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Most runs shown.")
def list_runs(settings: Settings, limit: int) -> None:
    """Show one row a run."""
    found = runs_of(existing_lake(settings), limit=limit)
    if settings.json:
        settings.emit({"runs": found})
        return
    shown = RichTable("run", "state", "method", "dataset", "loss before", "loss after", "started")
    for run in found:
        losses = (f"{run['metrics'][k]:.3f}" if k in run["metrics"] else "-" for k in ("loss_before", "loss_after"))
        names = (run[k] for k in ("run_id", "state", "method", "dataset_version"))
        shown.add_row(*names, *losses, f"{run['started_at']:%Y-%m-%d %H:%M}")
    settings.console.print(shown if found else "No runs.")


@turnmill_command("show", help="Tell where a run stands and what came out.")
@click.argument("run_id")
def show_run(settings: Settings, run_id: str) -> None:
    """Show the row of a run, its progress while it runs, how its processes fare, and every metric."""
    from pipelines.training.distributed.rank_lines import read_reports
    from pipelines.training.launchers import last_progress

    run, folder = one_run(settings, run_id)
    run["progress"] = last_progress(folder)
    run["processes"] = next(reversed(read_reports(folder)), {})
    if settings.json:
        settings.emit(run)
        return
    metrics, progress, processes = run.pop("metrics"), run.pop("progress"), run.pop("processes")
    for name, value in run.items():
        settings.console.print(f"{name:>16}  {value}", markup=False, highlight=False)
    if progress and run["state"] == "running":
        loss = "" if progress.get("loss") is None else f", loss {progress['loss']:.4g}"
        told = f"step {progress['step']} of {progress['steps']}, {progress['eta_seconds']:.0f} s to go{loss}"
        settings.console.print(f"{'progress':>16}  {told}", markup=False)
    for name, value in sorted(metrics.items()):
        settings.console.print(f"{name:>16}  {value:.6g}", markup=False, highlight=False)
    if processes:
        settings.console.print(_processes_table(processes))


def _processes_table(report: dict[str, Any]) -> RichTable:
    """Return the newest report on the processes of a run: a row each, what holds the others up in its scores."""
    title = f"steps to {report['step']}: {report['tokens_per_second']:.0f} tokens/s"
    shown = RichTable("rank", "host", "share", "rows/s", "relative", "individual", "work s", "wait s", "bytes/step",
                      title=title)  # fmt: skip
    for rank in report["ranks"]:
        scores = ("-" if rank[name] is None else f"{rank[name]:.2f}" for name in ("relative", "individual"))
        seconds = (f"{rank[name]:.3f}" for name in ("compute_seconds", "wait_seconds"))
        shown.add_row(
            str(rank["rank"]), rank["host"], str(rank["share"]), f"{rank['rows_per_second']:.1f}", *scores, *seconds,
            f"{rank['gradient_bytes']:,}", style="bold" if rank["rank"] in report["stragglers"] else None,
        )  # fmt: skip
    return shown


@turnmill_command("logs", help="Print what the processes of a run wrote: numbers and messages, nothing of the data.")
@click.argument("run_id")
def show_logs(settings: Settings, run_id: str) -> None:
    """Print the log of a run."""
    from pipelines.training.launchers import read_log

    _, folder = one_run(settings, run_id)
    if settings.json:
        settings.emit({"run_id": run_id, "log": read_log(folder)})
    else:
        click.echo(read_log(folder), nl=False)


@turnmill_command("cancel", help="End the processes of a run on this machine; it can go on from its last checkpoint.")
@click.argument("run_id")
def cancel_run(settings: Settings, run_id: str) -> None:
    """End the processes of a run; its row is closed by the driver that follows it, or by the next run."""
    from pipelines.training.launch import LocalTorchrun

    run, folder = one_run(settings, run_id)
    ended = LocalTorchrun({}).cancel(folder)
    if settings.json:
        settings.emit({"run_id": run_id, "ended": ended})
        return
    told = f"go on: turnmill train --decision {run['trigger_key']}" if ended else "no process of it runs here"
    settings.console.print(f"{run_id}: {'ended; ' if ended else ''}{told}", markup=False, highlight=False)
