"""One text under detection: its folded form, its context, the spans that are machine ids and not about persons."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pipelines.privacy.folding import lower
from pipelines.privacy.prefilter import cues_in
from pipelines.privacy.pseudonyms import TOKEN

if TYPE_CHECKING:
    from pipelines.privacy.policy import Policy

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
BANK_ACCOUNT = "BANK_ACCOUNT"
CRYPTO_ADDRESS = "CRYPTO_ADDRESS"
PASSPORT = "PASSPORT"
DRIVING_LICENCE = "DRIVING_LICENCE"
NUMBER_PLATE = "NUMBER_PLATE"
VEHICLE_ID = "VEHICLE_ID"
MEDICAL_RECORD = "MEDICAL_RECORD"
LICENCE_NUMBER = "LICENCE_NUMBER"
DEVICE_ID = "DEVICE_ID"
GEO_COORDINATE = "GEO_COORDINATE"
DATE_OF_BIRTH = "DATE_OF_BIRTH"
CVV = "CVV"
CARD_EXPIRY = "CARD_EXPIRY"
URL = "URL"
AGE = "AGE"
DATE = "DATE"
PERSON = "PERSON"
ADDRESS = "ADDRESS"
ORGANISATION = "ORGANISATION"
PLACE = "PLACE"
TYPES = (
    SECRET,
    IBAN,
    CREDIT_CARD,
    CRYPTO_ADDRESS,
    BANK_ACCOUNT,
    SSN,
    PASSPORT,
    DRIVING_LICENCE,
    MEDICAL_RECORD,
    LICENCE_NUMBER,
    VEHICLE_ID,
    DEVICE_ID,
    NATIONAL_ID,
    EMAIL,
    GEO_COORDINATE,
    DATE_OF_BIRTH,
    PHONE,
    IP_ADDRESS,
    MAC_ADDRESS,
    NUMBER_PLATE,
    CVV,
    CARD_EXPIRY,
    URL,
    USERNAME,
    AGE,
    DATE,
    ADDRESS,
    PERSON,
    ORGANISATION,
    PLACE,
)
"""All types; where spans overlap the earlier type wins."""

PRIORITY: Mapping[str, int] = {kind: place for place, kind in enumerate(TYPES)}


class Span(NamedTuple):
    """A detected value: code points of the scanned text, its type, its canonical form and how sure it is (0 to 1)."""

    start: int
    end: int
    kind: str
    canonical: str
    score: float = 1.0


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
_LONGEST_CUE = 32
_FEW = 16
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of an identifier: ``dbPassword_2`` -> ``db password 2``."""
    return tuple(word.lower() for word in _WORD.findall(name))


class Scan:
    """What detectors look at. ``label`` is the JSON key that the text is the value of."""

    __slots__ = ("_cues", "_ends", "label", "lowered", "policy", "text", "url_ats")

    def __init__(self, text: str, policy: Policy, label: str | None = None) -> None:
        self.text = text
        self.policy = policy
        self.label = label
        self.lowered = lower(text)
        self.url_ats: set[int] = set()
        self._ends: dict[re.Pattern[str], tuple[dict[int, int], list[int]]] = {}
        self._cues: dict[int, list[tuple[int, int]]] | None = None

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
        end = self._end_before(cue, start, width)
        return self.lowered[end:start] if end >= 0 and start - end <= width else None

    def _end_before(self, cue: re.Pattern[str], start: int, width: int) -> int:
        """Return where the last match of ``cue`` before a place ends, -1 for none near."""
        asked, ends = self._ends.setdefault(cue, ({}, []))
        if start in asked:
            return asked[start]
        if len(asked) < _FEW or len(asked) * (width + _LONGEST_CUE) < len(self.lowered):
            near = cue.finditer(self.lowered, max(0, start - width - _LONGEST_CUE), start + 1)
            asked[start] = max((one.end() for one in near if one.end() <= start), default=-1)
            return asked[start]
        # A text of so many numbers that their surroundings are longer than itself is searched once as a whole.
        if not ends:
            ends += [-1, *(one.end() for one in cue.finditer(self.lowered))]
        return ends[bisect_right(ends, start) - 1]

    def cue_windows(self, flag: int) -> list[tuple[int, int]]:
        """Return the stretches around the words that ask for the detectors of ``flag``, in order."""
        if self._cues is None:
            self._cues = cues_in(self.lowered)
        return self._cues.get(flag, [])

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
