"""Search and sync of the vector index, ours and its peers', in one run over the same vectors.

    uv run python tests/benchmarks/index.py [--rows N] [--peers-python PATH] [--out FILE]

Vectors are of clusters of unequal sizes, as those of chat turns are; questions are indexed vectors moved a little. Each
system has a process of its own on one thread: it loads, builds, answers the questions one by one, then takes changed
rows, and answers again with deletes counted. Ours goes through the product's adapter, with tenants, pointer and fsync.

Prints one line of JSON: seconds to build, p50 and p99 in milliseconds, CPU milliseconds a question (for a machine that
others use too), questions a second, recall at 10, seconds to sync the changed rows, recall after it, hits that were
deleted, memory, bytes on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS = ("turnmill", "turnmill_batch")
PEERS = ("lancedb", "faiss_flat", "faiss_hnsw", "usearch")
K = 10


def made_vectors(rows: int, dimension: int, seed: int) -> np.ndarray:
    """Return unit vectors around rows / 200 centres of unequal weight."""
    random = np.random.default_rng(seed)
    n_centres = max(rows // 200, 4)
    centres = random.normal(size=(n_centres, dimension)).astype(np.float32)
    weights = random.pareto(1.5, n_centres) + 0.1
    labels = random.choice(n_centres, rows, p=weights / weights.sum())
    vectors = np.empty((rows, dimension), np.float32)
    for start in range(0, rows, 50_000):
        part = slice(start, start + 50_000)
        vectors[part] = centres[labels[part]] + random.normal(size=(len(labels[part]), dimension))
        vectors[part] /= np.linalg.norm(vectors[part], axis=1, keepdims=True)
    return vectors


def best_rows(vectors: np.ndarray, questions: np.ndarray, live: np.ndarray) -> np.ndarray:
    """Return the rows of the ``K`` nearest live vectors of each question."""
    scores = np.concatenate([vectors[start : start + 50_000] @ questions.T for start in range(0, len(vectors), 50_000)])
    scores[~live] = -2
    return np.argpartition(-scores, K, axis=0)[:K].T


def recall(found: list[list[int]], wanted: np.ndarray) -> float:
    """Share of the wanted rows that were found."""
    return round(sum(len(set(a) & set(b)) for a, b in zip(found, wanted.tolist(), strict=True)) / wanted.size, 4)


def ask(name: str, python: str, folder: Path, timeout: float) -> dict[str, Any]:
    """Run a system in a process of its own."""
    one = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LANCE_CPU_THREADS", "RAYON_NUM_THREADS")
    environment = os.environ | dict.fromkeys(one, "1") | {"PYTHONPATH": os.pathsep.join((str(HERE), str(ROOT)))}
    command = [python, "-W", "ignore", "-m", "index_systems.worker", name, str(folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return {"missing": f"no answer in {timeout:.0f} seconds"}
    if done.returncode:
        return {"missing": done.stderr.decode(errors="replace").strip().splitlines()[-1][:200]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--changed", type=int, default=10_000, help="rows that are replaced, half as many are removed")
    parser.add_argument("--systems", nargs="+", choices=(*OURS, *PEERS), default=(*OURS, *PEERS))
    parser.add_argument(
        "--peers-python", default=sys.executable, help="Python of an environment with FAISS and USearch"
    )
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds a system may take")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, help="write the line there too")
    flags = parser.parse_args()
    random = np.random.default_rng(flags.seed)
    vectors = made_vectors(flags.rows + flags.changed, flags.dimension, flags.seed)
    first = np.arange(flags.rows + flags.changed) < flags.rows
    picked = random.choice(flags.rows, flags.questions, replace=False)
    questions = vectors[picked] + 0.3 * random.normal(size=(flags.questions, flags.dimension)) / np.sqrt(
        flags.dimension
    )
    questions = (questions / np.linalg.norm(questions, axis=1, keepdims=True)).astype(np.float32)
    gone = random.choice(flags.rows, flags.changed + flags.changed // 2, replace=False)
    after = np.ones(len(vectors), bool)
    after[gone] = False
    wanted = {"before": best_rows(vectors, questions, first), "after": best_rows(vectors, questions, after)}
    figures: dict[str, Any] = {"rows": flags.rows, "dimension": flags.dimension, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        np.save(folder / "vectors.npy", vectors)
        np.savez(folder / "asked.npz", questions=questions, gone=gone, rows=np.array(flags.rows))
        for name in flags.systems:
            python = flags.peers_python if name.startswith(("faiss", "usearch")) else sys.executable
            answer = ask(name, python, folder, flags.timeout)
            for moment in ("before", "after"):
                found = answer.pop(f"found_{moment}", None)
                if found is not None:
                    answer[f"recall_{moment}"] = recall(found, wanted[moment])
                    if moment == "after":
                        answer["deleted_hits"] = sum(not after[row] for rows in found for row in rows)
            figures[name] = answer
            print(json.dumps({name: answer}), file=sys.stderr)
    line = json.dumps(figures)
    print(line)
    if flags.out:
        flags.out.write_text(line + "\n")


if __name__ == "__main__":
    main()
