"""Freshness of a deployment: from an event in Kafka to ``turns``, and to ``turnmill search``, at a steady rate.

    uv run python tests/benchmarks/freshness.py [--rate 2000] [--minutes 10] [--only streams] [--backlog 10]

Starts a broker and ``turnmill up`` on a new lake, sends single-turn records of distinct texts at the rate, and reads
afterwards from the tables' logs when each row was committed. An event counts as found by search from the first moment
that the index stood at versions that hold its turn, its signals and its vector. The first ``--warm-up`` seconds do not
count. With ``--backlog N`` the jobs then stop while N seconds' worth more events arrive for each second of ``--pause``,
and the time to drain them is told. Memory is the sum of resident sets of all jobs, each five seconds. Prints one line
of JSON; seconds and bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import orjson
import polars as pl
from confluent_kafka import Producer
from ingest import records

from pipelines.adapters.child_process import tree_memory
from pipelines.adapters.kafka_broker import running_broker
from pipelines.adapters.kafka_clients import client_settings
from pipelines.adapters.kafka_topics import ensure_topics
from pipelines.adapters.lake import Lake
from pipelines.adapters.stream_lag import kafka_lag
from pipelines.index.by_model import active_choice
from pipelines.index.standing import read_standing
from pipelines.supervision.states import read_state, state_file
from schemas.records import LOGS_TOPIC

START_SECONDS = 240
SEEN_SECONDS = 0.25


@contextlib.contextmanager
def deployment(lake: Lake, bootstrap: str, flags: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``turnmill up`` and wait until it is ready; stop it afterwards."""
    command = [sys.executable, "-m", "jobs.command_line", "up", "--lake", str(lake.path), "--bootstrap", bootstrap]
    process = subprocess.Popen([*command, "--metrics-port", "0", *flags], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready(lake, process):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("turnmill up did not become ready")
            time.sleep(0.5)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def is_ready(lake: Lake, process: subprocess.Popen[bytes]) -> bool:
    """Tell whether this supervisor says that every job does what it should."""
    state = read_state(state_file(lake.path))
    return state is not None and state.pid == process.pid and not state.troubles()


class Watch(threading.Thread):
    """Notes when the index first stood at which versions, and the memory of all jobs over time."""

    def __init__(self, lake: Lake, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self.lake, self.process, self.ended = lake, process, threading.Event()
        self.standings: list[tuple[float, dict[str, int]]] = []
        self.memory: list[tuple[float, int]] = []

    def run(self) -> None:
        """Look until ``ended`` is set."""
        measured_at = 0.0
        while not self.ended.wait(SEEN_SECONDS):
            choice = active_choice(self.lake.index)
            standing = read_standing(self.lake.index / choice.name) if choice else None
            if standing and (not self.standings or self.standings[-1][1] != standing.versions):
                self.standings.append((time.time(), standing.versions))
            if time.monotonic() - measured_at >= 5:
                measured_at = time.monotonic()
                self.memory.append((time.time(), tree_memory(self.process.pid)))


def send(bootstrap: str, values: Iterator[bytes], rate: float, seconds: float) -> int:
    """Send ``rate`` records a second for so long, evenly in steps of 50 ms; return how many."""
    producer = Producer({**client_settings(bootstrap), "linger.ms": 5, "queue.buffering.max.messages": 1_000_000})
    begun, sent = time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds:
        for _ in range(int(rate * passed) - sent):
            producer.produce(LOGS_TOPIC, next(values))
            sent += 1
        producer.poll(0)
        time.sleep(0.05)
    producer.flush(60)
    return sent


def commits(lake: Lake, table: str, columns: list[str]) -> pl.DataFrame:
    """Return the rows that each commit of a table added, with its ``version`` and ``committed_at``."""
    found = []
    for path in sorted((lake.table(table) / "_delta_log").glob("*.json")):
        for action in map(orjson.loads, path.read_bytes().splitlines()):
            if (add := action.get("add")) and add["dataChange"]:
                rows = pl.read_parquet(lake.table(table) / unquote(add["path"]), columns=columns)
                at = pl.lit(path.stat().st_mtime).alias("committed_at")
                found.append(rows.with_columns(pl.lit(int(path.stem)).alias("version"), at))
    return pl.concat(found)


def quantiles(seconds: np.ndarray) -> dict[str, float]:
    """Return the median and the 99th percentile, and how many there were."""
    if not len(seconds):
        return {"n": 0}
    p50, p99 = np.quantile(seconds, (0.5, 0.99))
    return {
        "n": len(seconds),
        "p50": round(float(p50), 2),
        "p99": round(float(p99), 2),
        "max": round(float(seconds.max()), 2),
    }


def to_turns(lake: Lake, since: float) -> dict[str, float]:
    """Return quantiles of the seconds from Kafka's time of an event to the commit of its turn."""
    turns = commits(lake, "turns", ["kafka_at"])
    sent = turns["kafka_at"].dt.epoch("us") / 1e6
    return quantiles((turns["committed_at"] - sent).filter(sent >= since).to_numpy())


def to_search(lake: Lake, since: float, standings: list[tuple[float, dict[str, int]]]) -> dict[str, float]:
    """Return quantiles of the seconds from Kafka's time of an event to an index that holds it."""
    turns = commits(lake, "turns", ["turn_id", "text_hash", "kafka_at"]).rename({"version": "turns"})
    signals = commits(lake, "turn_signals", ["turn_id", "keep"]).rename({"version": "turn_signals"})
    vectors = commits(lake, "embeddings", ["text_hash"]).rename({"version": "embeddings"})
    joined = turns.join(signals.filter("keep"), on="turn_id").join(
        vectors.unique("text_hash"), on="text_hash", how="left"
    )
    sent = (joined["kafka_at"].dt.epoch("us") / 1e6).to_numpy()
    at = np.array([when for when, _ in standings])
    seen = np.zeros(len(joined), dtype=np.int64)
    for table in ("turns", "turn_signals", "embeddings"):
        stood = np.maximum.accumulate(np.array([versions.get(table, -1) for _, versions in standings]))
        wanted = joined[table].fill_null(np.iinfo(np.int64).max).to_numpy()
        seen = np.maximum(seen, np.searchsorted(stood, wanted))
    found = seen < len(at)
    counted = sent >= since
    ages = at[seen[found & counted]] - sent[found & counted]
    return {**quantiles(ages), "not_found_yet": int((~found & counted).sum())}


def drain_backlog(lake: Lake, bootstrap: str, flags: list[str], values: Iterator[bytes], count: int) -> dict[str, Any]:
    """Send ``count`` records while no job runs, then start the jobs; return how they caught up."""
    send(bootstrap, values, count / 20, 20)
    with deployment(lake, bootstrap, flags) as process:
        watch, begun = Watch(lake, process), time.monotonic()
        watch.start()
        while (kafka_lag(lake, "ingest", bootstrap).behind or 0) > 0:
            time.sleep(0.5)
        seconds = time.monotonic() - begun
        watch.ended.set()
    return {"records": count, "seconds": round(seconds, 1), "peak_bytes": max(size for _, size in watch.memory)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=2000.0, help="events a second")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--warm-up", type=float, default=60.0, help="seconds that do not count")
    parser.add_argument("--settle", type=float, default=60.0, help="seconds to wait at the end for what is under way")
    parser.add_argument("--only", action="append", default=[], help="a job of turnmill up; may be given again")
    parser.add_argument("--model", default=None)
    parser.add_argument("--every", default=None, help="seconds between micro-batches of the streams")
    parser.add_argument("--backlog", type=int, default=0, help="records to drain afterwards")
    options = parser.parse_args()
    flags = [flag for job in options.only for flag in ("--only", job)]
    flags += ["--model", options.model] if options.model else []
    flags += ["--every", options.every] if options.every else []
    values = (value for value, _ in records(10**9))
    with tempfile.TemporaryDirectory() as folder, running_broker(Path(folder) / "kafka") as bootstrap:
        ensure_topics(bootstrap)
        lake = Lake(Path(folder) / "lake")
        with deployment(lake, bootstrap, flags) as process:
            watch = Watch(lake, process)
            watch.start()
            since = time.time() + options.warm_up
            sent = send(bootstrap, values, options.rate, options.warm_up + options.minutes * 60)
            time.sleep(options.settle)
            behind = kafka_lag(lake, "ingest", bootstrap).behind
            watch.ended.set()
        figures: dict[str, Any] = {
            "rate": options.rate, "minutes": options.minutes, "only": options.only, "sent": sent, "behind": behind,
            "to_turns": to_turns(lake, since), "memory": memory_over_time(watch.memory, since),
        }  # fmt: skip
        if not options.only or "index" in options.only:
            figures["to_search"] = to_search(lake, since, watch.standings)
        if options.backlog:
            figures["backlog"] = drain_backlog(lake, bootstrap, flags, values, options.backlog)
    print(json.dumps(figures))


def memory_over_time(memory: list[tuple[float, int]], since: float) -> dict[str, int]:
    """Return the mean memory of the first and of the last quarter of the measured time, and the peak."""
    sizes = [size for at, size in memory if at >= since]
    quarter = max(len(sizes) // 4, 1)
    first, last = np.mean(sizes[:quarter]), np.mean(sizes[-quarter:])
    return {"first_quarter": int(first), "last_quarter": int(last), "peak": max(sizes)}


if __name__ == "__main__":
    os.environ.setdefault("TURNMILL_DRIVER_MEMORY", "2g")
    main()
