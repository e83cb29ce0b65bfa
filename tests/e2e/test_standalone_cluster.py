"""The whole flow as spark-submit jobs on a Spark standalone cluster: two workers, the driver outside, RPC encrypted.

A worker is killed in the middle of the ingest; the rows are those of local mode. Workers offer a GPU that a discovery
script invents, so that the embed job can ask for one.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from jobs.options import Settings
from jobs.streaming import Schedule
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import FEW_ROWS, QUICK_START
from pipelines.intake.landing import Intake
from pipelines.synthetic.log_records import generate

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
MAX_OFFSETS = 15
SAME = {
    "landing": 'topic, "partition", "offset", entry, position, outcome, tenant, turn_id, content_id, text, reason',
    "turns": "tenant, turn_id, parent_id, role, text, text_hash, consent, user_ref, conversation_ref",
    "feedback": "tenant, feedback_id, kind, value, target_turn_id",
    "dead_letters": 'topic, "partition", "offset", entry, position, reason',
    "turn_signals": "tenant, turn_id, lang, keep, reason, n_words",
    "embeddings": "tenant, text_hash, model, n_tokens",
    "conversations": "tenant, conversation_id, n_turns, complete",
    # Of near duplicates whose logs give no time the first to land stays, and tasks race: how many, not which.
    "drops": "subject, rule, count(*) OVER (PARTITION BY subject, rule)",
    "training_examples": "tenant, kind, count(*) OVER (PARTITION BY tenant, kind)",
}


class Cluster:
    """A master and two workers of one core on loopback, each a process of its own."""

    def __init__(self, folder):
        self.folder, self.processes = folder, {}
        discovery = folder / "gpus.sh"
        discovery.write_text('#!/bin/sh\necho \'{"name": "gpu", "addresses": ["0"]}\'\n')
        discovery.chmod(0o755)
        # Spark reads no secret from a file of its own here, and a command line would show it to everybody.
        self.settings = folder / "cluster.conf"
        self.settings.touch(mode=0o600)
        self.settings.write_text(
            f"spark.authenticate true\nspark.authenticate.secret {secrets.token_hex(32)}\n"
            "spark.network.crypto.enabled true\nspark.network.crypto.authEngineVersion 2\n"
            "spark.network.crypto.cipher AES/GCM/NoPadding\nspark.io.encryption.enabled true\n"
            "spark.executor.memory 1g\nspark.executor.cores 1\nspark.cores.max 2\n"
            f"spark.worker.resource.gpu.amount 1\nspark.worker.resource.gpu.discoveryScript {discovery}\n"
            "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\nspark.locality.wait 0s\n"
            "spark.worker.cleanup.enabled true\n"
        )
        self.port, self.page = free_port(), free_port()

    @property
    def url(self):
        return f"spark://127.0.0.1:{self.port}"

    def start(self):
        self._run("master", "master.Master", "--port", self.port, "--webui-port", self.page)
        self._wait(lambda _: True)
        for name in ("worker-1", "worker-2"):
            flags = ("--cores", 1, "--memory", "1500m", "--webui-port", 0, "--work-dir", self.folder / name)
            self._run(name, "worker.Worker", *flags, self.url)
        self._wait(lambda state: state["aliveworkers"] == 2)

    def _run(self, name, role, *flags):
        command = ["spark-class", f"org.apache.spark.deploy.{role}", "--host", "127.0.0.1"]
        command += ["--properties-file", self.settings, *flags]
        with (self.folder / f"{name}.log").open("wb") as log:
            environment = environment_of_a_shell() | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "512m"}
            self.processes[name] = subprocess.Popen(
                list(map(str, command)), env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def state(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as answer:
                return json.loads(answer.read())
        except OSError:
            return None

    def _wait(self, holds):
        deadline = time.monotonic() + START_SECONDS
        while not ((state := self.state()) and holds(state)):
            assert time.monotonic() < deadline, f"the cluster did not start: see {self.folder}"
            time.sleep(0.2)

    def kill(self, name):
        """End a worker and its executors as a machine that loses power would."""
        process = self.processes.pop(name)
        for child in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
            child.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self):
        for name in list(self.processes):
            self.kill(name)


def free_port():
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def environment_of_a_shell():
    bin_folder = Path(sys.executable).parent
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK_", "SPARK_"))}
    return environment | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def logs(kafka):
    """Name of a topic with the logs of some talks."""
    from pipelines.adapters.kafka_topics import ensure_topics

    ensure_topics(kafka, partitions=2, topics=("test-cluster",))
    records = [(record.value, record.headers) for record in generate(16, seed=11)]
    assert load_records(records, kafka, topic="test-cluster").acknowledged == len(records)
    return "test-cluster"


@pytest.fixture(scope="module")
def settings(kafka, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lakes")
    return {name: Settings(folder / name, folder / "keys", kafka) for name in ("local", "cluster")}


def submitted(cluster, job, settings, *flags, conf=()):
    """Start ``spark-submit $(turnmill spark-args --master URL) jobs/JOB.py`` as the README writes it."""
    given = ["--lake", settings.lake, "--keys", settings.keys, "--bootstrap", settings.bootstrap, "--json", *flags]
    quick = [f"spark.{role}.extraJavaOptions={' '.join(QUICK_START)}" for role in ("driver", "executor")]
    few = [f"{key}={value}" for key, value in FEW_ROWS.items()]
    more = [part for one in (*quick, *few, *conf) for part in ("--conf", one)]
    line = (
        f"spark-submit $(turnmill spark-args --master {cluster.url}) --properties-file {cluster.settings} "
        f"{shlex.join(more)} jobs/{job}.py {shlex.join(map(str, given))}"
    )
    # Spark tells much on standard error: a pipe that nobody reads would stop it.
    told = cluster.folder / f"{job}.told"
    with told.open("wb") as out, told.with_suffix(".log").open("wb") as err:
        process = subprocess.Popen(
            ["bash", "-c", line], cwd=ROOT, env=environment_of_a_shell(), stdout=out, stderr=err, start_new_session=True
        )
    process.told = told
    return process


def figures_of(process):
    assert process.wait(timeout=300) == 0, end_of_log(process)
    return json.loads(process.told.read_text().splitlines()[-1])


def end_of_log(process):
    return process.told.with_suffix(".log").read_text()[-3000:]


def rows(settings, table):
    found = connect(Lake(settings.lake)).sql(f"SELECT {SAME[table]} FROM {table}").fetchall()
    return sorted(map(str, found))


def run_locally(settings, topic):
    from jobs.assemble_batch import assemble
    from jobs.curate_batch import curate_lake
    from jobs.embed_stream import embed_turns
    from jobs.filter_stream import filter_turns
    from jobs.ingest_stream import ingest
    from jobs.settle_stream import settle

    once = Schedule(None, available_now=True)
    ingest(settings, once, Intake(settings.keys), topics=[topic], max_offsets=MAX_OFFSETS)
    settle(settings, once)
    filter_turns(settings, once)
    embed_turns(settings, once)
    assemble(settings, idle_minutes=None)
    curate_lake(settings)


def test_a_cluster_gives_the_rows_of_local_mode_though_a_worker_is_killed(spark, cluster, logs, settings):
    run_locally(settings["local"], logs)
    on_cluster, committed = settings["cluster"], Lake(settings["cluster"].lake).checkpoint("ingest") / "commits"
    ingest = submitted(
        cluster, "ingest_stream", on_cluster, "--available-now", "--topic", logs, "--max-offsets", MAX_OFFSETS
    )
    while not list(committed.glob("[0-9]*")):
        assert ingest.poll() is None, end_of_log(ingest)
        time.sleep(0.05)
    cluster.kill("worker-1")
    assert ingest.poll() is None, "it had ended before the worker was killed"
    assert figures_of(ingest)["batches"] > 1
    for job in ("settle_stream", "filter_stream"):
        figures_of(submitted(cluster, job, on_cluster, "--available-now"))
    gpu = ("spark.executor.resource.gpu.amount=1", "spark.task.resource.gpu.amount=1")
    embedded = figures_of(submitted(cluster, "embed_stream", on_cluster, "--available-now", conf=gpu))
    assert embedded["failed"] == 0
    figures_of(submitted(cluster, "assemble_batch", on_cluster, "--available-now"))
    figures_of(submitted(cluster, "curate_batch", on_cluster))
    assert cluster.state()["aliveworkers"] == 1
    for table in SAME:
        assert rows(on_cluster, table) == rows(settings["local"], table), table
        assert rows(on_cluster, table) or table == "drops", table
