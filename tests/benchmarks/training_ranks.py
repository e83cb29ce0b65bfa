"""Runs the worker's training on forked processes over invented chats, for benchmarks of what happens between them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402
import torch  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

from pipelines.training import worker  # noqa: E402
from pipelines.training.base_model import train_tokenizer  # noqa: E402
from pipelines.training.distributed.rank_lines import read_reports  # noqa: E402
from pipelines.training.pinned_inputs import pinned_inputs  # noqa: E402
from pipelines.training.process_group import joined_processes  # noqa: E402
from pipelines.training.run_spec import RunSpec  # noqa: E402

WORDS = [a + b for a in ("sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain") for b in ("", "rise", "fall")]
SEED = 20_261_201
PERIOD = 0.01
"""Seconds that a throttled process runs before it is stopped for longer."""


def row(i: int) -> dict[str, Any]:
    """A question whose answer follows from it, so that a loss can fall."""
    asked = random.Random(f"{SEED}-{i}").choices(WORDS, k=random.Random(i).randint(6, 16))
    return {
        "prompt": [{"role": "user", "content": f"Turn round: {' '.join(asked)}"}],
        "completion": [{"role": "assistant", "content": " ".join(reversed(asked))}],
    }


@contextlib.contextmanager
def prepared(rows: int) -> Iterator[Path]:
    """Yield a folder with a base of random weights (1.0M) and a dataset of ``rows`` training rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = (f"{row(i)['prompt'][0]['content']} {row(i)['completion'][0]['content']}" for i in range(200))
        tokenizer = train_tokenizer(texts, 2048)
        torch.manual_seed(SEED)
        config = LlamaConfig(
            vocab_size=2048, hidden_size=128, intermediate_size=352, num_hidden_layers=4, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=True, bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        )  # fmt: skip
        LlamaForCausalLM(config).save_pretrained(folder / "base")
        tokenizer.save_pretrained(folder / "base")
        (folder / "dataset").mkdir()
        for split, places in (("train", range(1000, 1000 + rows)), ("validation", range(64))):
            lines = b"".join(orjson.dumps(row(i)) + b"\n" for i in places)
            (folder / "dataset" / f"{split}.jsonl").write_bytes(lines)
        yield folder


def trained(folder: Path, name: str, slow: int | None = None, **fields: Any) -> dict[str, Any]:
    """Train on two processes, the one of rank ``slow`` held to a third of its time; return figures and reports."""
    run = folder / name
    run.mkdir()
    places = {"dataset": str(folder / "dataset"), "base": str(folder / "base"), "base_label": "random@1"}
    spec = RunSpec(name, "invented", **places, nproc=2, lora_alpha=32, evaluation_rows=64, **fields)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    forked = multiprocessing.get_context("fork")
    ranks = [forked.Process(target=_rank, args=(spec, run, rank, port)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    done = threading.Event()
    throttle = threading.Thread(target=_throttle, args=(ranks[slow or 0].pid, done), daemon=True)
    if slow is not None:
        throttle.start()
    for rank in ranks:
        rank.join(300)
    done.set()
    if any(rank.exitcode for rank in ranks):
        raise SystemExit(f"{name}: a process ended badly:\n{(run / 'rank-0.log').read_text()[-2000:]}")
    return {**orjson.loads((run / "figures.json").read_bytes()), "reports": read_reports(run)}


def _throttle(pid: int | None, done: threading.Event) -> None:
    """Stop the process two thirds of the time, as a host that is shared or too hot does."""
    assert pid is not None
    with contextlib.suppress(ProcessLookupError):
        while not done.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(2 * PERIOD)
            os.kill(pid, signal.SIGCONT)
            time.sleep(PERIOD)


def _rank(spec: RunSpec, run: Path, rank: int, port: int) -> None:
    with (run / f"rank-{rank}.log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    torch.set_num_threads(1)
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in place.items()}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": "benchmark"}
    with joined_processes(pinned_inputs(spec), 120) as group:
        result = worker.train(spec, run, group)
        if group.is_first:
            (run / "figures.json").write_bytes(orjson.dumps(result.metrics))
