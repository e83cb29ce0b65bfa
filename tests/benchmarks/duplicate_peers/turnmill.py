"""This project's index."""

from __future__ import annotations

from collections.abc import Callable

PACKAGES = ("numpy",)
NOTE = "AcceptedIndex; accepted texts are sketched and accepted as they are, new ones decided in one batch"


def load() -> None:
    """Import what the clock must not see."""
    from pipelines.duplicates.index import AcceptedIndex

    AcceptedIndex().batch(["warm"], ["how do i reset my router"])


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Sketch, accept, sketch, decide."""
    from pipelines.duplicates.index import AcceptedIndex
    from pipelines.duplicates.verify import Likeness

    index = AcceptedIndex(Likeness(threshold))
    ids = [str(place) for place in range(len(accepted))]
    old = index.batch(ids, accepted)
    clock("sketch_accepted")
    index.accept(old)
    clock("accept")
    batch = index.batch([f"new-{place:09}" for place in range(len(new))], new)
    clock("sketch_new")
    verdicts = index.decide(batch)
    clock("decide")
    known = {one.matched_id for one in verdicts if one.matched_id}.difference(batch.ids)
    return [-1 if not one.dropped else int(one.matched_id) if one.matched_id in known else -2 for one in verdicts]
