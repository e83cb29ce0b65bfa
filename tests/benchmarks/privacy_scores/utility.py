"""How near the meaning of a text stays after the edit: cosine of its embeddings before and after."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from privacy_scores.outcome import Outcome
from privacy_sets.labelled import Sample


def changed_pairs(
    samples: Sequence[Sample], outcomes: Sequence[Outcome], most: int, seed: int
) -> list[tuple[str, str]]:
    """Return up to ``most`` texts before and after, drawn without regard to what was changed in them."""
    pairs = [
        (sample.text, outcome.text)
        for sample, outcome in zip(samples, outcomes, strict=True)
        if outcome.text is not None and sample.text.strip() and outcome.text.strip()
    ]
    return Random(seed).sample(pairs, min(most, len(pairs)))  # noqa: S311 - reproducible, not secret


class Utility:
    """Measures with the packaged MiniLM; equal texts are embedded once."""

    def __init__(self) -> None:
        from pipelines.embedding.encoder import SentenceTransformerEncoder

        self._encoder = SentenceTransformerEncoder(device="cpu")
        self._vectors: dict[str, object] = {}

    def cosine(self, pairs: Sequence[tuple[str, str]]) -> dict[str, float | int]:
        """Return the mean cosine over all texts and over those that were changed."""
        texts = sorted({text for pair in pairs for text in pair} - self._vectors.keys())
        if texts:
            self._vectors.update(zip(texts, self._encoder.encode(texts).vectors, strict=True))
        cosines = [1.0 if before == after else self._cosine(before, after) for before, after in pairs]
        changed = [cosine for cosine, (before, after) in zip(cosines, pairs, strict=True) if before != after]
        return {
            "texts": len(pairs),
            "mean": round(sum(cosines) / len(cosines), 4) if cosines else 1.0,
            "changed": len(changed),
            "mean_of_changed": round(sum(changed) / len(changed), 4) if changed else 1.0,
        }

    def _cosine(self, before: str, after: str) -> float:
        return float(self._vectors[before] @ self._vectors[after])  # type: ignore[operator]
