"""What a machine must have for Turnmill, each thing checked by itself, with what to do about it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from pipelines.adapters.java import TESTED_MAJORS, JavaError, find_java

NEEDED_DISK_BYTES = 2 * 1024**3
"""The demo with its jars stays below this; a lake of one's own needs about three times its logs."""

NEEDED_MEMORY_BYTES = 4 * 1024**3
"""Spark's driver (1 GiB at least), broker (0.5), Python workers and the models of the demo."""

EXTRAS = {
    "jobs": ("confluent_kafka", "pyspark", "delta", "great_expectations", "pandas"),
    "embed": ("sentence_transformers", "lancedb", "torch", "transformers"),
    "train": ("accelerate", "datasets", "peft", "safetensors", "tokenizers", "trl"),
}


class State(StrEnum):
    """How a check ended; only ``fail`` keeps the demo from running."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """One line of the report: what was looked at, how it is, what was found, and what to do about it."""

    name: str
    state: State
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Places:
    """Where this installation keeps what it has. ``bootstrap`` is a cluster given by the user, if any."""

    lake: Path
    keys: Path
    kafka: Path
    bootstrap: str | None = None


def check_machine(places: Places) -> Iterator[Check]:
    """Yield the checks in the order in which the parts are needed; none raises, whatever the machine lacks."""
    checks: tuple[Callable[[Places], Iterator[Check]], ...] = (
        _java, _packages, _jars, _disk, _memory, _kafka, _keys, _gpu,
    )  # fmt: skip
    for check in checks:
        try:
            yield from check(places)
        except Exception as failure:
            yield Check(check.__name__.strip("_"), State.FAIL, f"the check itself failed ({type(failure).__name__})")


def _java(_: Places) -> Iterator[Check]:
    try:
        java = find_java()
    except JavaError as failure:
        yield Check("java", State.FAIL, str(failure), "sudo apt-get install -y openjdk-17-jre-headless")
        return
    if java.is_tested:
        yield Check("java", State.OK, f"Java {java.version} at {java.home}")
    else:
        tested = " and ".join(map(str, TESTED_MAJORS))
        yield Check("java", State.WARN, f"Java {java.version} is untested", f"if Spark fails, use Java {tested}")


def _packages(_: Places) -> Iterator[Check]:
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            state = State.FAIL if extra == "jobs" else State.WARN
            advice = f"pip install 'turnmill[{extra}]', or `uv sync` in a checkout"
            yield Check(f"extra {extra}", state, "missing: " + ", ".join(missing), advice)
        else:
            yield Check(f"extra {extra}", State.OK, f"{len(modules)} packages")
    if importlib.util.find_spec("pandas") and importlib.metadata.version("pandas").split(".")[0] != "2":
        found = f"pandas {importlib.metadata.version('pandas')}"
        yield Check("pandas", State.FAIL, found, "pip install 'pandas<3': PySpark 4.2 needs pandas 2")


def _jars(_: Places) -> Iterator[Check]:
    from pipelines.adapters import jars

    for name, listed in jars.jar_sets().items():
        megabytes = sum(jar.size for jar in listed) / 1e6
        if not jars.is_cached(name):
            advice = f"the first run downloads them ({megabytes:.0f} MB) to {jars.cache_folder()}"
            yield Check(f"jars {name}", State.WARN, "not in the cache yet", advice)
        elif different := jars.verify(name):
            advice = f"remove {jars.jars_folder(name)}; the next run downloads it again"
            yield Check(f"jars {name}", State.FAIL, f"{len(different)} differ, first {different[0]}", advice)
        else:
            yield Check(f"jars {name}", State.OK, f"{len(listed)} jars, {megabytes:.0f} MB, sha256 verified")


def _disk(places: Places) -> Iterator[Check]:
    from pipelines.adapters.jars import cache_folder

    for name, folder in (("lake", places.lake), ("cache", cache_folder())):
        there = _nearest_existing(folder)
        free = shutil.disk_usage(there).free
        if not os.access(there, os.W_OK):
            yield Check(f"disk {name}", State.FAIL, f"{there} cannot be written to", "choose another folder")
        elif free < NEEDED_DISK_BYTES:
            advice = f"free {(NEEDED_DISK_BYTES - free) / 1e9:.1f} GB, or choose another folder"
            yield Check(f"disk {name}", State.FAIL, f"{free / 1e9:.1f} GB free at {there}", advice)
        else:
            yield Check(f"disk {name}", State.OK, f"{free / 1e9:.0f} GB free at {there}")


def _memory(_: Places) -> Iterator[Check]:
    memory = psutil.virtual_memory()
    found = f"{memory.available / 1e9:.1f} GB available of {memory.total / 1e9:.1f}, {os.cpu_count()} cores"
    if memory.available < NEEDED_MEMORY_BYTES:
        yield Check("memory", State.WARN, found, "close other programs; the demo wants 4 GB")
    else:
        yield Check("memory", State.OK, found)


def _kafka(places: Places) -> Iterator[Check]:
    if importlib.util.find_spec("confluent_kafka") is None:
        yield Check("kafka", State.FAIL, "the Kafka client is not installed", "pip install 'turnmill[jobs]'")
        return
    from pipelines.adapters.kafka_broker import EmbeddedBroker
    from pipelines.adapters.kafka_clients import KafkaError
    from pipelines.adapters.kafka_topics import topic_partitions

    bootstrap = places.bootstrap or EmbeddedBroker(places.kafka).bootstrap
    if bootstrap is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
        yield Check("kafka", State.OK, "the embedded broker is not running; a loopback port for it is free")
        return
    try:
        topics = topic_partitions(bootstrap, timeout=10)
    except KafkaError as failure:
        yield Check("kafka", State.FAIL, str(failure), "check the address and the network, or leave --bootstrap out")
        return
    yield Check("kafka", State.OK, f"{bootstrap} answers, {len(topics)} topics")


def _keys(places: Places) -> Iterator[Check]:
    folder = places.keys
    if not folder.is_dir():
        yield Check("keys", State.OK, f"no key folder yet; the first ingest makes {folder}")
        return
    wrong = [path for path in (folder, *folder.iterdir()) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if wrong:
        advice = f"chmod 700 {folder} && chmod 600 {folder}/*"
        yield Check("keys", State.FAIL, f"others may read {wrong[0]}", advice)
    elif folder.is_relative_to(places.lake):
        yield Check("keys", State.FAIL, f"{folder} lies inside the lake", "move it out of the lake, use --keys")
    else:
        yield Check("keys", State.OK, f"{folder}, for its owner only")


def _gpu(_: Places) -> Iterator[Check]:
    if importlib.util.find_spec("torch") is None:
        yield Check("gpu", State.WARN, "torch is not installed", "pip install 'turnmill[embed,train]'")
        return
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
        yield Check("gpu", State.OK, ", ".join(names))
    elif shutil.which("nvidia-smi"):
        advice = f"install a torch for your driver; this one is {torch.__version__}"
        yield Check("gpu", State.WARN, "a driver is there, but torch sees no GPU", advice)
    else:
        yield Check("gpu", State.OK, "none; embedding and training run on the CPU")


def _nearest_existing(folder: Path) -> Path:
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder
