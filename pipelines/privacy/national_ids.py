"""National identity, tax and health numbers: usual separators or a word that announces them, and a checksum."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stdnum.ar import cuit
from stdnum.at import vnr
from stdnum.au import tfn
from stdnum.be import nn
from stdnum.bg import egn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.cl import rut
from stdnum.cn import ric
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.do import cedula
from stdnum.ec import ci
from stdnum.ee import ik
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs, utr
from stdnum.gr import amka
from stdnum.hr import oib
from stdnum.id import nik
from stdnum.ie import pps
from stdnum.il import idnr as il_idnr
from stdnum.in_ import aadhaar, pan
from stdnum.is_ import kennitala
from stdnum.it import codicefiscale
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.lt import asmens
from stdnum.mx import curp, rfc
from stdnum.my import nric
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.nz import ird
from stdnum.pk import cnic
from stdnum.pl import pesel
from stdnum.pt import cc, nif
from stdnum.ro import cnp
from stdnum.ru import inn
from stdnum.se import personnummer
from stdnum.si import emso
from stdnum.th import pin as th_pin
from stdnum.tr import tckimlik
from stdnum.ua import rntrc
from stdnum.us import itin, ssn
from stdnum.za import idnr as za_idnr

from pipelines.privacy.bank_detectors import passes_luhn
from pipelines.privacy.number_groups import Window
from pipelines.privacy.scan import NATIONAL_ID, SSN, Scan, Span

Validator = Callable[[str], bool]


def is_emirates_id(digits: str) -> bool:
    """Tell whether 15 digits are an id of the United Arab Emirates: 784, year, serial, Luhn."""
    bare = "".join(c for c in digits if c.isdigit())
    return len(bare) == 15 and bare.startswith("784") and passes_luhn(bare)


def is_saudi_id(digits: str) -> bool:
    """Tell whether 10 digits are an id of Saudi Arabia: 1 for citizens, 2 for residents, Luhn."""
    return len(digits) == 10 and digits[0] in "12" and passes_luhn(digits)


def is_chinese_id(value: str) -> bool:
    """Tell whether a value is a Chinese resident id: place and date of birth, check digit."""
    try:
        return bool(ric.is_valid(value))
    except KeyError:
        # The library fails on places that its list has the province of, and no county.
        return False


def is_hong_kong_id(value: str) -> bool:
    """Tell whether the check digit of an identity card of Hong Kong holds (weights 9 to 1, mod 11)."""
    bare = "".join(c for c in value.upper() if c.isalnum())
    letters, digits, check = bare[:-7], bare[-7:-1], bare[-1]
    numbers = [ord(c) - 55 for c in letters.rjust(2, "[")] + [int(c) for c in digits]
    total = sum(n * weight for n, weight in zip(numbers, range(9, 1, -1), strict=True))
    return check == "0123456789A"[-total % 11]


def is_singapore_id(value: str) -> bool:
    """Tell whether the last letter of an identity number of Singapore holds (weights 2, 7 to 2, mod 11)."""
    bare = value.upper()
    total = sum(int(d) * weight for d, weight in zip(bare[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))
    total += {"T": 4, "G": 4, "M": 3}.get(bare[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(bare[0], "XWUTRQPNMLK")
    return bare[8] == letters[(10 - total % 11) if bare[0] == "M" else total % 11]


def is_taiwan_id(value: str) -> bool:
    """Tell whether the check digit of an identity card of Taiwan holds (letter as two digits, weights 1, 9 to 1)."""
    bare = value.upper()
    place = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(bare[0]) + 10
    total = place // 10 + place % 10 * 9
    total += sum(int(d) * weight for d, weight in zip(bare[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True))
    return total % 10 == 0


_BY_SHAPE: Mapping[str, tuple[Validator, ...]] = {
    "999-99-9999": (itin.is_valid,),
    "999 99 9999": (itin.is_valid,),
    "999.999.999-99": (cpf.is_valid,),
    "99.99.99-999.99": (nn.is_valid,),
    "99.99.99-999-99": (nn.is_valid,),
    "999.9999.9999.99": (ahv.is_valid,),
    "9999 9999 9999": (aadhaar.is_valid,),
    "9999-9999-9999": (aadhaar.is_valid,),
    "999999-9999": (personnummer.is_valid, kennitala.is_valid),
    "99999999-9999": (personnummer.is_valid,),
    "999999-9999999": (rrn.is_valid,),
    "99 999 999 999": (idnr.is_valid,),
    "9 99 99 99 999 999 99": (nir.is_valid,),
    "999-999-999": (sin.is_valid,),
    "99.999.999-9": (rut.is_valid,),
    "999999/9999": (rc.is_valid,),
    "9-9999-99999-99-9": (th_pin.is_valid,),
    "999999-99-9999": (nric.is_valid,),
    "999-9999999-9": (cedula.is_valid,),
    "99-99999999-9": (cuit.is_valid,),
    "99999-9999999-9": (cnic.is_valid,),
    "999-9999-9999999-9": (is_emirates_id,),
    "999999999999999999": (is_chinese_id,),
    "999999999999999": (nir.is_valid,),
}
"""What the usual way of writing says. Validators of python-stdnum check date, region and checksum."""

_BY_LENGTH: Mapping[int, tuple[Validator, ...]] = {
    8: (tfn.is_valid, dni.is_valid, ird.is_valid),
    9: (
        bsn.is_valid,
        nif.is_valid,
        sin.is_valid,
        tfn.is_valid,
        rut.is_valid,
        il_idnr.is_valid,
        rc.is_valid,
        itin.is_valid,
        ird.is_valid,
    ),
    10: (
        personnummer.is_valid,
        nhs.is_valid,
        egn.is_valid,
        rc.is_valid,
        kennitala.is_valid,
        cpr.is_valid,
        utr.is_valid,
        vnr.is_valid,
        ci.is_valid,
        rntrc.is_valid,
        is_saudi_id,
    ),
    11: (
        *(idnr.is_valid, pesel.is_valid, cpf.is_valid, nn.is_valid, fodselsnummer.is_valid, tckimlik.is_valid),
        *(oib.is_valid, ik.is_valid, asmens.is_valid, cuit.is_valid, cedula.is_valid, amka.is_valid),
    ),
    12: (aadhaar.is_valid, my_number.is_valid, personnummer.is_valid, nric.is_valid, inn.is_valid),
    13: (ahv.is_valid, za_idnr.is_valid, rrn.is_valid, cnp.is_valid, th_pin.is_valid, emso.is_valid, cnic.is_valid),
    15: (nir.is_valid, is_emirates_id),
    16: (nik.is_valid,),
    18: (is_chinese_id,),
}
"""What digits alone may be after a word that announces them."""

ID_CUE = re.compile(
    r"\bssns?\b|social[ -](?:security|insurance)|tax(?:payer)? ?(?:id\b|ident|number|file|no\b)|steuer|\bidentifikation"
    r"|nationa?l[ -]?(?:id\b|ident|insurance|number|health)|(?:identity|citizen|personal|id)[ -](?:card|code)"
    r"|(?:identity|identification|citizen|personal|id)[ -](?:number|no\b|nr\b)|burgerservice|\bsofi|\bpesel\b|\bcpfs?\b"
    r"|\b(?:sin|itin|tin|tfn|idnr|nino|nhs|utr|dni|nie|nif|niss|insz|nir|nrn|bsn|cpr|ahv|avs|pan|rrn|cnp|egn|oib"
    r"|emso|curp)\b"
    r"|person(?:nummer|nr\b)|personal?[ -]?(?:id\b|nummer)|f[øo]dselsnummer|hetu|henkilötunnus|rijksregister"
    r"|registre national|aad?haa?r|codice fiscale|s[ée]curit[ée] sociale|num[ée]ro de s[ée]cu|\binsee\b|kimlik|\bemšo\b"
    r"|rodné|rodne|my ?number|c[ée]dula|\bru[tn]\b|\bcui[tl]\b|kennitala|isikukood|asmens kodas|sozialversicherung"
    r"|contribuinte|\bppsn?\b|\bteudat|emirates|iqama|\b(?:hkid|nric|fin|ird|amka|rfc|nik|cnic|inn|svnr|vsnr)\b|инн"
    r"|ипн|рнокпп|هوية|आधार|पैन|身份证|身分證|マイナンバー|주민"
)
"""Words that announce a number of a person, near before it."""


_SSN_CUE = re.compile(r"\bssns?\b|social security")


def national_id(scan: Scan, window: Window) -> Span | None:
    """Return the national id that fills a window, or None. Canonical: its digits.

    US social security numbers have no checksum; their rules of shape are those of the SSA (python-stdnum ``us.ssn``).
    """
    if window.has_plus or window.is_glued or window.text[0] == "(":
        return None
    kind = _kind_of(scan, window)
    if kind is None or scan.is_machine_id(window.start, window.end):
        return None
    return Span(window.start, window.end, kind, window.digits)


def _kind_of(scan: Scan, window: Window) -> str | None:
    shape, digits = window.shape, window.digits
    if shape in ("999-99-9999", "999 99 9999") and ssn.is_valid(digits):
        return SSN
    if any(is_valid(digits) for is_valid in _BY_SHAPE.get(shape, ())):
        return NATIONAL_ID
    validators = _BY_LENGTH.get(len(digits))
    if validators is None or not _has_cue(scan, window.start):
        return None
    if len(digits) == 9 and scan.gap_after(_SSN_CUE, window.start, 30) is not None and ssn.is_valid(digits):
        return SSN
    return NATIONAL_ID if any(is_valid(digits) for is_valid in validators) else None


def _is_nino(value: str) -> bool:
    """Tell whether a GB national insurance number keeps the rules of shape (HMRC manual NIM39110)."""
    compact = value.replace(" ", "").upper()
    return compact[0] not in "DFIQUV" and compact[1] not in "DFIOQUV" and compact[:2] not in _UNUSED_NINO_PREFIXES


_UNUSED_NINO_PREFIXES = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})

_WITH_LETTERS = re.compile(
    r"\b(?:(?P<nie>[xyz][ -]?[0-9]{7}[ -]?[a-z])|(?P<dni>[0-9]{8}[ -]?[a-z])"
    r"|(?P<nino>[a-z]{2}(?: ?[0-9]{2}){3} ?[a-d])"
    r"|(?P<codicefiscale>[a-z]{6}[0-9lmnp-v]{2}[a-z][0-9lmnp-v]{2}[a-z][0-9lmnp-v]{3}[a-z])"
    r"|(?P<curp>[a-z]{4}[0-9]{6}[a-z]{6}[0-9a-z][0-9])|(?P<hetu>[0-9]{6}[-+a-fu-y][0-9]{3}[0-9a-y])"
    r"|(?P<ric>[0-9]{17}x)|(?P<nir>[12] ?[0-9]{2} ?[0-9]{2} ?2[ab] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})"
    r"|(?P<cc>[0-9]{8} ?[0-9] ?[a-z0-9]{2}[0-9])|(?P<rut>[0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3}-[0-9k])"
    r"|(?P<pps>[0-9]{7}[a-w][a-iw]?)|(?P<pan>[a-z]{5}[0-9]{4}[a-z])"
    r"|(?P<hkid>[a-z]{1,2}[0-9]{6}(?:[0-9a]|\([0-9a]\)))|(?P<nric>[stfgm][0-9]{7}[a-z])|(?P<twid>[a-z][1289][0-9]{8})"
    r"|(?P<rfc>[a-zñ&]{4}[0-9]{6}[0-9a-z]{3}))(?![^\W_])"
)
_LETTER_NEAR = re.compile(
    r"[0-9](?:[0-9][ -]?[a-z](?![a-z])|[0-9]{5}[a-z]{6}| ?[0-9]? ?[a-z]{2}[0-9]| ?2[ab] ?[0-9]|[0-9]-[0-9k]\b"
    r"|[0-9]{5}\(?[0-9a]|[0-9]{8})"
)
"""What each of these has and most text has not: a quick look before the slow one."""
_LONGEST = 24
_LETTER_RULES: Mapping[str, Validator] = {
    "nie": nie.is_valid,
    "dni": dni.is_valid,
    "nino": _is_nino,
    "codicefiscale": codicefiscale.is_valid,
    "curp": curp.is_valid,
    "hetu": hetu.is_valid,
    "ric": is_chinese_id,
    "nir": nir.is_valid,
    "cc": cc.is_valid,
    "rut": rut.is_valid,
    "pps": pps.is_valid,
    "pan": pan.is_valid,
    "hkid": is_hong_kong_id,
    "nric": is_singapore_id,
    "twid": is_taiwan_id,
    "rfc": rfc.is_valid,
}
_NEEDS_CUE = frozenset({"pps", "pan", "cc", "hkid", "twid", "rfc"})
_DAY_AND_ZONE = re.compile(r"(?:19|20)[0-9]{6}[tz]")


def ids_with_letters(scan: Scan) -> Iterator[Span]:
    """Find national ids that hold letters, in any case. Canonical: capitals and digits alone."""
    for found in _near_letters(scan.lowered):
        kind, value = str(found.lastgroup), found[0]
        if not _LETTER_RULES[kind](value.upper()) or _DAY_AND_ZONE.fullmatch(value):
            continue
        if (
            kind == "nino"
            and not scan.text[found.start() : found.end()].isupper()
            and not _has_cue(scan, found.start())
        ):
            continue
        if kind in _NEEDS_CUE and not _has_cue(scan, found.start()):
            continue
        if scan.is_machine_id(*found.span()):
            continue
        canonical = "".join(c for c in value if c.isalnum()).upper()
        yield Span(found.start(), found.end(), NATIONAL_ID, canonical)


def _near_letters(lowered: str) -> Iterator[re.Match[str]]:
    """Yield what has the form of an id near each place where digits and letters meet as in one."""
    done = 0
    for near in _LETTER_NEAR.finditer(lowered):
        if near.end() <= done:
            continue
        for found in _WITH_LETTERS.finditer(lowered, max(done, near.start() - _LONGEST), near.end() + _LONGEST):
            done = found.end()
            yield found


def _has_cue(scan: Scan, start: int) -> bool:
    return scan.gap_after(ID_CUE, start, 40) is not None
