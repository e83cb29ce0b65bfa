"""Start a system in a process of its own and ask it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_scores.outcome import Outcome
from privacy_sets.labelled import Sample

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
OURS = "turnmill"
PEERS = ("presidio", "scrubadub", "datafog", "datafog_core", "cpex")
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


class SystemFailed(RuntimeError):
    """A system's process ended or answered nonsense. The message names the system, never a text."""


class SystemProcess:
    """One system behind pipes; a context manager. ``missing`` says why it could not be loaded, or is empty."""

    def __init__(self, name: str, python: str = sys.executable, options: dict[str, Any] | None = None) -> None:
        paths = os.pathsep.join((str(HERE), str(ROOT)) if name == OURS else (str(HERE),))
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": paths}
        command = [python, "-W", "ignore", "-m", "privacy_peers.worker", name, json.dumps(options or {})]
        self.name = name
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.about: dict[str, Any] = self._read()
        self.missing: str = self.about.get("missing", "")

    def __enter__(self) -> SystemProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(30)

    def run(self, samples: Sequence[Sample], repeats: int, budget: float) -> tuple[list[Outcome], list[float]]:
        """Return what became of each text, and the seconds of each pass over all of them."""
        request = {
            "texts": [sample.text for sample in samples],
            "languages": [sample.language for sample in samples],
            "repeats": repeats,
            "budget": budget,
        }
        if self._process.stdin is None:
            raise SystemFailed(f"{self.name}: wanted an open pipe, found none")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "failed" in answer:
            raise SystemFailed(f"{self.name}: {answer['failed']}")
        outcomes = [
            Outcome(None, []) if spans is None else Outcome.of(sample.text, (tuple(span) for span in spans))
            for sample, spans in zip(samples, answer["spans"], strict=True)
        ]
        return outcomes, answer["seconds"]

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemFailed(
                f"{self.name}: wanted an answer, found that its process ended with {self._process.wait()}"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer
