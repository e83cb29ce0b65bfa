"""rensa: RMinHash and RMinHashLSH over sets of lower-case words, as its README shows."""

from __future__ import annotations

from collections.abc import Callable

PACKAGES = ("rensa",)
NOTE = "RMinHash(num_perm=128, seed=42), RMinHashLSH(threshold, 128, 16 bands); best candidate by estimated Jaccard"


def load() -> None:
    """Import it."""
    import rensa  # noqa: F401


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Insert the accepted texts, query the new ones."""
    from rensa import RMinHashLSH

    lsh = RMinHashLSH(threshold=threshold, num_perm=128, num_bands=16)
    kept = [_signature(text) for text in accepted]
    for place, one in enumerate(kept):
        lsh.insert(place, one)
    clock("accepted")
    found = []
    for text in new:
        one = _signature(text)
        scored = max(((kept[place].jaccard(one), -place) for place in lsh.query(one)), default=(0.0, 1))
        found.append(-scored[1] if scored[0] >= threshold else -1)
    clock("new")
    return found


def _signature(text: str):  # noqa: ANN202 - a type of the peer
    from rensa import RMinHash

    one = RMinHash(num_perm=128, seed=42)
    one.update(text.lower().split())
    return one
