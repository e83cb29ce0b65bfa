"""Texts a second of each backend beside sentence-transformers' default ``encode`` and model2vec, in one run, as JSON.

python tests/benchmarks/embedding.py [STS.csv]

Wall seconds are the medians of rounds that take turns; CPU seconds tell the same on a machine that others use too.
model2vec is measured where it is installed. With an STS file, the loss of rank correlation is told too.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipelines.embedding.encoder import BACKENDS, DEFAULT_MODEL, SentenceTransformerEncoder
from pipelines.embedding.models import resolve_model
from pipelines.embedding.parity import compare, read_pairs

ROUNDS = 3
TEXTS = 64
WORDS = [
    *("the", "order", "was", "sent", "back", "because", "our", "router", "lost", "its"),
    *("address", "and", "nobody", "at", "the", "desk", "could", "tell", "why"),
]


def chat_texts(n: int) -> list[str]:
    """Texts of 5 to 400 words, log-normal as chat turns are."""
    random = np.random.default_rng(7)
    lengths = np.clip(np.exp(random.normal(3.6, 1.0, n)), 5, 400).astype(int)
    return [" ".join(random.choice(WORDS, length)) for length in lengths]


def contenders() -> dict[str, Callable[[list[str]], object]]:
    """Name and encode function of each."""
    from sentence_transformers import SentenceTransformer

    found: dict[str, Callable[[list[str]], object]] = {
        "sentence-transformers": SentenceTransformer(str(resolve_model(DEFAULT_MODEL)), device="cpu").encode
    }
    for backend in BACKENDS:
        device = "cpu" if backend == "torch" else None
        found[backend] = SentenceTransformerEncoder(f"{DEFAULT_MODEL}@{backend}", device, long_texts="head").encode
    if importlib.util.find_spec("model2vec"):
        from model2vec.distill import distill

        found["model2vec"] = distill(str(resolve_model(DEFAULT_MODEL)), pca_dims=256).encode
    return found


def main() -> None:
    """Print one JSON line."""
    texts = chat_texts(TEXTS)
    encoders = contenders()
    wall: dict[str, list[float]] = {name: [] for name in encoders}
    cpu: dict[str, list[float]] = {name: [] for name in encoders}
    for encode in encoders.values():
        encode(texts)
    for _ in range(ROUNDS):
        for name, encode in encoders.items():
            started, started_cpu = time.perf_counter(), time.process_time()
            encode(texts)
            wall[name].append(time.perf_counter() - started)
            cpu[name].append(time.process_time() - started_cpu)
    base = {kind: statistics.median(of["sentence-transformers"]) for kind, of in (("wall", wall), ("cpu", cpu))}
    report: dict[str, object] = {
        name: {
            "texts_per_second": round(TEXTS / statistics.median(wall[name]), 1),
            "times_default_wall": round(base["wall"] / statistics.median(wall[name]), 2),
            "times_default_cpu": round(base["cpu"] / statistics.median(cpu[name]), 2),
        }
        for name in encoders
    }
    if len(sys.argv) > 1:
        others = [SentenceTransformerEncoder(f"{DEFAULT_MODEL}@{backend}") for backend in BACKENDS[1:]]
        results = compare(SentenceTransformerEncoder(device="cpu"), others, read_pairs([Path(sys.argv[1])]))
        report["sts"] = {r.backend: {"spearman": round(r.spearman, 4), "loss": round(r.loss, 4)} for r in results}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
