"""``turnmill runs join``: bring this machine into a run that was launched on another one."""

from __future__ import annotations

import os
import socket

import click

from jobs.options import Settings, UserError, turnmill_command
from jobs.runs_show import one_run


@turnmill_command("join", help="Bring this machine's processes into a run of several machines.")
@click.argument("run_id")
def join_run(settings: Settings, run_id: str) -> None:
    """Run this machine's part of a run to its end, from the folder that all machines share."""
    from pipelines.training.launch import join
    from pipelines.training.launchers import TrainingFailed
    from pipelines.training.run_spec import SPEC_FILE, RunSpec

    _, folder = one_run(settings, run_id)
    if not (folder / SPEC_FILE).is_file():
        raise UserError(f"{run_id}: wanted {SPEC_FILE} in the run's folder, found none; share the lake's folder")
    spec = RunSpec.read(folder / SPEC_FILE)
    if spec.nodes == 1:
        raise UserError(f"{run_id}: wanted a run of several machines, found one of a single machine")
    try:
        log = join(spec, folder, dict(os.environ), socket.gethostname())
    except TrainingFailed as failed:
        raise UserError(f"{run_id}: {failed}") from failed
    if settings.json:
        settings.emit({"run_id": run_id, "log": str(log)})
    else:
        settings.console.print(f"{run_id}: this machine is done", markup=False, highlight=False)
