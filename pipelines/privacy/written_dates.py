"""Dates of birth after their label, and all dates where the policy asks for them, in the languages of the product."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.privacy.labelled_values import value_starts
from pipelines.privacy.prefilter import BIRTHS
from pipelines.privacy.scan import DATE, DATE_OF_BIRTH, Scan, Span

_MONTH_WORDS = """
january janvier januar jänner jaenner enero janeiro gennaio januari stycznia styczeń stycznia января январь jan ene gen
february février fevrier februar feber febrero fevereiro febbraio februari lutego luty февраля февраль feb févr fev lut
march mars märz maerz marzo março marco maart marca marzec марта март mar mär mrt
april avril abril aprile kwietnia kwiecień апреля апрель apr avr abr kwi
may mai mayo maio maggio mei maja maj мая май mag
june juin juni junio junho giugno czerwca czerwiec июня июнь jun giu cze
july juillet juli julio julho luglio lipca lipiec июля июль jul juil lug lip
august août aout agosto augustus sierpnia sierpień августа август aug ago sie
september septembre septiembre setiembre setembro settembre września wrzesień сентября сентябрь sep sept set wrz
october octobre oktober octubre outubro ottobre października październik октября октябрь oct okt out ott paź
november novembre noviembre novembro listopada listopad ноября ноябрь nov lis
december décembre decembre dezember diciembre dezembro dicembre grudnia grudzień декабря декабрь dec dez déc dic gru
"""
MONTHS = {word: number for number, line in enumerate(_MONTH_WORDS.split("\n")[1:-1], 1) for word in line.split()}
"""The number of each month's names, lower-case, in the languages of the product and Russian."""
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)[0-9]{2}"
_FORMS = (
    rf"(?P<y1>{_YEAR})(?:[-./]|年 ?|년 ?)(?P<m1>0?[1-9]|1[0-2])(?:[-./]|月 ?|월 ?)"
    r"(?P<d1>[12][0-9]|3[01]|0?[1-9])[日일]?",
    rf"(?P<a2>[0-3]?[0-9])(?P<sep>[./-] ?)(?P<b2>[0-3]?[0-9])(?P=sep)(?P<y2>{_YEAR}|[0-9]{{2}})",
    rf"(?P<d3>[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th|er|[.ºª°])?[\s-]{{1,2}}(?:of |de "
    rf"|di )?(?P<m3>{_MONTH})\.?(?![^\W_])"
    rf"(?:[\s,-]{{1,2}}(?:de |del |of )?(?P<y3>{_YEAR}|'?[0-9]{{2}}(?![0-9:])))?",
    rf"(?P<m4>{_MONTH})\.?\s(?P<d4>[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?(?:,?\s(?P<y4>{_YEAR}))?",
    rf"(?P<m5>{_MONTH})\.?[\s,]{{1,2}}(?:de |del |of )?(?P<y5>{_YEAR})",
)
_DATE = re.compile(rf"(?<![\w./-])(?:{'|'.join(_FORMS)})(?![0-9]|[^\W_]|[./-][0-9])")
_PACKED = re.compile(r"(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])")
_DAY_AND_MONTH = re.compile(r"(?<![\w./-])(?:0?[1-9]|1[0-2])/(?:[12][0-9]|3[01]|0?[1-9])(?![\w/]|[.-][0-9])")
_DATE_CUE = re.compile(
    r"\b(?:on|since|until|till|from|before|after|by|dated?|seen|admitted|discharged|visit|appointment|adm|d/c|am|vom"
    r"|seit|bis|le|du|el|desde|hasta|il|dal|op|sinds|em|od|do)$"
)

BIRTH = re.compile(
    r"\b(?:d\.?o\.?b|date[ -]of[ -]birth|birth[ -]?(?:date|day)|born(?: on)?|geb(?:urtsdatum|urtstag|oren(?: am"
    r"| op)?)?|geburts(?:datum|tag)"
    r"|f(?:echa)?\.? (?:de )?nac(?:imiento)?|nacid[oa](?: el)?|naci[oó] el|cumplea[nñ]os|date de naissance"
    r"|n[ée]e?(?: le)"
    r"|data de nascimento|nascid[oa](?: em| a)?|nasc|data di nascita|nat[oa](?: il)?|compleanno|geboortedatum"
    r"|verjaardag|data urodzenia|ur|urodzon[yae](?: dnia)?)\b\.?"
    r"|дат[аы] рождения|родил(?:ся|ась)|出生日期|出生|生日|生年月日|誕生日"
    r"|생년월일|생일|تاريخ (?:ال)?ميلاد|जन्म ?(?:तिथि|दिनांक)?"
)
"""Words that announce a date of birth."""
_AFTER_BIRTH = re.compile(
    r"[\s\"'`*_:：=#>|,()\[\]-]{0,6}(?:(?:is|was|on|the|am|ist|el|es|le|est|il|op|em|a|to|in \w{2,20} on)\s){0,2}"
)
_OLDEST_LIVING = 1900


