"""The list of public benchmarks: what each is called, under which licence it stands, and how its file is recognised."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIST_FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class KnownBenchmark:
    """A public benchmark. ``sha256`` is of its ``file``, unpacked, at the commit in ``source``."""

    name: str
    title: str
    licence: str
    file: str
    source: str
    n_items: int
    sha256: str


def read_list(path: Path) -> tuple[KnownBenchmark, ...]:
    """Return the benchmarks of a list: a TOML file of tables ``[[benchmark]]`` with these fields."""
    return tuple(KnownBenchmark(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["benchmark"])


@cache
def known_benchmarks() -> tuple[KnownBenchmark, ...]:
    """Return the benchmarks of the list that comes with the product."""
    return read_list(LIST_FILE)


def known_by_content(sha256: str) -> KnownBenchmark | None:
    """Return the benchmark whose file has this SHA-256, in hex."""
    return next((one for one in known_benchmarks() if one.sha256 == sha256), None)
