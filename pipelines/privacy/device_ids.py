"""Ids of phones, SIM cards and advertising."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.bank_detectors import passes_luhn
from pipelines.privacy.labelled_values import Labelled, compact, labelled_values, value_starts
from pipelines.privacy.prefilter import DEVICES
from pipelines.privacy.scan import DEVICE_ID, Scan, Span

_IMEI = re.compile(r"\bimei(?:sv)?[12]?\b|手机串号|串号")
_MEID = re.compile(r"\b(?:meid|esn)\b")
_SIM = re.compile(r"\b(?:iccid|sim(?: card)?(?= ?(?:no|number|id|serial|:|#))|sim-?karten?-?(?:nummer|nr))\b")
_IMSI = re.compile(r"\bimsi\b")
_ADVERTISING = re.compile(
    r"\b(?:idfa|idfv|gaid|aaid|adid|ad[ _-]?id|advertising[ _-]?id(?:entifier)?|advertiserid|android[ _-]?id"
    r"|device[ _-]?(?:id|uuid|token|identifier)"
    r"|udid|hardware[ _-]?id|hwid|machine[ _-]?id)\b"
)
_UUID = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-z-])|[0-9a-f]{16}(?![0-9a-z-])|[0-9a-f]{40}(?![0-9a-z-])"
)


def _is_imei(value: str) -> bool:
    """Tell whether 15 digits end in a Luhn digit, or 16 are an IMEI with its version (3GPP TS 23.003 section 6)."""
    digits = compact(value)
    return digits.isdigit() and (len(digits) == 16 or (len(digits) == 15 and passes_luhn(digits)))


def _is_iccid(value: str) -> bool:
    """Tell whether 19 or 20 digits begin with 89 (ITU-T E.118)."""
    digits = compact(value)
    return digits.isdigit() and digits.startswith("89") and 18 <= len(digits) <= 20


def _is_imsi(value: str) -> bool:
    digits = compact(value)
    return digits.isdigit() and len(digits) in (14, 15)


def _is_meid(value: str) -> bool:
    bare = compact(value)
    return len(bare) in (8, 11, 14, 15, 18) and all(c in "0123456789ABCDEF" for c in bare)


_RULES = (
    Labelled(DEVICE_ID, _IMEI, _is_imei, 15),
    Labelled(DEVICE_ID, _MEID, _is_meid, 11),
    Labelled(DEVICE_ID, _SIM, _is_iccid, 18),
    Labelled(DEVICE_ID, _IMSI, _is_imsi, 15),
)


def device_ids(scan: Scan) -> Iterator[Span]:
    """Find IMEI, MEID, ICCID, IMSI and advertising ids after their label; a UUID without one stays.

    Canonical: capitals and digits alone.
    """
    yield from labelled_values(scan, DEVICES, _RULES)
    for start in value_starts(scan, DEVICES, _ADVERTISING):
        found = _UUID.match(scan.lowered, start)
        if found and len(set(found[0])) > 2 and any(map(str.isdigit, found[0])):
            yield Span(start, found.end(), DEVICE_ID, compact(found[0]))
