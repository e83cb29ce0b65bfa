"""One text under detection: its folded form, its context, the spans that are machine ids and not about persons."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from pipelines.privacy.pseudonyms import TOKEN

EMAIL = "EMAIL"
PHONE = "PHONE"
CREDIT_CARD = "CREDIT_CARD"
IBAN = "IBAN"
IP_ADDRESS = "IP_ADDRESS"
MAC_ADDRESS = "MAC_ADDRESS"
SSN = "SSN"
NATIONAL_ID = "NATIONAL_ID"
SECRET = "SECRET"  # noqa: S105 - the name of a type
USERNAME = "USERNAME"
TYPES = (SECRET, IBAN, CREDIT_CARD, SSN, NATIONAL_ID, EMAIL, PHONE, IP_ADDRESS, MAC_ADDRESS, USERNAME)
"""All types of the first tier; where spans overlap the earlier type wins."""

PRIORITY: Mapping[str, int] = {kind: place for place, kind in enumerate(TYPES)}
DEFAULT_REGIONS = ("US", "GB", "DE", "FR", "NL", "IT", "ES", "BE", "CH", "AT", "PL", "PT", "SE", "DK", "IE")
OTHER_REGIONS = (
    "AU",
    "NZ",
    "ZA",
    "IN",
    "JP",
    "KR",
    "TR",
    "SA",
    "AE",
    "EG",
    "IL",
    "BR",
    "MX",
    "AR",
    "CN",
    "UA",
    "RU",
    "GR",
)


@dataclass(frozen=True)
class Policy:
    """What counts as personal. Kept with each row by its name.

    ``documentation_ranges`` also replaces addresses that documents may use freely (RFC 2606, 5737, 3849), which reach
    nobody. ``default_regions`` are tried in order for phone numbers without a country code (ISO 3166 codes).
    """

    name: str = "training"
    documentation_ranges: bool = False
    default_regions: tuple[str, ...] = DEFAULT_REGIONS + OTHER_REGIONS
    types: frozenset[str] = frozenset(TYPES)

    def __post_init__(self) -> None:
        unknown = sorted(self.types - set(TYPES))
        if unknown:
            raise ValueError(f"wanted types out of {', '.join(TYPES)}, found {', '.join(unknown)}")


class Span(NamedTuple):
    """A detected value: code points of the scanned text, its type and its canonical form."""

    start: int
    end: int
    kind: str
    canonical: str


_MACHINE_IDS = re.compile(
    r"<[A-Z][A-Z_]{1,30}_[A-Z2-7]{26}>"
    r"|\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|(?:19|20)[0-9]{2}([-/.])[01]?[0-9]\1[0-3]?[0-9](?![0-9])"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9])?)?(?:[.,][0-9]{1,9})?"
    r"|[0-3]?[0-9]([-/.])[0-3]?[0-9]\2(?:19|20)[0-9]{2}(?![0-9])"
    r"|[0-2][0-9]:[0-5][0-9]:[0-6][0-9](?:[.,][0-9]{1,9})?(?: [+-][0-9]{4}(?: (?:19|20)[0-9]{2})?\b)?"
    r"|v[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}"
    r"|[0-9a-f]{16,})",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of an identifier: ``dbPassword_2`` -> ``db password 2``."""
    return tuple(word.lower() for word in _WORD.findall(name))


class Scan:
    """What detectors look at. ``label`` is the JSON key that the text is the value of."""

    __slots__ = ("_ends", "label", "lowered", "policy", "text", "url_ats")

    def __init__(self, text: str, policy: Policy, label: str | None = None) -> None:
        self.text = text
        self.policy = policy
        self.label = label
        self.lowered = text.lower()
        if len(self.lowered) != len(text):
            self.lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
        self.url_ats: set[int] = set()
        self._ends: dict[re.Pattern[str], list[int]] = {}

    def before(self, start: int, width: int = 40) -> str:
        """Return what stands before a place, lower-case; a label stands before the text."""
        context = self.lowered[max(0, start - width) : start]
        if self.label and start < width:
            return f"{' '.join(words_of(self.label))}: {context}"[-width:]
        return context

    def gap_after(self, cue: re.Pattern[str], start: int, width: int) -> str | None:
        """Return what stands between the nearest match of ``cue`` before a place and the place; None beyond ``width``.

        A label counts as standing right before the text.
        """
        if self.label and start < width and cue.search(" ".join(words_of(self.label))):
            return self.lowered[:start]
        ends = self._ends.get(cue)
        if ends is None:
            ends = self._ends[cue] = [found.end() for found in cue.finditer(self.lowered)]
        at = bisect_right(ends, start) - 1
        return self.lowered[ends[at] : start] if at >= 0 and start - ends[at] <= width else None

    def is_machine_id(self, start: int, end: int) -> bool:
        """Tell whether a span touches a token of ours, a UUID, a hash, a date, a time or a version."""
        text = self.text
        first = max(0, start - 40)
        while first and start - first < 200 and (text[first - 1].isalnum() or text[first - 1] in "-_"):
            first -= 1
        for found in _MACHINE_IDS.finditer(text, first, end + 40):
            if found.end() > start and found.start() < end and _is_shield(found[0]):
                return True
        return False

    def is_own_token(self, start: int, end: int) -> bool:
        """Tell whether a span lies in a token that an earlier run wrote."""
        opened = self.text.rfind("<", max(0, start - 60), start + 1)
        token = TOKEN.match(self.text, opened) if opened >= 0 else None
        return token is not None and token.end() >= end


def _is_shield(found: str) -> bool:
    # A long run of digits alone may be a card; only with letters among them it is a hash.
    return not found.isdigit() and not found.isalpha()
