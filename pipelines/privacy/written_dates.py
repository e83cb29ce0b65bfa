"""Dates of birth after their label, and all dates where the policy asks for them, in the languages of the product."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.privacy.labelled_values import value_starts
from pipelines.privacy.prefilter import BIRTHS
from pipelines.privacy.scan import DATE, DATE_OF_BIRTH, Scan, Span

_MONTH_WORDS = """
january janvier januar jänner jaenner enero janeiro gennaio januari stycznia styczeń stycznia января январь jan ene \
gen يناير जनवरी
february février fevrier februar feber febrero fevereiro febbraio februari lutego luty февраля февраль feb févr fev \
lut فبراير फरवरी फ़रवरी
march mars märz maerz marzo março marco maart marca marzec марта март mar mär mrt \
مارس मार्च
april avril abril aprile kwietnia kwiecień апреля апрель apr avr abr kwi \
أبريل ابريل अप्रैल
may mai mayo maio maggio mei maja maj мая май mag \
مايو मई
june juin juni junio junho giugno czerwca czerwiec июня июнь jun giu cze \
يونيو जून
july juillet juli julio julho luglio lipca lipiec июля июль jul juil lug lip \
يوليو जुलाई
august août aout agosto augustus sierpnia sierpień августа август aug ago sie \
أغسطس اغسطس अगस्त
september septembre septiembre setiembre setembro settembre września wrzesień сентября сентябрь sep sept set wrz \
سبتمبر सितंबर सितम्बर
october octobre oktober octubre outubro ottobre października październik октября октябрь oct okt out ott paź \
أكتوبر اكتوبر अक्टूबर अक्तूबर
november novembre noviembre novembro listopada listopad ноября ноябрь nov lis \
نوفمبر नवंबर नवम्बर
december décembre decembre dezember diciembre dezembro dicembre grudnia grudzień декабря декабрь dec dez déc dic gru \
ديسمبر दिसंबर दिसम्बर
"""
MONTHS = {word: number for number, line in enumerate(_MONTH_WORDS.split("\n")[1:-1], 1) for word in line.split()}
"""The number of each month's names, lower-case, in the languages of the product, Russian, Arabic and Hindi."""
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)[0-9]{2}"
_FORMS = (
    rf"(?P<y1>{_YEAR})(?:[-./]|年 ?|년 ?)(?P<m1>0?[1-9]|1[0-2])(?:[-./]|月 ?|월 ?)"
    r"(?P<d1>[12][0-9]|3[01]|0?[1-9])[日일]?",
    rf"(?P<a2>[0-3]?[0-9])(?P<sep>[./-] ?)(?P<b2>[0-3]?[0-9])(?P=sep)(?P<y2>{_YEAR}|[0-9]{{2}})",
    rf"(?P<d3>[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th|er|[.ºª°])?[\s-]{{1,2}}(?:of |de "
    rf"|di )?(?P<m3>{_MONTH})\.?(?![^\W_])"
    rf"(?:[\s,-]{{1,2}}(?:de |del |of )?(?P<y3>{_YEAR}|'?[0-9]{{2}}(?![0-9:])))?",
    rf"(?P<m4>{_MONTH})\.?\s(?:the )?(?P<d4>[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?(?:,?\s(?P<y4>{_YEAR}))?",
    rf"(?P<m5>{_MONTH})\.?[\s,]{{1,2}}(?:de |del |of )?(?P<y5>{_YEAR})",
)
_UNPARTED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Chinese, Japanese and Korean words stand right before and after a date.
_DATE = re.compile(rf"(?<![^\W{_UNPARTED}])(?<![./-])(?:{'|'.join(_FORMS)})(?![^\W_{_UNPARTED}]|[./-][0-9])")
_PACKED = re.compile(r"(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])")
_DAY_AND_MONTH = re.compile(r"(?<![\w./-])(?:0?[1-9]|1[0-2])/(?:[12][0-9]|3[01]|0?[1-9])(?![\w/]|[.-][0-9])")
_DATE_CUE = re.compile(
    r"\b(?:on|since|until|till|from|before|after|by|dated?|seen|admitted|discharged|visit|appointment|adm|d/c|am|vom"
    r"|seit|bis|le|du|el|desde|hasta|il|dal|op|sinds|em|od|do)$"
)

