"""Dates moved by whole weeks, the same number for all dates of a subject, so that intervals and weekdays hold."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import NamedTuple

from pipelines.privacy.surrogates.draws import Draws
from pipelines.privacy.surrogates.name_pools import bare

_MONTHS: Mapping[str, str] = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}
_SHORT: Mapping[str, str] = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "pl": "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "ru": "янв фев мар апр мая июн июл авг сен окт ноя дек",
}
_YEAR_FIRST = re.compile(r"(?<!\d)(?P<y>\d{4})([-/.年]\s?)(?P<m>\d{1,2})([-/.月]\s?)(?P<d>\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<!\d)(?P<a>\d{1,2})(?P<s>[-/. ]\s?)(?P<b>\d{1,2})[-/. ]\s?(?P<y>\d{4}|\d{2})(?!\d)")
_GAP = r"(?:[\s,.\-/]|de\b|del\b|of\b|st\b|nd\b|rd\b|th\b|º|ª|er\b)*"
_DAY_FIRST = re.compile(rf"(?<!\d)(?P<d>\d{{1,2}}){_GAP}(?P<n>[^\W\d_]{{3,}}){_GAP}(?P<y>\d{{4}}|\d{{2}})(?!\d)")
_MONTH_FIRST = re.compile(rf"(?P<n>[^\W\d_]{{3,}}){_GAP}(?P<d>\d{{1,2}})(?!\d){_GAP}(?P<y>\d{{4}}|\d{{2}})(?!\d)")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_DIGITS = re.compile(r"\d{8}")
_PIVOT = 30
_FIRST_YEAR, _LAST_YEAR = 1800, 2200


class _Found(NamedTuple):
    """A date and the places of its parts in the text; ``name`` says in which list and language its month stands."""

    date: dt.date
    year: tuple[int, int]
    month: tuple[int, int]
    day: tuple[int, int]
    name: tuple[Mapping[str, str], str] | None = None


def moved_date(text: str, _canonical: str, draws: Draws) -> str | None:
    """Return the date that lies the subject's weeks away, in the same precision, language and order of parts.

    None for what is no date of the calendar, and for a date without a day: what cannot be moved is a token.
    """
    found = _read(text, month_first=draws.month_first)
    if found is None:
        return None
    try:
        date = found.date + dt.timedelta(weeks=draws.weeks())
    except OverflowError:
        return None
    written = {
        found.year: f"{date.year:04}"[-(found.year[1] - found.year[0]) :],
        found.month: _month(text, found, date.month),
        found.day: _number(text[slice(*found.day)], date.day, found.date.day),
    }
    ordinal = _ORDINAL.match(text, found.day[1])
    if ordinal:
        written[ordinal.span()] = _ordinal(date.day)
    for (start, end), part in sorted(written.items(), reverse=True):
        text = text[:start] + part + text[end:]
    return text


def _ordinal(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def year_of(text: str) -> int | None:
    """Return the year that a date shows, in four digits; None where it shows none."""
    years = [int(year) for year in re.findall(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)", text)]
    if not years and _DIGITS.fullmatch(text):
        years = [int(text[:4])]
    return years[0] if years else None


def _read(text: str, *, month_first: bool) -> _Found | None:
    compact = _DIGITS.fullmatch(text.strip())
    if compact:
        at = text.index(compact[0])
        places = (at, at + 4), (at + 4, at + 6), (at + 6, at + 8)
        return _checked(text, *places)
    found = _YEAR_FIRST.search(text)
    if found:
        return _checked(text, found.span("y"), found.span("m"), found.span("d"))
    found = _NUMERIC.search(text)
    if found:
        day, month = found.span("a"), found.span("b")
        is_month_first = found["s"].strip() in ("/", "-") and month_first
        if (is_month_first and int(found["a"]) <= 12) or int(found["b"]) > 12:
            day, month = month, day
        return _checked(text, found.span("y"), month, day)
    return _with_name(text)


def _with_name(text: str) -> _Found | None:
    for form in (_DAY_FIRST, _MONTH_FIRST):
        for found in form.finditer(text):
            for table in (_MONTHS, _SHORT):
                for language, months in table.items():
                    listed = [bare(month) for month in months.split()]
                    if bare(found["n"]) in listed:
                        number = listed.index(bare(found["n"])) + 1
                        named = (table, language)
                        return _checked(text, found.span("y"), found.span("n"), found.span("d"), number, named)
    return None


def _checked(
    text: str,
    year: tuple[int, int],
    month: tuple[int, int],
    day: tuple[int, int],
    number: int | None = None,
    name: tuple[Mapping[str, str], str] | None = None,
) -> _Found | None:
    full_year = int(text[slice(*year)])
    if full_year < 100:
        full_year += 2000 if full_year < _PIVOT else 1900
    try:
        date = dt.date(full_year, number or int(text[slice(*month)]), int(text[slice(*day)]))
    except ValueError:
        return None
    return _Found(date, year, month, day, name) if _FIRST_YEAR <= full_year <= _LAST_YEAR else None


def _month(text: str, found: _Found, month: int) -> str:
    own = text[slice(*found.month)]
    if found.name is None:
        return _number(own, month, found.date.month)
    table, language = found.name
    # May is long and short at once: between hyphens months are short.
    if text[found.month[0] - 1 : found.month[0]] == "-" and bare(own) in map(bare, _SHORT[language].split()):
        table = _SHORT
    name = table[language].split()[month - 1]
    if own.isupper():
        return name.upper()
    return name.capitalize() if own[0].isupper() else name


def _number(own: str, value: int, own_value: int) -> str:
    """Write a number with a leading zero unless the old one, below ten, went without."""
    return str(value) if len(own) == 1 and own_value < 10 else f"{value:02}"
