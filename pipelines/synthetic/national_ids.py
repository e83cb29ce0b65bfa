"""Invented national ids with right checksums, one function a country."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from stdnum.br import cpf as br_cpf
from stdnum.de import idnr
from stdnum.fr import nir as fr_nir
from stdnum.it import codicefiscale
from stdnum.jp import in_ as jp_number
from stdnum.nl import bsn as nl_bsn
from stdnum.pl import pesel as pl_pesel
from stdnum.pt import nif as pt_nif
from stdnum.ru import inn as ru_inn

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def ssn(random: Random) -> str:
    """Return a Social Security number of an area (750-772) that was never given out before 2011."""
    area, group, serial = random.randrange(750, 773), random.randrange(1, 99), random.randrange(1, 9999)
    return f"{area}-{group:02}-{serial:04}"


def dni(random: Random) -> str:
    """Return a Spanish DNI with its letter."""
    number = random.randrange(90_000_000, 99_999_999)
    return f"{number}{_DNI_LETTERS[number % 23]}"


def bsn(random: Random) -> str:
    """Return a Dutch BSN that passes the eleven test."""
    while True:
        number = f"9{_digits(random, 8)}"
        if nl_bsn.is_valid(number):
            return number


def pesel(random: Random) -> str:
    """Return a Polish PESEL of a birth in the nineteenth century (month + 80)."""
    month, day = 80 + random.randrange(1, 13), random.randrange(1, 29)
    body = f"{random.randrange(10, 60)}{month}{day:02}{_digits(random, 4)}"
    return body + str(pl_pesel.calc_check_digit(body))


def cpf(random: Random) -> str:
    """Return a Brazilian CPF, written with its marks."""
    while True:
        body = _digits(random, 9)
        number = next((n for tail in range(100) if br_cpf.is_valid(n := f"{body}{tail:02}")), None)
        if number:
            return str(br_cpf.format(number))


def nif(random: Random) -> str:
    """Return a Portuguese NIF."""
    body = f"2{_digits(random, 7)}"
    return body + str(pt_nif.calc_check_digit(body))


def steuer_id(random: Random) -> str:
    """Return a German tax id, one digit of it twice."""
    while True:
        digits = random.sample("0123456789", 9)
        digits.insert(random.randrange(1, 10), random.choice(digits))
        number = next((n for tail in "0123456789" if idnr.is_valid(n := "".join(digits) + tail)), None)
        if number:
            return number


def nir(random: Random) -> str:
    """Return a French social security number of a birth abroad."""
    body = f"1{random.randrange(10, 60)}{random.randrange(1, 13):02}99{_digits(random, 6)}"
    return body + str(fr_nir.calc_check_digits(body))


def codice_fiscale(random: Random) -> str:
    """Return an Italian fiscal code of a birth abroad."""
    letters = "".join(random.choices("BCDFGLMNPRSTVZ", k=6))
    year, month, day = random.randrange(10, 60), random.choice("ABCDEHLMPRST"), random.randrange(1, 29)
    body = f"{letters}{year}{month}{day:02}Z{random.randrange(100, 999)}"
    return body + str(codicefiscale.calc_check_digit(body))


def inn(random: Random) -> str:
    """Return a Russian tax number of a person, of a region (00) that there is not."""
    body = f"00{_digits(random, 8)}"
    return body + str(ru_inn.calc_personal_check_digits(body))


def my_number(random: Random) -> str:
    """Return a Japanese individual number with its check digit."""
    body = f"0{_digits(random, 10)}"
    return body + str(jp_number.calc_check_digit(body))


def _digits(random: Random, count: int) -> str:
    return "".join(random.choices("0123456789", k=count))


NATIONAL_IDS: dict[str, Callable[[Random], str]] = {
    "SSN": ssn,
    "ES": dni,
    "NL": bsn,
    "PL": pesel,
    "BR": cpf,
    "PT": nif,
    "DE": steuer_id,
    "FR": nir,
    "IT": codice_fiscale,
    "RU": inn,
    "JP": my_number,
}
"""Functions by country; ``SSN`` stands for the United States."""
