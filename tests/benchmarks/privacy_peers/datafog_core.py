"""datafog-core's text scan; the German locale for German texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PACKAGES = ("datafog-core",)
NOTE = "scan of the text with default entities, locale de for German texts; names in JSON need its structured API"
CLAIMS = {
    "EMAIL": ("EMAIL",),
    "PHONE": ("PHONE",),
    "SSN": ("SSN",),
    "CREDIT_CARD": ("CREDIT_CARD",),
    "IP_ADDRESS": ("IP_ADDRESS",),
    "DATE": ("DATE", "DATE_OF_BIRTH"),
    "ZIP_CODE": ("POSTAL_CODE",),
    "API_KEY": ("SECRET",),
    "JWT": ("SECRET",),
    "US_ROUTING_NUMBER": ("BANK_ACCOUNT",),
}


class System:
    """The scan function."""

    def __init__(self) -> None:
        import datafog_core

        self._scan = datafog_core.scan
        there = set(datafog_core.capabilities()["default_entities"])
        self.claims = sorted({kind for label, kinds in CLAIMS.items() if label in there for kind in kinds})

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Scan one text after the other."""
        return [
            self._scan(text, {"locale": "de"}) if language == "de" else self._scan(text)
            for text, language in zip(texts, languages, strict=True)
        ]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return what was found, with ``[TYPE]`` as its redaction writes it."""
        return [
            [(one.codepoint_range.start, one.codepoint_range.end, f"[{one.entity_type}]") for one in found]
            for found in results
        ]
