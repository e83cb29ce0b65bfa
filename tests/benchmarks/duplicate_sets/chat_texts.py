"""Distinct chat texts: public ones, and as many more as wanted from a chain of words over them."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FILES = (
    "oasst/en_100_tree.jsonl",
    "arena-hard/arena-hard-v0.1/question.jsonl",
    "arena-hard/arena-hard-v0.1/model_answer/gpt-4-0314.jsonl.gz",
    "arena-hard/arena-hard-v2.0/question.jsonl",
    "arena-hard/arena-hard-v2.0/model_answer/o3-mini-2025-01-31.jsonl.gz",
    "hh-rlhf/harmless-base/test.jsonl.gz",
)
MEAN_WORDS, SPREAD, MIN_WORDS, MAX_WORDS = 60, 0.8, 6, 600
"""Length of a made text: log-normal about this many words."""


def public_texts(data: Path) -> list[str]:
    """Return the distinct texts of the public sets, in the order of their files."""
    found: dict[str, None] = {}
    for name in FILES:
        path = data / name
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in raw.split(b"\n"):
            if line.strip():
                found.update(dict.fromkeys(text for text in _texts(json.loads(line)) if len(text.split()) >= MIN_WORDS))
    return list(found)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a record: members that hold prose, and the turns of talks written in one string."""
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name == "chosen":
                yield from (turn.partition(":")[2].strip() for turn in str(one).split("\n\n") if ":" in turn[:12])
            elif name in ("text", "prompt", "content", "answer") and isinstance(one, str):
                yield one.strip()
            else:
                yield from _texts(one)


class WordChain:
    """Makes texts that follow two words with one that followed them in the public texts; seeded."""

    def __init__(self, texts: list[str], seed: int) -> None:
        self._random = random.Random(seed)
        self._next: dict[tuple[str, str], list[str]] = defaultdict(list)
        for text in texts:
            words = text.split()[:MAX_WORDS]
            for first, second, third in zip(words, words[1:], words[2:], strict=False):
                self._next[first, second].append(third)
        self._starts = list(self._next)
        # Where many words may follow, texts part at once; elsewhere the chain would repeat what it has read.
        self._forks = [pair for pair, after in self._next.items() if len(set(after)) >= 3]

    def text(self) -> str:
        """Return a text of random length."""
        length = int(self._random.lognormvariate(0, SPREAD) * MEAN_WORDS)
        wanted = min(max(length, MIN_WORDS), MAX_WORDS)
        words = list(self._random.choice(self._forks))
        while len(words) < wanted:
            after = self._next.get((words[-2], words[-1]))
            stays = after and (len(words) % 4 or len(set(after)) > 1)
            words += [self._random.choice(after)] if after and stays else list(self._random.choice(self._forks))
        return " ".join(words[:wanted])
