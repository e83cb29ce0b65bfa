"""How many turns a second get all their quality signals on one core, and how many are flagged, on public chat turns.

    uv run python tests/benchmarks/quality.py [--data DIR] [--turns N] [--peers-python PATH]

Turns are the distinct ones of the public sets, shuffled with a fixed seed. The peer, DataTrove's Gopher filters for
repetition and quality (two signals' worth of ours), runs in the same run on a part of the same texts, under the Python
given with --peers-python (``pip install datatrove[processing] spacy``). Prints one line of JSON; ends with 0 and
says so where the public sets are not there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

from public_sets import DATASETS, DataMissing  # noqa: E402

from pipelines.intake.identity import IdentityKey  # noqa: E402
from pipelines.intake.items import Turn  # noqa: E402
from pipelines.intake.parse import parse_record  # noqa: E402
from pipelines.quality.filter import TEXTS_AT_ONCE  # noqa: E402
from pipelines.quality.rules import reason  # noqa: E402
from pipelines.quality.signals import Signals, TurnText, batch_signals  # noqa: E402

RUNS = 5
PEER_TURNS = 1_000
SEED = 20_261_201
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
FLAGS: dict[str, Callable[[Signals], bool]] = {
    "refusal": lambda one: one.refusal_score >= 0.5,
    "injection": lambda one: one.injection_score >= 0.5,
    "jailbreak": lambda one: one.jailbreak_score >= 0.5,
    "prompt_quote": lambda one: one.prompt_quote_score >= 0.5,
    "toxicity": lambda one: one.toxicity_score >= 0.5,
    "self_harm": lambda one: one.self_harm_score >= 0.5,
    "boilerplate": lambda one: one.boilerplate_share >= 0.5,
    "unfinished": lambda one: one.is_unfinished,
    "code_invalid": lambda one: one.code_validity == "invalid",
    "code_valid": lambda one: one.code_validity == "valid",
}

PEER = """
import json, sys, time
from datatrove.data import Document
from datatrove.pipeline.filters import GopherQualityFilter, GopherRepetitionFilter
documents = [Document(text=text, id=str(i)) for i, text in enumerate(json.load(open(sys.argv[1])))]
filters = [GopherRepetitionFilter(), GopherQualityFilter()]
def judged():
    started = time.process_time()
    kept = sum(all([one.filter(document) is True for one in filters]) for document in documents)
    return time.process_time() - started, kept
judged()
seconds, kept = zip(*(judged() for _ in range(3)))
speed = round(len(documents) / sorted(seconds)[1])
print(json.dumps({"turns_a_second": speed, "kept_share": kept[0] / len(documents)}))
"""


def public_turns(data: Path) -> list[TurnText]:
    """Return the distinct turns of all public sets, as ingest reads them; raises ``DataMissing``."""
    key = IdentityKey(bytes(32))
    found: dict[tuple[str, str], TurnText] = {}
    for one in DATASETS:
        for record in one.read(data):
            for log in one.render(record).logs if one.render else (record,):
                for item in parse_record(orjson.dumps(log), {}, key):
                    if isinstance(item, Turn):
                        said = item.message
                        has_content = bool(said.tool_calls or said.parts)
                        turn = TurnText(said.text, said.role, said.flags, said.finish_reason, has_content)
                        found.setdefault((said.role, said.text), turn)
    return list(found.values())


def timed(turns: list[TurnText]) -> tuple[float, list[Signals]]:
    """Return the processor seconds that the signals of all turns take, in batches as the stream has them."""
    started = time.process_time()
    found: list[Signals] = []
    for start in range(0, len(turns), TEXTS_AT_ONCE):
        found += batch_signals(turns[start : start + TEXTS_AT_ONCE])
    return time.process_time() - started, found


def peer(python: str, turns: list[TurnText]) -> dict[str, Any]:
    """Run DataTrove's filters on some of the turns in a process of its own; tell what went wrong without any text."""
    texts = [turn.text for turn in turns if turn.text.strip()][:PEER_TURNS]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.json"
        source.write_text(json.dumps(texts))
        command = [python, "-W", "ignore", "-c", PEER, str(source)]
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1")
        done = subprocess.run(command, env=environment, capture_output=True, timeout=900, check=False)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return {"missing": f"ended with {done.returncode}: {last[0].partition(':')[0] if last else ''}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer | {"turns": len(texts)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "conversations")
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--peers-python", default=None)
    flags = parser.parse_args()
    try:
        everything = public_turns(flags.data)
    except DataMissing as missing:
        print(json.dumps({"skipped": str(missing)}))
        return
    turns = random.Random(SEED).sample(everything, min(flags.turns, len(everything)))
    timed(turns[:TEXTS_AT_ONCE])
    seconds = statistics.median(timed(turns)[0] for _ in range(RUNS))
    _, found = timed(everything)
    told: dict[str, Any] = {
        "turns": len(turns),
        "mean_chars": round(statistics.mean(len(turn.text) for turn in turns)),
        "turns_a_second": round(len(turns) / seconds),
        "megabytes_a_second": round(sum(len(turn.text.encode()) for turn in turns) / seconds / 1e6, 2),
        "all_turns": len(everything),
        "reasons": Counter(reason(one) or "kept" for one in found),
        "flags": {name: sum(map(is_flagged, found)) for name, is_flagged in FLAGS.items()},
    }
    if flags.peers_python:
        told["datatrove_gopher"] = peer(flags.peers_python, turns)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
