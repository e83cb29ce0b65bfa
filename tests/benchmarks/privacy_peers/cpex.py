"""cpex-pii-filter's detector with every type on; its offsets count bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PACKAGES = ("cpex-pii-filter",)
NOTE = "PIIDetectorRust with every type on, text limit raised to 10 MB"
CLAIMS = {
    "ssn": ("SSN",),
    "bsn": ("NATIONAL_ID",),
    "credit_card": ("CREDIT_CARD",),
    "email": ("EMAIL",),
    "phone": ("PHONE",),
    "ip_address": ("IP_ADDRESS",),
    "date_of_birth": ("DATE_OF_BIRTH",),
    "passport": ("PASSPORT",),
    "driver_license": ("DRIVING_LICENCE",),
    "bank_account": ("BANK_ACCOUNT", "IBAN"),
    "medical_record": ("MEDICAL_RECORD",),
}


class System:
    """The detector, made once."""

    def __init__(self) -> None:
        from cpex_pii_filter import PIIDetectorRust

        self._detector = PIIDetectorRust({f"detect_{name}": True for name in CLAIMS} | {"max_text_bytes": 10_000_000})
        self.claims = sorted({kind for kinds in CLAIMS.values() for kind in kinds})

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Detect in one text after the other."""
        return [self._detector.detect(text) for text in texts]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return what was found in code points, with the default ``[REDACTED]``."""
        return [_in_code_points(text, found) for text, found in zip(texts, results, strict=True)]


def _in_code_points(text: str, found: Any) -> list[tuple[int, int, str]]:
    places = [(one["start"], one["end"]) for ones in found.values() for one in ones]
    if text.isascii():
        return [(start, end, "[REDACTED]") for start, end in places]
    raw = text.encode("utf-8", "surrogatepass")
    return [(_code_points(raw[:start]), _code_points(raw[:end]), "[REDACTED]") for start, end in places]


def _code_points(raw: bytes) -> int:
    return len(raw.decode("utf-8", "surrogatepass"))
