"""datafog's regex engine, all its types; the German locale for German texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PACKAGES = ("datafog",)
NOTE = "scan(engine='regex'), locales=['de'] for German texts, tokens [TYPE_n] numbered from 1 in each call"
CLAIMS = ("EMAIL", "PHONE", "SSN", "CREDIT_CARD", "IP_ADDRESS", "DATE", "DATE_OF_BIRTH", "POSTAL_CODE")


class System:
    """The scan function."""

    def __init__(self) -> None:
        from datafog.engine import scan

        self._scan = scan
        self.claims = sorted(CLAIMS)

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Scan one text after the other."""
        return [
            self._scan(text, engine="regex", locales=["de"] if language == "de" else None).entities
            for text, language in zip(texts, languages, strict=True)
        ]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return what was found, with its numbered tokens."""
        return [_numbered(found) for found in results]


def _numbered(found: Sequence[Any]) -> list[tuple[int, int, str]]:
    numbers: dict[str, dict[str, int]] = {}
    spans = []
    for one in sorted(found, key=lambda one: one.start):
        values = numbers.setdefault(one.type, {})
        number = values.setdefault(one.text, len(values) + 1)
        spans.append((one.start, one.end, f"[{one.type}_{number}]"))
    return spans
