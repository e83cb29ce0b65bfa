"""Where a run runs: torchrun on this machine. Other launchers take the same specification and give the same result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipelines.training.run_spec import ADAPTER_FOLDER, LOG_FILE, PROGRESS_FILE, RunResult, RunSpec

Progress = Callable[[int, int], None]
POLL_SECONDS = 0.2
STOP_SECONDS = 10.0


class TrainingFailed(Exception):
    """The run ended without a result; the message names the exit code and the log, and quotes nothing of it."""

    safe_to_show = True


@dataclass(frozen=True)
class LocalTorchrun:
    """Runs a specification under ``python -m torch.distributed.run`` on this machine.

    ``environment`` is what the processes start from; the hub is switched off in it, since base and data are folders.
    """

    environment: Mapping[str, str]
    name: str = "local-torchrun"

    def run(self, spec: RunSpec, folder: Path, progress: Progress | None = None) -> RunResult:
        """Run ``spec`` in ``folder`` and return its figures. Raises ``TrainingFailed``; interrupts end the processes.

        Output of the processes goes to ``train.log`` in the folder, progress as (step, steps) to ``progress``.
        """
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", str(spec.nproc), "--module", "pipelines.training.sft_worker"),
            str(spec.write(folder)),
        ]
        environment = {
            **self.environment,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "TOKENIZERS_PARALLELISM": "false",
            # A waiting OpenMP thread spins by default: a step takes four times as long where a core is shared.
            "OMP_WAIT_POLICY": "PASSIVE",
            "GOMP_SPINCOUNT": "0",
            "KMP_BLOCKTIME": "0",
            "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // spec.nproc)),
        }
        with (folder / LOG_FILE).open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )
            try:
                code = _follow(process, folder / PROGRESS_FILE, progress)
            finally:
                _end(process)
        if code != 0:
            raise TrainingFailed(
                f"The training processes ended with code {code}; their output is in {LOG_FILE} of the run"
            )
        if not (folder / ADAPTER_FOLDER / "adapter_model.safetensors").is_file():
            raise TrainingFailed("The training processes ended well but left no adapter_model.safetensors")
        return RunResult.read(folder)


def _follow(process: subprocess.Popen[bytes], lines: Path, progress: Progress | None) -> int:
    """Wait for the processes and tell each new line of progress; returns the exit code."""
    import orjson

    read = 0
    while True:
        code = process.poll()
        if progress and lines.is_file():
            with lines.open("rb") as file:
                file.seek(read)
                whole = file.read().rpartition(b"\n")
            if whole[0]:
                read += len(whole[0]) + 1
                last = orjson.loads(whole[0].rpartition(b"\n")[2])
                progress(last["step"], last["steps"])
        if code is not None:
            return code
        time.sleep(POLL_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process group that this launcher started, kindly first."""
    if process.poll() is not None:
        return
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, kind)
            process.wait(STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
