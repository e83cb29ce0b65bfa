"""scrubadub with its default detectors and those that need no download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PACKAGES = ("scrubadub",)
NOTE = "Scrubber, default detectors and the optional ones of the standard install; names need a download and are off"
CLAIMS = {
    "email": ("EMAIL",),
    "phone": ("PHONE",),
    "credit_card": ("CREDIT_CARD",),
    "credential": ("SECRET",),
    "social_security_number": ("SSN",),
    "national_insurance_number": ("NATIONAL_ID",),
    "tax_reference_number": ("NATIONAL_ID",),
    "twitter": ("USERNAME",),
    "skype": ("USERNAME",),
    "url": ("WEB_ADDRESS",),
    "date_of_birth": ("DATE_OF_BIRTH",),
    "drivers_licence": ("DRIVING_LICENCE",),
    "vehicle_licence_plate": ("NUMBER_PLATE",),
    "postalcode": ("POSTAL_CODE",),
}
_OPTIONAL = (
    "date_of_birth",
    "drivers_licence",
    "national_insurance_number",
    "tax_reference_number",
    "vehicle_licence_plate",
    "postalcode",
)


class System:
    """The scrubber, made once."""

    def __init__(self) -> None:
        import scrubadub

        self._scrubber = scrubadub.Scrubber()
        there = set(scrubadub.detectors.detector_catalogue.get_all())
        for name in there.intersection(_OPTIONAL):
            self._scrubber.add_detector(scrubadub.detectors.detector_catalogue.get(name))
        names = {detector.name for detector in self._scrubber._detectors.values()}
        self.claims = sorted({kind for name in names for kind in CLAIMS.get(name, ())})

    def find(self, texts: Sequence[str], languages: Sequence[str]) -> list[Any]:
        """Scrub one text after the other."""
        return [list(self._scrubber.iter_filth(text)) for text in texts]

    def spans(self, texts: Sequence[str], results: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return what was found, with ``{{TYPE}}`` as the replacement."""
        return [[(one.beg, one.end, one.replacement_string or one.placeholder) for one in found] for found in results]
