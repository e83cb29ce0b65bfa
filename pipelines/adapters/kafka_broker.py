"""A real Kafka broker of one node, run by Turnmill in a folder of its own, reachable from this machine only."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from filelock import FileLock

from pipelines.adapters.jars import Progress, classpath
from pipelines.adapters.java import find_java
from pipelines.adapters.kafka_clients import client_settings
from pipelines.adapters.kafka_settings import JVM_OPTIONS, LOG4J_SETTINGS, server_properties

START_ATTEMPTS = 3
START_SECONDS = 90.0
STOP_SECONDS = 20.0
OLD_START_LOG_BYTES = 1_000_000


class BrokerError(RuntimeError):
    """The embedded broker did not start or stop; the message says where its log is."""

    safe_to_show = True


class _EndedWhileStartingError(BrokerError):
    """The broker's process is gone before it answered."""


@dataclass(frozen=True)
class BrokerStatus:
    """What is known of the embedded broker of a folder. ``started`` is in seconds since 1970."""

    running: bool
    folder: str
    bootstrap: str | None = None
    pid: int | None = None
    started: float | None = None
    memory_bytes: int | None = None
    data_bytes: int = 0


@dataclass(frozen=True)
class _State:
    pid: int
    started: float
    bootstrap: str
    controller_port: int
    data: str


