"""A run on this machine, by torchrun: started once, followed by whoever asks, ended by its process group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
import psutil

from pipelines.training.launchers import (
    Launcher,
    Progress,
    RunStatus,
    TrainingFailed,
    read_log,
    recorded_status,
)
from pipelines.training.run_lock import LAUNCH_LOCK, is_alive, take
from pipelines.training.run_spec import ADAPTER_FOLDER, LOG_FILE, RESULT_FILE, SPEC_FILE, RunResult, RunSpec

LAUNCH_FILE = "launch.json"
POLL_SECONDS = 0.2
STOP_SECONDS = 10.0


@dataclass(frozen=True)
class LocalTorchrun:
    """Runs a specification under ``python -m torch.distributed.run`` on this machine.

    ``environment`` is what the processes start from; the hub is switched off in it, since base and data are folders.
    The processes outlive the one that launched them, and hold the folder's lock as long as they live.
    """

    environment: Mapping[str, str]
    name: str = "local-torchrun"

    def launch(self, spec: RunSpec, folder: Path) -> None:
        """Start the processes unless they run or a result is there; a stopped run goes on from its checkpoint."""
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / RESULT_FILE).is_file() or is_alive(folder):
            return
        lock = take(folder / LAUNCH_LOCK)
        if lock is None:
            return
        try:
            path = spec.write(folder)
            with (folder / LOG_FILE).open("ab") as log:
                process = subprocess.Popen(
                    torchrun_command(spec, path),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=worker_environment(self.environment, spec.nproc),
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            told = {"pid": process.pid, "created": psutil.Process(process.pid).create_time()}
            (folder / LAUNCH_FILE).write_bytes(orjson.dumps(told))
            _CHILDREN[str(folder)] = process
        finally:
            os.close(lock)

    def status(self, folder: Path) -> RunStatus:
        """Tell where the run stands."""
        return recorded_status(folder, is_alive=is_alive(folder))

    def cancel(self, folder: Path) -> bool:
        """End the process group of the run, kindly first."""
        leader = _leader(folder)
        if leader is None:
            return False
        for kind in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(leader.pid, kind)
                leader.wait(STOP_SECONDS)
                break
            except psutil.TimeoutExpired:
                continue
            except (ProcessLookupError, psutil.NoSuchProcess):
                break
        _reap(folder)
        return True

    def logs(self, folder: Path) -> str:
        """Return the output of all processes so far."""
        return read_log(folder)

    def run(self, spec: RunSpec, folder: Path, progress: Progress | None = None) -> RunResult:
        """Launch ``spec`` in ``folder``, follow it and return its figures; see ``follow``."""
        self.launch(spec, folder)
        return follow(self, folder, progress)


def join(spec: RunSpec, folder: Path, environment: Mapping[str, str], host: str) -> Path:
    """Run this machine's part of a run of several, to its end; returns its log, which lies beside that of the others.

    Raises ``TrainingFailed`` for a run that takes no further machine from here, or whose part here ended badly.
    """
    lock = take(folder / f"join-{host}.lock")
    if lock is None:
        raise TrainingFailed(f"wanted one part of the run on {host}, found one that lives")
    path = folder / f"train.{host}.log"
    try:
        with path.open("ab") as log:
            done = subprocess.run(
                torchrun_command(spec, folder / SPEC_FILE),
                stdout=log,
                stderr=subprocess.STDOUT,
                env=worker_environment(environment, spec.nproc),
                check=False,
            )
    finally:
        os.close(lock)
    if done.returncode:
        raise TrainingFailed(f"The part of the run on {host} ended with code {done.returncode}; see {path.name}")
    return path


def follow(launcher: Launcher, folder: Path, progress: Progress | None = None) -> RunResult:
    """Wait for a launched run and return its figures; ``progress`` is told (step, steps).

    Raises ``TrainingFailed`` for a run that ended without a result. An interrupt ends the run's processes.
    """
    told = 0
    try:
        while True:
            status = launcher.status(folder)
            if progress and status.step > told:
                told = status.step
                progress(status.step, status.steps)
            if status.state != "running":
                break
            time.sleep(POLL_SECONDS)
    except BaseException:
        launcher.cancel(folder)
        raise
    code = _reap(folder)
    if status.state != "succeeded":
        how = "without a result" if code is None else f"with code {code}"
        raise TrainingFailed(f"The training processes ended {how}; their output is in {LOG_FILE} of the run")
    if not any((folder / ADAPTER_FOLDER).glob("*.safetensors")):
        raise TrainingFailed("The training processes ended well but left no safetensors")
    return RunResult.read(folder)


def torchrun_command(spec: RunSpec, spec_path: Path, python: str = sys.executable) -> list[str]:
    """Return the command that starts the processes of a run on this machine, which meet those of others, if any."""
    return [
        *(python, "-m", "torch.distributed.run", *_meeting(spec), "--nproc-per-node", str(spec.nproc)),
        *("--max-restarts", str(spec.max_restarts), "--module", "pipelines.training.worker", str(spec_path)),
    ]


def _meeting(spec: RunSpec) -> list[str]:
    """Return how the machines of a run find each other; as few as ``least_nodes`` begin, and others may come and go."""
    if spec.nodes == 1:
        return ["--standalone"]
    count = f"{spec.least_nodes}:{spec.nodes}" if 0 < spec.least_nodes < spec.nodes else str(spec.nodes)
    return [
        *("--nnodes", count, "--rdzv-backend", "c10d", "--rdzv-id", spec.run_id, "--rdzv-endpoint", spec.rendezvous),
    ]


def worker_environment(environment: Mapping[str, str], nproc: int) -> dict[str, str]:
    """Return ``environment`` with the hub off, telemetry off, and threads that leave room for each other."""
    return {
        **environment,
        **OFFLINE,
        **FRESH_MEETING,
        "TOKENIZERS_PARALLELISM": "false",
        # A waiting OpenMP thread spins by default: a step takes four times as long where a core is shared.
        "OMP_WAIT_POLICY": "PASSIVE",
        "GOMP_SPINCOUNT": "0",
        "KMP_BLOCKTIME": "0",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // nproc)),
    }


OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
FRESH_MEETING = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""Processes that start again meet in a new store: in torchrun's own they find the addresses of those that died."""
_CHILDREN: dict[str, subprocess.Popen[bytes]] = {}
"""Runs that this process launched: an ended child stays a zombie until it is waited for."""


def _reap(folder: Path) -> int | None:
    """Return the exit code of a run that this process launched; None for another's."""
    process = _CHILDREN.pop(str(folder), None)
    return None if process is None else process.wait()


def _leader(folder: Path) -> psutil.Process | None:
    """Find the run's first process; a number that was given to another process since does not count."""
    try:
        told = orjson.loads((folder / LAUNCH_FILE).read_bytes())
        process = psutil.Process(told["pid"])
        return process if abs(process.create_time() - told["created"]) < 1.0 else None
    except (FileNotFoundError, orjson.JSONDecodeError, psutil.NoSuchProcess):
        return None
