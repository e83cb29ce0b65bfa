"""Turnmill itself, through its public API, with keys made for the run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_peers.alignment import aligned

PACKAGES = ("turnmill",)
NOTE = "Anonymizer, a row each text"
TENANT = "benchmark"


class System:
    """Anonymises texts; ``claims`` are the kinds that the policy looks for.

    Dates that are no birth and ages count only where the policy is clinical.
    """

    def __init__(self, policy: str = "training") -> None:
        from pipelines.privacy.anonymizer import Anonymizer
        from pipelines.privacy.keys import KeyFolder
        from pipelines.privacy.policy import find_policy
        from pipelines.privacy.second_tier import span_source

        keys = KeyFolder(Path(tempfile.mkdtemp(prefix="privacy-benchmark-")) / "keys").open_or_create()
        chosen = find_policy(policy)
        self._anonymizer = Anonymizer(keys, chosen, source=span_source(chosen))
        self.claims = sorted(chosen.types if chosen.clinical else chosen.types - {"AGE", "DATE"})

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Anonymise; this is what the clock measures."""
        return [self._one(text) for text in texts]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]] | None]:
        """Lead the replaced parts back into the source; None for a text that was refused."""
        return [
            None if one is None else aligned(text, one.text, one.redactions)
            for text, one in zip(texts, results, strict=True)
        ]

    def _one(self, text: str) -> Any:
        from pipelines.privacy.anonymizer import LeftValueError

        try:
            return self._anonymizer.text(TENANT, text)
        except LeftValueError:
            return None
