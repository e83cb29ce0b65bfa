"""Serve one system over JSON lines: ``python -m privacy_peers.worker NAME OPTIONS``. Needs the standard library alone.

First line out: ``{"versions", "note", "claims"}`` or ``{"missing"}``. Then for each line ``{"texts", "languages",
"repeats", "budget"}`` in, one out: ``{"spans", "seconds"}`` or ``{"failed"}``; the seconds of each pass over all texts,
the first one included. No more passes are begun once ``budget`` seconds are spent.

A module a system beside this one, with ``PACKAGES`` (distributions whose versions are told), ``CLAIMS`` (its labels ->
our kinds), ``NOTE`` (how it is called) and ``load(**options)``, which returns a function: texts and their languages ->
(start, end, replacement) of each text in code points, or None for a text that is refused.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any, TextIO

WARM_UP = 50


def one_core() -> None:
    """Stay on the last core that is free to this process, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of installed distributions."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "in this checkout"
    return found


def answer(system: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Run a system over texts and time it."""
    texts, languages = request["texts"], request["languages"]
    system.find(texts[:WARM_UP], languages[:WARM_UP])
    seconds: list[float] = []
    results: list[Any] = []
    for _ in range(request["repeats"]):
        started = time.perf_counter()
        results = system.find(texts, languages)
        seconds.append(time.perf_counter() - started)
        if sum(seconds) > request["budget"]:
            break
    return {"spans": system.spans(texts, results), "seconds": seconds}


def serve(name: str, options: dict[str, Any], lines: TextIO, out: TextIO) -> None:
    """Load the system and answer until the input ends."""
    try:
        module = importlib.import_module(f"privacy_peers.{name}")
        system = module.System(**options)
    except (ImportError, OSError) as error:
        _write(out, {"missing": f"{type(error).__name__}: {error}".splitlines()[0]})
        return
    _write(out, {"versions": versions(module.PACKAGES), "note": module.NOTE, "claims": system.claims})
    for line in lines:
        try:
            _write(out, answer(system, json.loads(line)))
        except Exception as error:
            _write(out, {"failed": _place_of(error)})


def _place_of(error: BaseException) -> str:
    """Name an error and its line, without its text, which may hold values."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {place.filename.rpartition('/')[2]}, line {place.lineno}"


def _write(out: TextIO, value: Any) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()


def main() -> None:
    """Keep what systems print out of the answers, and serve."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    one_core()
    serve(sys.argv[1], json.loads(sys.argv[2]), sys.stdin, out)


if __name__ == "__main__":
    main()
