"""Time, memory and recall of near duplicates while the accepted texts grow and the new ones do not.

    uv run python tests/benchmarks/near_duplicates_growth.py [--new 100000] [--sizes 100000 500000 2000000]

Texts are spliced from spans of public chat texts. A tenth of the new ones are copies of accepted texts with 8 of 100
words edited: a system that misses more of them as it grows is not fast but blind. One process, one thread; seconds of
processor time stand beside those of the clock, since other work shares the machine. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

from duplicate_sets.chat_texts import public_texts
from duplicate_sets.planted import LEVELS, MIN_WORDS, edited
from duplicate_sets.spliced import spliced

from pipelines.duplicates.index import AcceptedIndex, Batch

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 50_000
LEVEL, COPIES_A_NEW = "medium", 10


class Clock:
    """Seconds of the clock and of the processor since the last call."""

    def __init__(self) -> None:
        self.last = (time.perf_counter(), time.process_time())

    def __call__(self) -> dict[str, float]:
        now = (time.perf_counter(), time.process_time())
        told = {"wall_s": round(now[0] - self.last[0], 1), "cpu_s": round(now[1] - self.last[1], 1)}
        self.last = (time.perf_counter(), time.process_time())
        return told


def new_texts(first: list[str], pool: list[list[str]], count: int, seed: int) -> tuple[list[str], dict[str, str]]:
    """Return new texts, copies first, and for the id of each copy that of its original."""
    draw = random.Random(seed)
    fit = [place for place, text in enumerate(first) if len(text.split()) >= MIN_WORDS]
    chosen = draw.sample(fit, min(len(fit), count // COPIES_A_NEW))
    words = sorted({word for one in pool[:2000] for word in one if word.isalpha() and word.islower() and len(word) > 3})
    copies = [edited(first[place], LEVELS[LEVEL], draw, words) for place in chosen]
    originals = {f"new-{number:08}": f"{place:09}" for number, place in enumerate(chosen)}
    return copies + list(spliced(pool, count - len(copies), seed + 1)), originals


def measure(flags: argparse.Namespace) -> dict[str, Any]:
    """Accept texts up to each size, and decide the same new ones there."""
    pool = [text.split() for text in public_texts(flags.data)]
    stream = spliced(pool, max(flags.sizes), flags.seed)
    index, clock = AcceptedIndex(), Clock()
    batch: Batch | None = None
    originals: dict[str, str] = {}
    sizes: dict[str, Any] = {}
    new_seconds: dict[str, float] = {}
    sketching = 0.0
    for size in sorted(flags.sizes):
        while len(index) < size:
            texts = list(itertools.islice(stream, min(CHUNK, size - len(index))))
            if batch is None:
                fresh, originals = new_texts(texts, pool, flags.new, flags.seed)
                words = sum(len(text.split()) for text in fresh) / len(fresh)
                clock()
                batch = index.batch([f"new-{number:08}" for number in range(len(fresh))], fresh)
                new_seconds = clock()
                del fresh
            clock()
            index.accept(index.batch([f"{number:09}" for number in range(len(index), len(index) + len(texts))], texts))
            sketching += clock()["cpu_s"]
        assert batch is not None
        clock()
        verdicts = index.decide(batch)
        told = clock()
        found = sum(
            verdicts[place].matched_id == originals[one] for place, one in enumerate(batch.ids[: len(originals)])
        )
        sizes[str(size)] = {
            "decide": told,
            "accept_all_cpu_s": round(sketching, 1),
            "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "recall": round(found / len(originals), 4),
            "dropped_beside_copies": sum(one.dropped for one in verdicts[len(originals) :]),
            "crowded": index.crowded,
        }
        print(json.dumps({size: sizes[str(size)]}), file=sys.stderr, flush=True)
    return {"new": flags.new, "mean_words": round(words, 1), "sketch_new": new_seconds, "accepted": sizes}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    shared = ROOT.parent / "shared" / "data" / "conversations"
    parser.add_argument("--data", type=Path, default=shared, help="folder of the public chat sets")
    parser.add_argument("--new", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=(100_000, 500_000, 2_000_000))
    parser.add_argument("--seed", type=int, default=7)
    print(json.dumps(measure(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
