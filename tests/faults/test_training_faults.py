"""Ranks that are killed, hang or cannot write: the run takes all its steps or ends typed, and never from a half."""

import os
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import orjson
import psutil
import pytest

from pipelines.training.checkpoints import MANIFEST, is_complete, latest_complete
from pipelines.training.launch import LocalTorchrun, join
from pipelines.training.launchers import TrainingFailed
from pipelines.training.run_spec import SPEC_FILE, RunSpec
from pipelines.training.trainers import CHECKPOINTS

pytestmark = pytest.mark.long

STEPS = 24
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def specified(run_places, **changes):
    fields = {"max_steps": STEPS, "nproc": 2, "batch_size": 4, "max_length": 64, "lora_rank": 4, "save_steps": 5}
    return RunSpec("run-1", "ds-1", **run_places, **{**fields, **changes})


def last_step(folder):
    path = folder / "progress.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return orjson.loads(lines[-1])["step"] if lines else 0


def workers():
    """The processes of the run by rank, once all of them are there."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        try:
            command, environment = process.cmdline(), process.environ()
        except psutil.Error:
            continue
        if "pipelines.training.worker" in command and "torch.distributed.run" not in command:
            found[int(environment["RANK"])] = process
    return found


def waited_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "what the test waits for did not come"
        time.sleep(0.001)
    return found


def unsealed(folder):
    """A checkpoint that is being written."""
    return [c for c in (folder / CHECKPOINTS).glob("checkpoint-*") if not (c / MANIFEST).is_file()]


def assert_ends_typed(spec, folder, disturb):
    """Run while ``disturb`` runs beside it: the run must end as failed, without a result."""
    disturbing = threading.Thread(target=disturb, daemon=True)
    disturbing.start()
    with pytest.raises(TrainingFailed, match="ended with code 1"):
        LocalTorchrun(ENVIRONMENT).run(spec, folder)
    disturbing.join(30)
    assert not (folder / "result.json").exists()


def test_two_launches_make_one_run_and_ranks_killed_in_a_step_and_in_a_save_cost_it_no_step(run_places, tmp_path):
    spec, seen = specified(run_places, max_restarts=2), []

    def kill():
        waited_for(lambda: last_step(tmp_path) >= 7)
        workers()[1].kill()
        resumed = waited_for(lambda: (tmp_path / "starts").stat().st_size == 2 and last_step(tmp_path) > 7)
        assert resumed
        (half, *_) = waited_for(lambda: unsealed(tmp_path))
        workers()[0].kill()
        seen.append((half, is_complete(half, spec.digest)))

    with ThreadPoolExecutor(3) as threads:
        killer = threads.submit(kill)
        results = [threads.submit(LocalTorchrun(ENVIRONMENT).run, spec, tmp_path) for _ in range(2)]
        one, other = (result.result(240) for result in results)
        killer.result(1)
    assert one == other
    assert (one.steps, one.extra["restarts"]) == (STEPS, 2.0)
    assert seen
    steps = [orjson.loads(line)["step"] for line in (tmp_path / "progress.jsonl").read_bytes().splitlines()]
    assert set(steps) == set(range(1, STEPS + 1))
    assert one.extra["resumed_at_step"] % spec.save_steps == 0
    assert one.loss_after < one.loss_before


def test_a_rank_that_hangs_ends_the_run_typed_when_the_collective_has_waited_long_enough(run_places, tmp_path):
    spec = specified(run_places, collective_seconds=6.0)

    def hang():
        waited_for(lambda: last_step(tmp_path) >= 6)
        stuck = workers()[1]
        stuck.suspend()
        # The launcher asks the other process to end, which one that is stopped cannot hear.
        waited_for(lambda: 0 not in workers())
        stuck.resume()

    assert_ends_typed(spec, tmp_path, hang)
    assert latest_complete(tmp_path / CHECKPOINTS, spec.digest) is not None


def test_a_save_that_does_not_fit_ends_the_run_typed_and_the_next_launch_goes_on_from_what_is_whole(
    run_places, tmp_path
):
    spec = specified(run_places)

    def fill():
        waited_for(lambda: latest_complete(tmp_path / CHECKPOINTS, spec.digest))
        for process in workers().values():
            # No file of these processes grows beyond this: writing fails as on a full disk, with another number.
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (16_384, 16_384))

    assert_ends_typed(spec, tmp_path, fill)
    whole = latest_complete(tmp_path / CHECKPOINTS, spec.digest)
    assert [c.name for c in unsealed(tmp_path)] != [whole.name]
    result = LocalTorchrun(ENVIRONMENT).run(spec, tmp_path)
    assert (result.steps, result.extra["resumed_at_step"]) == (STEPS, float(whole.name.rpartition("-")[2]))


def test_two_machines_meet_and_train_one_run(run_places, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fields = {"nproc": 1, "nodes": 2, "least_nodes": 2, "max_steps": 6, "save_steps": 0}
    spec = specified(run_places, **fields | {"rendezvous": f"127.0.0.1:{port}"})
    launcher = LocalTorchrun(ENVIRONMENT)
    launcher.launch(spec, tmp_path)
    waited_for(lambda: (tmp_path / SPEC_FILE).is_file())
    log = join(spec, tmp_path, ENVIRONMENT, "second.example")
    result = launcher.run(spec, tmp_path)
    assert (result.nproc, result.steps) == (2, 6)
    assert log.name == "train.second.example.log"
    assert result.extra["rank1_share"] == 4.0
