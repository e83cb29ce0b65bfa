"""semhash with its default model, where that is on this machine already."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

PACKAGES = ("semhash", "model2vec")
NOTE = "SemHash.from_records(accepted).deduplicate(new, threshold), minishlab/potion-base-8M"


@cache
def _model() -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from model2vec import StaticModel

    return StaticModel.from_pretrained("minishlab/potion-base-8M")


def load() -> None:
    """Load the model; nothing is downloaded."""
    import semhash  # noqa: F401

    _model()


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Fit the accepted texts, deduplicate the new ones."""
    from semhash import SemHash

    index = SemHash.from_records(accepted, model=_model())
    clock("accepted")
    result = index.deduplicate(new, threshold=threshold)
    clock("new")
    places = {text: place for place, text in reversed(list(enumerate(accepted)))}
    best = {one.record: one.duplicates[0][0] if one.duplicates else "" for one in result.filtered}
    return [places.get(best[text], -2) if text in best else -1 for text in new]
