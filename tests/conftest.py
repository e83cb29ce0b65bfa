"""What tests share: one Spark session, one broker, a lake in a temporary folder."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from pipelines.adapters.lake import Lake


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the kill, cluster, fuzz and page tests")


WORKERS = 2
"""Most processes of ``-n auto``: each has a Spark session and a broker of its own, some 3 GiB."""
# Alone, tests without a JVM come first: they tell most of what is wrong within seconds. Beside each other they come
# last: the small files fill up whichever process is done with its large ones first.
ALONE, BESIDE = ("unit", "spark", "e2e", "faults"), ("e2e", "spark", "faults", "unit")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the processes of ``-n auto``: xdist itself counts cores that share one as one."""
    return min(WORKERS, os.cpu_count() or 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    order = BESIDE if hasattr(config, "workerinput") else ALONE
    places = {name: place for place, name in enumerate(order)}
    items.sort(key=lambda item: places.get(Path(item.path).parent.name, len(places)))
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="a long test: run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The Spark session of all tests."""
    from pipelines.adapters.spark_session import spark_session

    session = spark_session("turnmill tests", short_lived=True)
    yield session
    session.stop()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake(tmp_path / "lake")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Bootstrap address of a real broker of this session, with the product's topics; gone afterwards."""
    from pipelines.adapters.kafka_broker import running_broker
    from pipelines.adapters.kafka_topics import ensure_topics

    with running_broker(tmp_path_factory.mktemp("kafka")) as bootstrap:
        ensure_topics(bootstrap)
        yield bootstrap


@pytest.fixture
def topic(kafka: str) -> str:
    """Name of a fresh topic of two partitions with the settings of ``turnmill.logs``."""
    from pipelines.adapters.kafka_topics import ensure_topics

    name = f"test-{uuid.uuid4().hex[:12]}"
    ensure_topics(kafka, partitions=2, topics=(name,))
    return name


@pytest.fixture(scope="session")
def random_base() -> Callable[..., None]:
    """Writes a base of random weights, some 0.1M, that knows ``words``: gradients do not ask whether it speaks."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from pipelines.training.base_model import train_tokenizer

    def write(folder: Path, words: Sequence[str], *, tied: bool = True) -> None:
        tokenizer = train_tokenizer((" ".join(random.Random(i).choices(words, k=5)) for i in range(50)), 300)
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=tied,
            bos_token_id=None, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        )  # fmt: skip
        LlamaForCausalLM(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    return write


@pytest.fixture(scope="module")
def run_places(tmp_path_factory: pytest.TempPathFactory, random_base: Callable[..., None]) -> dict[str, str]:
    """Folders of a base with random weights and of a dataset of few words, as fields of a run's specification."""
    import orjson

    words = ["sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain", "snow", "fire"]

    def row(i: int) -> dict[str, list[dict[str, str]]]:
        asked = random.Random(i).choices(words, k=3)
        return {
            "prompt": [{"role": "user", "content": f"Turn round: {' '.join(asked)}"}],
            "completion": [{"role": "assistant", "content": " ".join(reversed(asked))}],
        }

    base, dataset = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("dataset")
    random_base(base, words)
    for split, rows in (("train", range(64)), ("validation", range(100, 108))):
        (dataset / f"{split}.jsonl").write_bytes(b"".join(orjson.dumps(row(i)) + b"\n" for i in rows))
    return {"dataset": str(dataset), "base": str(base), "base_label": "b@1"}