class EmbeddedBroker:
    """The broker whose data, settings and log lie in ``folder`` (mode 0700: raw text lies there, and only there)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._properties = self.folder / "server.properties"
        self._state_file = self.folder / "broker.json"
        self._start_log = self.folder / "logs" / "start.log"

    def start(self, timeout: float = START_SECONDS, progress: Progress | None = None) -> str:
        """Return the bootstrap address (``127.0.0.1:PORT``) of the running broker, started when it is not running.

        Formats the data folder on first use; keeps its ports from one start to the next while they are free. The
        broker gets a session of its own, so that it outlives the terminal; ``running_broker`` ties it to a process.
        Errors: ``BrokerError`` when it does not answer within ``timeout`` seconds; ``JavaError``; ``JarError``.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        with FileLock(self.folder / ".lock"):
            process, state = self._find()
            if process is None or state is None:
                if process is not None:
                    _end(process, STOP_SECONDS)
                return self._launched(timeout, progress)
            self._wait_until_it_answers(process, state.bootstrap, timeout)
            return state.bootstrap

    def _launched(self, timeout: float, progress: Progress | None) -> str:
        """Start the broker; once more where it ended at once: a free port may be another's before Kafka takes it."""
        for attempts_left in reversed(range(START_ATTEMPTS)):
            process, state = self._launch(progress)
            try:
                self._wait_until_it_answers(process, state.bootstrap, timeout)
            except _EndedWhileStartingError:
                if not attempts_left:
                    raise
            else:
                break
        return state.bootstrap

    def stop(self, timeout: float = STOP_SECONDS) -> bool:
        """Stop the broker, by force after ``timeout`` seconds (acknowledged records stay); False if none ran."""
        if not self.folder.is_dir():
            return False
        with FileLock(self.folder / ".lock"):
            process, _ = self._find()
            if process is not None:
                _end(process, timeout)
            return process is not None

    def status(self) -> BrokerStatus:
        """Tell whether the broker runs, where it listens, and how much it holds in memory and on disk."""
        process, state = self._find()
        data_bytes = _bytes_below(self.folder / "data")
        if process is None or state is None:
            return BrokerStatus(False, str(self.folder), data_bytes=data_bytes)
        memory = None
        with contextlib.suppress(psutil.Error):
            memory = process.memory_info().rss
        return BrokerStatus(True, str(self.folder), state.bootstrap, process.pid, state.started, memory, data_bytes)

    @property
    def bootstrap(self) -> str | None:
        """Address of the running broker, None when it does not run."""
        process, state = self._find()
        return state.bootstrap if process is not None and state is not None else None

    def _find(self) -> tuple[psutil.Process | None, _State | None]:
        """Find the broker's process and state; a stale state file counts for nothing, an orphan has no state."""
        state = self._read_state()
        if state is not None:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(state.pid)
                if self._is_ours(process):
                    return process, state
        for process in psutil.process_iter():
            if self._is_ours(process):
                return process, None
        return None, None

    def _is_ours(self, process: psutil.Process) -> bool:
        # The number of a dead process is given to another one; the command line with our own file is not.
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            return command[-2:] == ["kafka.Kafka", str(self._properties)] and process.status() != psutil.STATUS_ZOMBIE
        return False

    def _read_state(self) -> _State | None:
        try:
            return _State(**json.loads(self._state_file.read_text("utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def _launch(self, progress: Progress | None) -> tuple[psutil.Process, _State]:
        java = find_java()
        jars = os.pathsep.join(map(str, classpath("broker", progress)))
        port, controller_port = self._choose_ports()
        (self.folder / "logs").mkdir(exist_ok=True)
        self._properties.write_text(server_properties(port, controller_port), "utf-8")
        (self.folder / "log4j2.xml").write_text(LOG4J_SETTINGS, "utf-8")
        command = [str(java.executable), *JVM_OPTIONS, "-Dlog4j2.configurationFile=log4j2.xml", "-cp", jars]
        if self._start_log.exists() and self._start_log.stat().st_size > OLD_START_LOG_BYTES:
            self._start_log.unlink()
        with self._start_log.open("ab") as log:
            if not (self.folder / "data" / "meta.properties").is_file():
                self._format(command, log.fileno())
            child = subprocess.Popen(
                [*command, "kafka.Kafka", str(self._properties)],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, umask=0o077,
            )  # fmt: skip
        process = psutil.Process(child.pid)
        state = _State(
            child.pid, process.create_time(), f"127.0.0.1:{port}", controller_port, str(self.folder / "data")
        )
        fresh = self._state_file.with_suffix(".fresh")
        fresh.write_text(json.dumps(asdict(state)), "utf-8")
        fresh.replace(self._state_file)
        return process, state

    def _format(self, command: list[str], log: int) -> None:
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        # Kafka's ids are 16 bytes in base64; the fixed first byte keeps them from looking like an option.
        cluster = base64.urlsafe_b64encode(b"t" + secrets.token_bytes(15)).rstrip(b"=").decode()
        arguments = ["format", "--cluster-id", cluster, "--config", str(self._properties)]
        done = subprocess.run(
            [*command, "kafka.tools.StorageTool", *arguments],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, umask=0o077, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise BrokerError(f"Kafka could not format its data folder in {self.folder}; see {self._start_log}.")

    def _choose_ports(self) -> tuple[int, int]:
        state = self._read_state()
        if state is not None:
            port = int(state.bootstrap.rpartition(":")[2])
            if _is_free(port) and _is_free(state.controller_port):
                return port, state.controller_port
        return _free_ports()

    def _wait_until_it_answers(self, process: psutil.Process, bootstrap: str, timeout: float) -> None:
        client = AdminClient(client_settings(bootstrap))
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            if not self._is_ours(process):
                raise _EndedWhileStartingError(
                    f"The Kafka broker ended while it started; see {self._start_log} and broker.log there."
                )
            with contextlib.suppress(KafkaException):
                if client.list_topics(timeout=1.0).brokers:
                    return
            time.sleep(0.1)
        raise BrokerError(
            f"The Kafka broker did not answer at {bootstrap} within {timeout:.0f} s; see {self._start_log}."
        )


@contextlib.contextmanager
def running_broker(folder: Path, timeout: float = START_SECONDS, progress: Progress | None = None) -> Iterator[str]:
    """Give the bootstrap address of the folder's broker, and stop it afterwards; also when this process is killed.

    A broker that was running already is used and left running.
    """
    broker = EmbeddedBroker(folder)
    if (bootstrap := broker.bootstrap) is not None:
        yield bootstrap
        return
    watch = subprocess.Popen(
        [sys.executable, "-m", "pipelines.adapters.kafka_watch", str(os.getpid()), str(broker.folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield broker.start(timeout, progress)
    finally:
        try:
            broker.stop()
        finally:
            watch.kill()
            watch.wait()


def _end(process: psutil.Process, timeout: float) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.terminate()
        try:
            process.wait(timeout)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(timeout)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            # Kafka preallocates its index files sparsely: count blocks on disk, not lengths.
            total += path.stat().st_blocks * 512 if path.is_file() else 0
    return total