class WrittenDate(NamedTuple):
    """A date in text; ``year`` is None where it is not told. Canonical: ISO 8601, cut to what is told."""

    start: int
    end: int
    year: int | None
    canonical: str


def dates_of_birth(scan: Scan) -> Iterator[Span]:
    """Find dates after a word for birth, in any written form. Canonical: ISO 8601; the policy says how 3/4/87 is read.

    Years before 1900 stay: nobody born then is alive.
    """
    for start in sorted({*_birth_places(scan), *value_starts(scan, BIRTHS, BIRTH)}):
        found = date_at(scan, start)
        if found and (found.year is None or found.year >= _OLDEST_LIVING):
            yield Span(found.start, found.end, DATE_OF_BIRTH, found.canonical)


def _birth_places(scan: Scan) -> Iterator[int]:
    for first, last in scan.cue_windows(BIRTHS):
        for cue in BIRTH.finditer(scan.lowered, first, last):
            gap = _AFTER_BIRTH.match(scan.lowered, cue.end())
            yield gap.end() if gap else cue.end()


def date_at(scan: Scan, start: int) -> WrittenDate | None:
    """Return the date that begins at a place, or None; eight digits count as year, month, day."""
    found = _DATE.match(scan.lowered, start)
    if found:
        return _read(found, month_first=scan.policy.month_first)
    packed = _PACKED.match(scan.lowered, start)
    if packed is None:
        return None
    value = packed[0]
    return WrittenDate(start, packed.end(), int(value[:4]), f"{value[:4]}-{value[4:6]}-{value[6:]}")


def dates(scan: Scan) -> Iterator[Span]:
    """Find all dates that say more than a year (45 CFR 164.514(b)(2)(i)(C)). Canonical as for dates of birth."""
    for found in _DATE.finditer(scan.lowered):
        written = _read(found, month_first=scan.policy.month_first)
        if written:
            yield Span(written.start, written.end, DATE, written.canonical)
    for found in _DAY_AND_MONTH.finditer(scan.lowered):
        if _DATE_CUE.search(scan.lowered[max(0, found.start() - 16) : found.start()].rstrip(" :")):
            yield Span(found.start(), found.end(), DATE, found[0])


def _read(found: re.Match[str], *, month_first: bool) -> WrittenDate | None:
    year, month, day = _numbers(found, month_first) if found["a2"] else _words(found)
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    canonical = f"{month:02}" if day is None else f"{month:02}-{day:02}"
    if year is not None:
        canonical = f"{year:04}-{canonical}"
    return WrittenDate(found.start(), found.end(), year, canonical)


def _numbers(found: re.Match[str], month_first: bool) -> tuple[int, int, int]:
    """Return year, month and day of three numbers that end in the year. With dots the day comes first everywhere."""
    first, second, year = int(found["a2"]), int(found["b2"]), _full_year(found["y2"])
    month_leads = second > 12 or (first <= 12 and month_first and found["sep"][0] != ".")
    return (year, first, second) if month_leads else (year, second, first)


def _words(found: re.Match[str]) -> tuple[int | None, int, int | None]:
    """Return year, month and day of the other forms; None for what is not told."""
    if found["y1"]:
        return int(found["y1"]), int(found["m1"]), int(found["d1"])
    if found["m3"]:
        return (_full_year(found["y3"]) if found["y3"] else None), MONTHS[found["m3"]], int(found["d3"])
    if found["m4"]:
        return (int(found["y4"]) if found["y4"] else None), MONTHS[found["m4"]], int(found["d4"])
    return int(found["y5"]), MONTHS[found["m5"]], None


def _full_year(written: str) -> int:
    year = int(written.lstrip("'"))
    return year if year > 99 else (2000 if year < 30 else 1900) + year