BIRTH = re.compile(
    r"\b(?:d\.?o\.?b|date[ -]of[ -]birth|birth[ -]?(?:date|day)|bday|born(?: on)?"
    r"|geb(?:urtsdatum|urtstag|oren(?: am| op)?)?|geburts(?:datum|tag)|zur welt(?: gekommen)?"
    r"|f(?:echa)?\.? (?:de )?nac(?:imiento)?|nac(?:[ií]|i[oó]|id[oa]s?|imos|iste)|cumplea[nñ]os"
    r"|date de naiss(?:ance)?|n(?:é|ée|é\(e\)|e|ee)s?(?= le\b)|n(?:é|ée|é\(e\))s?(?= (?:à|en|au|aux)\b)"
    r"|data de nasc(?:imento)?|nasc(?:i|eu|er|emos|id[oa]s?|imento)?|anivers[aá]rio|anniversaire"
    r"|data di nascita|nat[oae]|nacque|compleanno|geboorte(?:datum|dag)|verjaardag|jarig"
    r"|data (?:ur|urodzenia)|ur|urodzon[yae](?: dnia)?|urodzi(?:ł(?:am|em|aś|eś|a|o)?)(?: się)?|urodziny)(?![^\W_])\.?"
    r"|дат[аыу] рождения|д(?:ень|ня) рождения|родил(?:ся|ась|ись)|рожден[аи]?|рождён|рожд\."
    r"|出生日期|出生[于於在]?|生日|生[于於](?=[0-9])|生年月日|誕生日"
    r"|생년월일|생일|(?:تاريخ )?(?:ال)?ميلاد(?:ي|ه|ها)?|مواليد|ولدت?|जन्म(?:दिन)? ?(?:तिथि|दिनांक|तारीख)?|पैदा"
)
"""Words that announce a date of birth."""
_BIRTH_AFTER = re.compile(r"[\s,]{0,2}(?:に|को )?(?:生まれ|出生|geboren|पैदा|생|출생|태어|года рождения)")
"""Words that end a date of birth."""
_SMALL_WORDS = """
is was on the am den der ist war el es fue día dia le est il è op em a à de no na jest to się dnia dniu w um foi é at
it's this это в هو هي في يوم को है हुआ में मेरा meu mi mon of date
"""
_PLACE = r"(?:in|en|à|a|em|w|we|в|te|zu|au|near|bei)\s(?:[^\W\d_][^\s,]{1,20},?\s){1,3}?"
_AFTER_BIRTH = re.compile(
    rf"[\s\"'`*_:：=#>|,.()\[\]—-]{{0,6}}(?:{_PLACE})?(?:(?:{'|'.join(_SMALL_WORDS.split())})[\s:]{{1,2}}){{0,3}}"
    rf"(?=[0-9]|(?:{_MONTH})(?![^\W_]))"
)
_YEAR_WORD = re.compile(r"\s?(?:r\.|roku(?![^\W_])|г\.|года(?![^\W_]))")
_OLDEST_LIVING = 1900


class WrittenDate(NamedTuple):
    """A date in text; ``year`` is None where it is not told. Canonical: ISO 8601, cut to what is told."""

    start: int
    end: int
    year: int | None
    canonical: str


def dates_of_birth(scan: Scan) -> Iterator[Span]:
    """Find dates next to a word for birth, in any written form. Canonical: ISO 8601; the policy says how 3/4/87 reads.

    Years before 1900 stay: nobody born then is alive.
    """
    for start in sorted({*_birth_places(scan), *value_starts(scan, BIRTHS, BIRTH)}):
        found = date_at(scan, start)
        if found and (found.year is None or found.year >= _OLDEST_LIVING):
            word = _YEAR_WORD.match(scan.lowered, found.end)
            yield Span(found.start, word.end() if word else found.end, DATE_OF_BIRTH, found.canonical)


def _birth_places(scan: Scan) -> Iterator[int]:
    for first, last in scan.cue_windows(BIRTHS):
        for cue in BIRTH.finditer(scan.lowered, first, last):
            gap = _AFTER_BIRTH.match(scan.lowered, cue.end())
            yield gap.end() if gap else cue.end()
        for date in _DATE.finditer(scan.lowered, first, last):
            if _BIRTH_AFTER.match(scan.lowered, date.end()):
                yield date.start()


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
