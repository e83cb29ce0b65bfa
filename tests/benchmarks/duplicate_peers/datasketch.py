"""datasketch: MinHashLSH over sets of lower-case words, candidates confirmed by the estimate of their signatures."""

from __future__ import annotations

from collections.abc import Callable

PACKAGES = ("datasketch",)
NOTE = (
    "MinHash(num_perm=128) and MinHashLSH(threshold), words split at white space; best candidate by estimated Jaccard"
)


def load() -> None:
    """Import it."""
    import datasketch  # noqa: F401


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Insert the accepted texts, query the new ones."""
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=threshold, num_perm=128)
    kept = MinHash.bulk([_words(text) for text in accepted], num_perm=128)
    for place, one in enumerate(kept):
        lsh.insert(place, one)
    clock("accepted")
    found = []
    for one in MinHash.bulk([_words(text) for text in new], num_perm=128):
        scored = max(((kept[place].jaccard(one), -place) for place in lsh.query(one)), default=(0.0, 1))
        found.append(-scored[1] if scored[0] >= threshold else -1)
    clock("new")
    return found


def _words(text: str) -> list[bytes]:
    return [word.encode("utf-8", "surrogatepass") for word in set(text.lower().split())] or [b""]
