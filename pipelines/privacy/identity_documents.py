"""Passports, driving licences, number plates, vehicles and identity cards by their label, in many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.labelled_values import Labelled, compact, labelled_values, of_size, value_starts
from pipelines.privacy.prefilter import DOCUMENTS
from pipelines.privacy.scan import (
    DRIVING_LICENCE,
    NATIONAL_ID,
    NUMBER_PLATE,
    PASSPORT,
    VEHICLE_ID,
    Scan,
    Span,
)

_PASSPORT = re.compile(
    r"\b(?:passport|reisepass|pass(?=[ -]?n(?:r|um|o)\b)|pasaporte|passeport|passaporte|passaporto|paspoort|paszport)"
    r"(?:u|s|es|nummer|number|no|nr)?(?![^\W_])"
    r"|паспорт\w{0,2}|护照|護照|旅券|パスポート|여권|جواز (?:ال)?سفر|पासपोर्ट"
)
_LICENCE = re.compile(
    r"\bdriv(?:er'?s?|ers|ing)[ _-]?licen[cs]e(?:number|no)?\b|\bdl (?:no|number|#)|führerschein(?:nummer|nr)?\b"
    r"|fuehrerschein\w{0,6}\b"
    r"|(?:permiso|carn[eé]t?|licencia) de conduc(?:ir|tor)|permis de conduire|cart(?:a|eira) de (?:condu[cç][aã]o"
    r"|motorista|habilita[cç][aã]o)"
    r"|\bcnh\b|\bpatente(?: di guida| n)?\b|\brijbewijs(?:nummer)?\b|praw[oa] jazdy"
    r"|водительск\w{2,6} (?:удостоверени\w|прав\w{0,2})|驾驶证|驾照|駕照"
    r"|運転免許証?|운전면허|رخصة (?:ال)?قيادة|ड्राइविंग लाइसेंस"
)
_PLATE = re.compile(
    r"\b(?:(?:licen[cs]e|number|registration|vehicle|reg) ?plates?|plate (?:no|number)|vehicle reg(?:istration)?"
    r"|(?:car|vehicle) registration)\b"
    r"|\b(?:my|your|his|her|their|our|car|van|truck|lorry|bike|motorbike|scooter|taxi|trailer)(?:'s)?"
    r" (?:plates?|reg)(?: reads?| says?)?\b"
    r"|\b(?:car|van|truck|lorry|bike|motorbike|vehicle)'s registration\b"
    r"|\bplates? (?:is|was|are|reads?|says?)\b|\bplates?(?=\s?[:：#])"
    r"|\b(?:(?:kfz-?|auto|pkw-?|lkw-?|fahrzeug)?kennzeichen|autonummer|nummernschild|nummerntafel|kontrollschild"
    r"|matr[ií]culas?|placas?|chapa|immatriculation|immatricul[ée]e?s?|plaques?(?: d'immatriculation| minéralogique)?"
    r"|targ(?:a|he|at[oa])|kenteken(?:plaat)?|nummerplaat|nummerbord)\b"
    r"|nume?r(?:[ay]|em|u)? rejestracyjn\w{1,3}|tablic\w rejestracyjn\w{1,3}|nr rej\b|\brejestracja\b"
    r"|гос\.? ?номер\w{0,2}|автономер|номерн\w{2} знак|номер\w{0,2} (?:авто\w{0,8}|машины)"
    r"|车牌号?码?|車牌號?碼?|号牌|ナンバープレート|ナンバー|차량 ?번호|번호판|لوحة|رقم (?:ال)?سيار\w{1,3}|प्लेट"
)
_VEHICLE = re.compile(
    r"\b(?:vin|vehicle identification|chassis|fahrgestellnummer|fahrzeug-?ident\w{0,16}|bastidor|châssis|telaio"
    r"|numer vin)\b"
)
_CARD = re.compile(
    r"\b(?:ssn|social security|social insurance|national (?:id|identity|identification|insurance)|identity card"
    r"|id card|emirates id|nhs"
    r"|medicare|medicaid|tax ?(?:id|payer id|file|identification)|citizen(?:ship)? id|voter id|aadhaar|nric|tin|itin"
    r"|nino"
    r"|steuer-?(?:id|identifikationsnummer|nummer)|steuernummer|sozialversicherungsnummer|rentenversicherungsnummer"
    r"|krankenversichertennummer|versichertennummer"
    r"|personalausweis\w{0,8}|ausweis(?:nummer|-?nr)|dni|nie|nif|c[eé]dula|documento (?:nacional )?de identidad"
    r"|seguridad social|n\.?a\.?s\.?s|cipa"
    r"|s[eé]curit[eé] sociale|carte (?:nationale )?d'identit[eé]|cart[ae] d'identit[aà]|carta (?:di )?identità"
    r"|codice fiscale|tessera sanitaria"
    r"|cart[aã]o de cidad[aã]o|bilhete de identidade|contribuinte|cpf|rg|burgerservicenummer|bsn|rijksregisternummer"
    r"|identiteitskaart(?:nummer)?"
    r"|pesel|nip|dow[oó]d(?:u)? osobist\w{1,3}|personnummer|fødselsnummer|cpr|hetu)\b"
    r"|身份证|身分證|マイナンバー|個人番号|주민등록|هوية|الهوية الوطنية|инн|снилс|आधार|पैन"
)

_MIN_LETTERS = 3
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", map(int, "123456781234579234567890123456789"), strict=True))


def _is_vin(value: str) -> bool:
    """Tell whether 17 signs can be a vehicle identification number (ISO 3779: no I, O, Q)."""
    bare = compact(value)
    return len(bare) == 17 and not set(bare) & set("IOQ") and any(map(str.isdigit, bare))


def has_vin_check_digit(value: str) -> bool:
    """Tell whether the ninth sign is the check digit that North America asks for (49 CFR 565.15)."""
    check = sum(_VIN_VALUES[c] * weight for c, weight in zip(value, _VIN_WEIGHTS, strict=True)) % 11
    return value[8] == ("X" if check == 10 else str(check))


_INDIAN_PLATE = re.compile(r"[A-Z]{2}[0-9]{1,2}[A-Z]{1,3}[0-9]{4}")
_HARDWARE = re.compile(r"(?:RTX|GTX|RX|GT|ATX|DDR|PCI|USB|HDMI|LGA|ISO|DIN)[0-9]")
# In Spanish and Portuguese the word for a plate is the one for a card of a computer.


def _is_plate(value: str) -> bool:
    bare = compact(value)
    if bare.isdigit() or bare.isalpha() or _HARDWARE.match(bare):
        return False
    return value == value.upper() and (4 <= len(bare) <= 9 or _INDIAN_PLATE.fullmatch(bare) is not None)


_NATIVE_PLATE = re.compile(
    r"(?:[авекмнорстух] ?[0-9]{3} ?[авекмнорстух]{2} ?[0-9]{2,3}|[а-яіїє]{2} ?[0-9]{4} ?[а-яіїє]{2}"
    r"|[\u4e00-\u9fff] ?[a-z] ?[·•・.-]?[a-z0-9]{5,6}"
    r"|[\u3041-\u3096\u4e00-\u9fff]{1,4} ?[0-9]{2,3} ?[\u3041-\u3096] ?[0-9・·.-]{1,5}"
    r"|[0-9]{2,3}[가-힣] ?[0-9]{4}"
    r"|(?:[\u0621-\u064a] ?){1,3}[0-9]{1,4}|[0-9]{1,4} ?(?:[\u0621-\u064a](?: |(?![\u0621-\u064a]))){1,3})"
    r"(?![0-9A-Za-z])"
)
"""Plates of Russia, Ukraine, China, Japan, Korea and Arab states in their own letters, lower-case."""


_RULES = (
    Labelled(PASSPORT, _PASSPORT, of_size(6, 12, 3)),
    Labelled(DRIVING_LICENCE, _LICENCE, of_size(5, 18, 3)),
    Labelled(NUMBER_PLATE, _PLATE, _is_plate),
    Labelled(VEHICLE_ID, _VEHICLE, _is_vin),
    Labelled(NATIONAL_ID, _CARD, of_size(6, 20, 5)),
)
_LONG = re.compile(r"[A-Z0-9<]{16,44}")
_BRITISH_LICENCE = re.compile(r"[A-Z9]{5}[0-9][0156][0-9](?:[0-2][0-9]|3[01])[0-9][A-Z9]{2}[A-Z0-9][A-Z]{2}")
_BARE_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{11}[0-9]{6}")
_PASSPORT_LINE = re.compile(r"[A-Z0-9<]{9}[0-9][A-Z<]{3}[0-9]{7}[MFX<][0-9]{7}[A-Z0-9<]{14}[0-9<][0-9]")
_CHECK_VALUES = {c: int(c, 36) for c in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"} | {"<": 0}


def identity_documents(scan: Scan) -> Iterator[Span]:
    """Find numbers of documents after their label. Canonical: capitals and digits alone.

    The value must hold digits. Where a national id has a checksum, ``national_ids`` finds it without a label; after an
    explicit label a mistyped one counts too.
    """
    yield from labelled_values(scan, DOCUMENTS, _RULES)
    if not scan.text.isascii():
        yield from native_plates(scan)


def native_plates(scan: Scan) -> Iterator[Span]:
    """Find number plates with letters of other scripts after a word for them. Canonical: capitals and digits alone."""
    for start in value_starts(scan, DOCUMENTS, _PLATE):
        found = _NATIVE_PLATE.match(scan.lowered, start)
        if found:
            end = start + len(found[0].rstrip())
            yield Span(start, end, NUMBER_PLATE, compact(scan.text[start:end]))


def shaped_documents(scan: Scan) -> Iterator[Span]:
    """Find numbers of documents that need no label: British driving licences, vehicles, machine readable passports."""
    for found in _LONG.finditer(scan.text):
        value, (start, end) = found[0], found.span()
        around = scan.text[max(0, start - 1) : start] + scan.text[end : end + 1]
        kind = None if any(c.isalnum() or c == "_" for c in around) else _kind_of(value)
        if kind:
            yield Span(start, end, kind, value[:9].strip("<") if kind == PASSPORT else value)


def _kind_of(value: str) -> str | None:
    if _BRITISH_LICENCE.fullmatch(value) and not value[:5].isdigit():
        return DRIVING_LICENCE
    if _BARE_VIN.fullmatch(value) and sum(map(str.isalpha, value)) >= _MIN_LETTERS and has_vin_check_digit(value):
        return VEHICLE_ID
    return PASSPORT if _PASSPORT_LINE.fullmatch(value) and _is_passport_line(value) else None


def _is_passport_line(line: str) -> bool:
    """Tell whether the check digits of number, birth and expiry hold (ICAO 9303 part 3 section 4.9)."""
    return all(_check_digit(line[a:b]) == line[b] for a, b in ((0, 9), (13, 19), (21, 27)))


def _check_digit(field: str) -> str:
    return str(sum(_CHECK_VALUES[c] * (7, 3, 1)[i % 3] for i, c in enumerate(field)) % 10)
