"""This project's index, and after it the semantic pass over what it lets stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

PACKAGES = ("numpy", "sentence-transformers")
NOTE = "AcceptedIndex, then semantic_duplicates over the rows that stay; all-MiniLM-L6-v2, its default cosine"
MODEL = "sentence-transformers/all-MiniLM-L6-v2@openvino"


def load() -> None:
    """Load the model; nothing is downloaded."""
    from pipelines.embedding.encoder import SentenceTransformerEncoder

    SentenceTransformerEncoder(MODEL).encode(["warm"])


def matched(accepted: list[str], new: list[str], threshold: float, clock: Callable[[str], None]) -> list[int]:
    """Decide by words, embed what stays and all accepted, decide by vectors."""
    from pipelines.duplicates.index import AcceptedIndex
    from pipelines.duplicates.semantic import Accepted, semantic_duplicates
    from pipelines.duplicates.verify import Likeness
    from pipelines.embedding.encoder import SentenceTransformerEncoder

    index, encoder = AcceptedIndex(Likeness(threshold)), SentenceTransformerEncoder(MODEL)
    old = index.batch([str(place) for place in range(len(accepted))], accepted)
    index.accept(old)
    batch = index.batch([f"new-{place:09}" for place in range(len(new))], new)
    verdicts = index.decide(batch)
    clock("near")
    stay = np.array([place for place, one in enumerate(verdicts) if not one.dropped], np.int64)
    vectors = [encoder.encode(texts).vectors for texts in (accepted, [new[place] for place in stay.tolist()])]
    clock("embed")
    found = semantic_duplicates(Accepted.of(old, vectors[0]), batch.take(stay), vectors[1])
    clock("semantic")
    for place, one in zip(stay.tolist(), found, strict=True):
        verdicts[place] = one
    known = set(old.ids)
    return [-1 if not one.dropped else int(one.matched_id) if one.matched_id in known else -2 for one in verdicts]
