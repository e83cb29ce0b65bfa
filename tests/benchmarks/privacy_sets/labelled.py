"""Texts with the personal values in them: what every set of the privacy benchmark is read into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

NAMES = "PERSON"
ADDRESSES = "ADDRESS"
PATTERNED = (
    "EMAIL",
    "PHONE",
    "CREDIT_CARD",
    "IBAN",
    "BANK_ACCOUNT",
    "SSN",
    "NATIONAL_ID",
    "PASSPORT",
    "DRIVING_LICENCE",
    "NUMBER_PLATE",
    "DATE_OF_BIRTH",
    "MEDICAL_RECORD",
    "DEVICE_ID",
    "IP_ADDRESS",
    "MAC_ADDRESS",
    "GEO_COORDINATE",
    "USERNAME",
    "SECRET",
    "CRYPTO_ADDRESS",
)
"""Kinds that a rule can tell by their form or their label."""

OPTIONAL = (
    "WEB_ADDRESS",
    "DATE",
    "AGE",
    "PLACE",
    "POSTAL_CODE",
    "ORGANISATION",
    "NATIONALITY",
    "TITLE",
    "SEX",
    "RELATIVE",
    "PROFESSION",
    "LICENCE_NUMBER",
    "OTHER",
)
"""Kinds that sets label and that few policies replace."""

KINDS = (NAMES, ADDRESSES, *PATTERNED, *OPTIONAL)


class DataMissing(RuntimeError):
    """A set's file is not there. The message says which and how to give it."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A personal value: code points of its text, our name of its kind, and whose it is where the set says so."""

    start: int
    end: int
    kind: str
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One text. ``structure`` names what must still parse after the edit: ``json``, ``python`` or nothing.

    Samples of one ``conversation`` are its turns, in order. ``must_keep`` are parts that are about no person.
    """

    text: str
    gold: tuple[Gold, ...] = ()
    conversation: str = ""
    language: str = "en"
    structure: str = ""
    must_keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for one in self.gold:
            if not 0 <= one.start < one.end <= len(self.text):
                raise ValueError(f"wanted a {one.kind} inside of the text, found {one.start}-{one.end}")


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A named list of samples; ``labels`` maps the names of its source to our kinds."""

    name: str
    samples: tuple[Sample, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size of all texts in UTF-8."""
        return sum(len(sample.text.encode("utf-8", "surrogatepass")) for sample in self.samples)


def thinned(whole: LabelledSet, most: int) -> LabelledSet:
    """Return a set of about ``most`` texts: whole conversations, taken at even steps, so that every part is in it."""
    conversations: dict[str, list[Sample]] = {}
    for place, sample in enumerate(whole.samples):
        conversations.setdefault(sample.conversation or f"#{place}", []).append(sample)
    if len(whole.samples) <= most:
        return whole
    step = len(whole.samples) / most
    kept = {int(place * step) for place in range(len(conversations))}
    groups = [group for place, group in enumerate(conversations.values()) if place in kept]
    return LabelledSet(whole.name, tuple(sample for group in groups for sample in group), whole.labels)


def kinds_of(samples: Iterable[Sample]) -> dict[str, int]:
    """Count the personal values by kind."""
    counts: dict[str, int] = {}
    for sample in samples:
        for one in sample.gold:
            counts[one.kind] = counts.get(one.kind, 0) + 1
    return counts
