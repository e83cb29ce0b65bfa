"""text-dedup: its MinHash command over accepted and new texts in one set."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

PACKAGES = ("text-dedup",)
NOTE = "text_dedup.minhash, defaults (5-grams of words, 250 permutations, no pair check); clusters by its union-find"


def load() -> None:
    """Import it."""
    import text_dedup.minhash  # noqa: F401


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Run the command on both; a new text in the cluster of an accepted one repeats the first such."""
    import datasets
    from text_dedup import minhash

    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in", Path(folder) / "out"
        whole = accepted + new
        datasets.Dataset.from_dict({"text": whole, "place": list(range(len(whole)))}).save_to_disk(str(source))
        clock("write_input")
        flags = ["--path", str(source), "--local", "--output", str(out), "--column", "text", "--num_proc", "1"]
        minhash.main(
            [*flags, "--threshold", str(threshold), "--cache_dir", str(Path(folder) / "cache")], standalone_mode=False
        )
        clock("all")
    first: dict[int, int] = {}
    for place in range(len(accepted)):
        first.setdefault(minhash.uf.find(place), place)
    return [first.get(minhash.uf.find(len(accepted) + place), -1) for place in range(len(new))]
