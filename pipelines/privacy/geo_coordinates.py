"""Places on earth by latitude and longitude."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.scan import GEO_COORDINATE, Scan, Span, words_of

_PAIR = re.compile(
    r"(?<![\w.,-])(?P<lat>[+-]?[0-9]{1,3}\.[0-9]{3,15})°? ?(?P<ns>[nNsS](?![A-Za-z]))?(?P<joint> ?[,;] ?| |%2[cC])"
    r"(?P<lon>[+-]?[0-9]{1,3}\.[0-9]{3,15})°? ?(?P<ew>[eEwWoO](?![A-Za-z]))?(?![\w%]|[.][0-9])"
)
_CUE = re.compile(
    r"(?:\b(?:gps|geo|geoloc|lat(?:itude)?|lon(?:g|gitude)?|lng|ll|coord(?:inate)?s?|koordinaten?|coordenadas?"
    r"|coordonnées|coordinate|position|standort"
    r"|ubicaci[oó]n|location|latlng|place|center|maps?)\b|wsp[oó]łrzędne|координаты|坐标|座標|좌표|إحداثيات)[^0-9\n]{0,40}$"
)
_LINK = re.compile(r"(?:geo:|/@|[?&](?:q|ll|center|sll|daddr|saddr|destination|query|mlat)=(?:loc:)?)$")
_SINGLE = re.compile(
    r"\b(?:(?P<lat>lat(?:itude)?|breitengrad|latitud|szerokość geograficzna)|(?P<lon>lon(?:g|gitude)?|lng|längengrad"
    r"|longitud|długość geograficzna))\b"
    r"[\s\"'`*:=_\]]{1,6}(?P<number>[+-]?[0-9]{1,3}\.[0-9]{3,15})(?![\w.])"
)
_SECOND = re.compile(
    r"(?<![\w.])[0-9]{1,3} ?[°º] ?[0-5]?[0-9](?:\.[0-9]{1,6})? ?['′’](?: ?[0-5]?[0-9](?:[.,][0-9]{1,6})? ?(?:[\"″”]"
    r"|''|′′))? ?[NSEWOnsewo](?![A-Za-z])"
)
_LABELS = frozenset({"lat", "latitude", "lon", "lng", "long", "longitude", "latitud", "longitud"})
_NUMBER = re.compile(r"-?[0-9]{1,3}\.[0-9]{3,15}")
_NEIGHBOUR = re.compile(r"[0-9.\]] ?[,;] ?[\[(]?$")
_MINUTES_TO_PLACE = 4


def geo_coordinates(scan: Scan) -> Iterator[Span]:
    """Find decimal pairs, degrees with minutes, links with a place, and numbers called latitude or longitude.

    Without a label both numbers need four decimals, one of them a whole part, and no third number beside them: vectors,
    prices and versions stay. Canonical: both numbers to 15 digits as written, without spaces.
    """
    text = scan.text
    if scan.label and words_of(scan.label)[-1:] and words_of(scan.label)[-1] in _LABELS and _NUMBER.fullmatch(text):
        yield Span(0, len(text), GEO_COORDINATE, text)
        return
    for found in _PAIR.finditer(text):
        if _is_place(scan, found):
            yield Span(*found.span(), GEO_COORDINATE, f"{found['lat']},{found['lon']}")
    for found in _SINGLE.finditer(scan.lowered):
        yield Span(*found.span("number"), GEO_COORDINATE, found["number"])
    if "°" in text or "º" in text:
        for found in _SECOND.finditer(text):
            yield Span(*found.span(), GEO_COORDINATE, "".join(found[0].split()).lower())


def _is_place(scan: Scan, found: re.Match[str]) -> bool:
    lat, lon = float(found["lat"]), float(found["lon"])
    if not ((abs(lat) <= 90 and abs(lon) <= 180) or (abs(lat) <= 180 and abs(lon) <= 90)):
        return False
    before = scan.lowered[max(0, found.start() - 60) : found.start()]
    if _LINK.search(before) or (found["ns"] and found["ew"]):
        return True
    after = scan.text[found.end() : found.end() + 3].lstrip(" ")
    if _NEIGHBOUR.search(before) or (after[:1] in (",", ";") and after[1:].strip()[:1].lstrip("-+").isdigit()):
        return False
    label = scan.label or ""
    if _CUE.search(before) or _CUE.search(" ".join(words_of(label)) if found.start() < 3 else ""):
        return True
    if found["joint"] == " " or found["ns"] or found["ew"]:
        return False
    return (
        _decimals(found["lat"]) >= _MINUTES_TO_PLACE
        and _decimals(found["lon"]) >= _MINUTES_TO_PLACE
        and max(abs(lat), abs(lon)) >= 1
    )


def _decimals(number: str) -> int:
    return len(number) - number.index(".") - 1
