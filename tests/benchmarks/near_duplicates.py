"""How well and how fast near duplicates are found, ours and its peers', in one run over the same planted pairs.

    uv run python tests/benchmarks/near_duplicates.py [--peers-python PATH]

Texts come from public chat sets and from a chain of words over them (``duplicate_sets``). Copies are edited in 3, 8 and
25 of 100 words; texts of one template with another number or name, and texts with one number changed, are no copies. A
system gets all accepted texts and then all new ones, in a process of its own on one thread. A row is right when it is
dropped as a repeat of its original, or of another accepted text that shares most of its words with that (public texts
come in drafts); a fault when it is dropped otherwise; systems that name no original are trusted.

``near_duplicates_growth.py`` measures ours alone at growing sizes of the accepted set. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from duplicate_sets.chat_texts import WordChain, public_texts
from duplicate_sets.planted import LEVELS, UNLABELLED, Planted, planted

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS = "turnmill"
WITH_MEANING = "turnmill_semantic"
"""The semantic pass after it: embeds all texts, minutes on a CPU, so that it runs on request (``--systems``)."""

PEERS = ("datasketch", "rensa", "semhash", "text_dedup")
THRESHOLDS = {OURS: (0.8,), WITH_MEANING: (0.8,), "semhash": (0.9, 0.8)}
PEER_THRESHOLDS = (0.8, 0.5)
"""Jaccard indices: the usual one, and one at which heavy edits can be found."""

SAME_DRAFT = 0.7
"""Share of common words from which two accepted texts are drafts of one text, either of which a copy may name."""

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def ask(name: str, python: str, request: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Run a system in a process of its own; tell what went wrong without any text."""
    paths = os.pathsep.join((str(HERE), str(ROOT)) if name in (OURS, WITH_MEANING) else (str(HERE),))
    environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": paths}
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "request", Path(folder) / "answer"
        source.write_text(json.dumps(request))
        command = [python, "-W", "ignore", "-m", "duplicate_peers.worker", name, str(source), str(out)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return {"missing": f"no answer in {timeout:.0f} seconds"}
        if done.returncode or not out.exists():
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            return {"missing": f"ended with {done.returncode}: {last[0].partition(':')[0] if last else ''}"}
        answer: dict[str, Any] = json.loads(out.read_bytes())
        return answer


def is_repeat_of(place: int, original: int | None, accepted: list[str]) -> bool:
    """Tell whether naming the accepted text at ``place`` is right for a copy of ``original``."""
    if original is None or place == -1:
        return False
    if place in (original, -2):
        return True
    one, other = (set(accepted[at].lower().split()) for at in (place, original))
    return 2 * len(one & other) >= SAME_DRAFT * (len(one) + len(other))


def scores(new: list[Planted], matched: list[int], accepted: list[str]) -> dict[str, Any]:
    """Return precision, recall and F1 a level, over its copies and all texts that are no copies, and faults by kind."""
    faults: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one, place in zip(new, matched, strict=True):
        is_right = is_repeat_of(place, one.original, accepted)
        right[one.kind] += is_right
        faults[one.kind] += place != -1 and not is_right
    counts = Counter(one.kind for one in new)
    wrong = sum(count for kind, count in faults.items() if kind not in (*LEVELS, UNLABELLED))
    levels = {
        level: _f1(right[level], faults[level] + wrong, counts[level] - right[level])
        for level in LEVELS
        if counts[level]
    }
    return levels | {"faults": {kind: f"{count} of {counts[kind]}" for kind, count in faults.items() if count}}


def _f1(right: int, wrong: int, missed: int) -> dict[str, float]:
    precision, recall = right / max(right + wrong, 1), right / max(right + missed, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def quality(flags: argparse.Namespace, public: list[str]) -> dict[str, Any]:
    """Compare the systems on planted pairs."""
    chain = WordChain(public, flags.seed)
    made = [chain.text() for _ in range(flags.accepted)]
    half = len(public) // 2
    unrelated = [chain.text() for _ in range(flags.accepted // 4)]
    accepted, new = planted(public[:half] + made, unrelated, public[half:], flags.planted, flags.seed)
    systems: dict[str, Any] = {}
    for name in flags.systems:
        python = sys.executable if name in (OURS, WITH_MEANING) else flags.peers_python
        for threshold in THRESHOLDS.get(name, PEER_THRESHOLDS):
            request = {"accepted": accepted, "new": [one.text for one in new], "threshold": threshold}
            answer = ask(name, python, request, flags.timeout)
            matched = answer.pop("matched", None)
            systems[f"{name} {threshold}"] = answer if matched is None else answer | scores(new, matched, accepted)
            if "missing" in answer:
                break
    return {"accepted": len(accepted), "new": dict(Counter(one.kind for one in new)), "systems": systems}


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    shared = ROOT.parent / "shared" / "data" / "conversations"
    parser.add_argument("--data", type=Path, default=shared, help="folder of the public chat sets")
    parser.add_argument("--systems", nargs="+", choices=(OURS, WITH_MEANING, *PEERS), default=(OURS, *PEERS))
    parser.add_argument("--accepted", type=int, default=20_000, help="made texts among the accepted")
    parser.add_argument("--public", type=int, default=None, help="public texts, drawn by the seed  [default: all]")
    parser.add_argument("--planted", type=int, default=1000, help="copies a level, and templated pairs")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a system may take")
    parser.add_argument("--peers-python", default=sys.executable, help="Python of an environment with the peers")
    return parser


def main() -> int:
    """Measure and print."""
    flags = options().parse_args()
    public = public_texts(flags.data)
    if flags.public is not None:
        public = random.Random(flags.seed).sample(public, min(flags.public, len(public)))
    print(json.dumps(quality(flags, public)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
