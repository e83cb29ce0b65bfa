"""``turnmill up`` for real: a job killed, the supervisor killed, a stop; nothing lost and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from click.testing import CliRunner

from jobs.command_line import main
from jobs.options import Exit
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.supervision.states import read_state, state_file
from pipelines.synthetic.log_records import generate

pytestmark = pytest.mark.long

READY_SECONDS = 240
INTERVALS = (
    "--every",
    "1",
    "--embed-every",
    "1",
    "--index-every",
    "1",
    "--assemble-every",
    "2",
    "--curate-every",
    "600",
)


class Running:
    """``turnmill up`` as a process of its own on a lake and a topic."""

    def __init__(self, lake, kafka, topic):
        self.lake = lake
        self.command = [sys.executable, "-m", "jobs.command_line", "up", "--lake", str(lake.path), "--bootstrap", kafka]
        self.environment = {**os.environ, "TURNMILL_INGEST_TOPIC": topic, "TURNMILL_DRIVER_MEMORY": "1g"}
        self.process = None

    def start(self):
        self.process = subprocess.Popen([*self.command, *INTERVALS], env=self.environment, stderr=subprocess.DEVNULL)

    def wait_until(self, holds, what, *, every=0.2):
        deadline = time.monotonic() + READY_SECONDS
        while not ((now := self.state()) and holds(now)):
            assert self.process.poll() is None, f"it ended before {what}"
            assert time.monotonic() < deadline, f"waited in vain for {what}: {now and now.troubles()}"
            time.sleep(every)
        return now

    def state(self):
        state = read_state(state_file(self.lake.path))
        return state if state and state.pid == self.process.pid else None

    def ready(self):
        return self.wait_until(lambda now: not now.troubles(), "readiness")

    def job(self, name):
        return next(job for job in self.state().jobs if job.name == name)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def up(kafka, tmp_path_factory):
    """A supervisor that runs on a lake and is ready, with all logs of its topic on their way."""
    from pipelines.adapters.kafka_topics import ensure_topics

    ensure_topics(kafka, partitions=2, topics=("test-up",))
    records = [(record.value, record.headers) for record in generate(30, seed=7)]
    assert load_records(records, kafka, topic="test-up").acknowledged == len(records)
    running = Running(Lake(tmp_path_factory.mktemp("up") / "lake"), kafka, "test-up")
    running.start()
    try:
        running.ready()
        yield running
    finally:
        running.end()


def gone(pids):
    deadline = time.monotonic() + 60
    while alive := [pid for pid in pids if psutil.pid_exists(pid)]:
        assert time.monotonic() < deadline, f"still running: {alive}"
        time.sleep(0.2)
    return True


def test_a_job_that_is_killed_is_started_again_and_its_jvm_is_gone(up):
    killed = up.job("embed").pid
    tree = [killed, *(child.pid for child in psutil.Process(killed).children(recursive=True))]
    os.kill(killed, signal.SIGKILL)
    up.wait_until(lambda _: up.job("embed").pid not in (None, killed), "a new process")
    assert gone(tree)
    assert up.job("embed").ending == "killed"
    up.ready()


def test_a_second_supervisor_on_the_lake_is_refused(up):
    told = subprocess.run(up.command, capture_output=True, text=True, check=False)
    assert told.returncode == Exit.FAILED
    assert "found another one running" in told.stderr


def test_a_probe_tells_readiness_by_its_exit_code(up):
    told = CliRunner().invoke(main, ["status", "--ready", "--lake", str(up.lake.path)])
    assert (told.exit_code, told.stdout) == (0, "ready\n")


def test_a_stop_is_clean_within_half_a_minute(up):
    jobs = [job.pid for job in up.state().jobs]
    up.process.terminate()
    assert up.process.wait(timeout=45) == 0
    assert gone(jobs)
    assert {job.phase for job in read_state(state_file(up.lake.path)).jobs} == {"stopped"}


def test_jobs_stop_with_a_supervisor_that_is_killed(up):
    up.start()
    state = up.wait_until(lambda now: all(job.pid for job in now.jobs), "its jobs")
    up.process.kill()
    up.process.wait()
    assert gone([job.pid for job in state.jobs])
