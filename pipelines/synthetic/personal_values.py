"""Invented personal values that pass the checks of real ones: right shape, right checksum, and nobody's.

Ranges that reach nobody are used where a type has them: phone numbers that regulators keep for drama, networks without
customers, birth dates of the nineteenth century, bank codes and area numbers that were never given out.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from random import Random

from stdnum import iban, luhn

from pipelines.synthetic.national_ids import NATIONAL_IDS

_CONSONANTS, _VOWELS, _DIGITS = "bdfgklmnprstvz", "aeiou", string.digits
_LETTERS = string.ascii_uppercase
_CARDS = (("400000", 16), ("555555", 16), ("272099", 16), ("601111", 16), ("378282", 15))
"""Issuer prefixes of the networks' own test ranges, with the length."""

_AREAS = (202, 206, 212, 213, 214, 303, 305, 312, 404, 415, 503, 512, 602, 617, 702, 713, 808)
_PHONES = (
    *((f"+1 {area} 555 01%02d", 100) for area in _AREAS),
    ("+44 20 7946 0%03d", 1000), ("+49 30 23125 %03d", 1000), ("+49 221 4710 %03d", 1000), ("+46 8 465 004 %02d", 100),
    ("+61 2 5550 %04d", 10_000), ("+33 1 99 00 %04d", 10_000), ("+33 2 61 91 %04d", 10_000),
    ("+33 3 53 01 %04d", 10_000), ("+33 4 65 71 %04d", 10_000), ("+33 5 36 49 %04d", 10_000),
)  # fmt: skip
"""Numbers that regulators keep for books and films (NANPA 555-01XX, Ofcom, BNetzA, PTS, ACMA, ARCEP)."""

PHONES_IN_ALL = sum(size for _, size in _PHONES)
_PHONE_STEP = 104_729
_IBAN_BANKS = {"DE": "99999999", "AT": "99999", "CH": "99999", "PL": "99999999", "NL": "ZZZZ", "GB": "ZZZZ999999"}
_IBAN_DIGITS = {"DE": 10, "AT": 11, "CH": 12, "PL": 16, "NL": 10, "GB": 8}
_KEYS = (
    ("AKIA", _LETTERS + "234567", 16),
    ("ghp_", string.ascii_letters + _DIGITS, 36),
    ("sk-proj-", string.ascii_letters + _DIGITS, 48),
    ("sk_live_", string.ascii_letters + _DIGITS, 24),
    ("AIza", string.ascii_letters + _DIGITS + "_-", 35),
    ("glpat-", string.ascii_letters + _DIGITS, 20),
)
_CONNECTIONS = (
    "mongodb+srv://root:{password}@cluster0.quillforge-hosting.com/shop",
    "mysql://shop:{password}@db.quillforge-hosting.com:3306/orders",
    "amqp://worker:{password}@queue.quillforge-hosting.com:5672/",
    "redis://:{password}@cache.quillforge-hosting.com:6379/0",
    "Server=db.quillforge-hosting.com;Database=shop;User Id=app;Password={password};",
    "jdbc:postgresql://db.quillforge-hosting.com/shop?user=app&password={password}",
)
_JWT_HEADER = b'{"alg":"HS256","typ":"JWT"}'


class PersonalValues:
    """Draws values by type, each at most once in the life of the object."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._drawn: set[str] = set()
        self._phones = 0
        self._phone_start = random.randrange(PHONES_IN_ALL)

    def email(self) -> str:
        """Return an address at an invented domain under a public suffix, in one of several cases and shapes."""
        kind, suffix = self._one_of("mail", "post", "letters", "inbox"), self._one_of("com", "net", "org", "io")
        domain = f"{self._word(4)}-{kind}.{suffix}"
        local = self._one_of(
            f"{self._word(2)}.{self._word(3)}",
            f"{self._word(3)}{self._random.randrange(10, 99)}",
            f"{self._word(2)}_{self._word(2)}+{self._word(2)}",
            f"{self._word(2).title()}.{self._word(3).title()}",
        )
        return self._fresh(lambda: f"{local}@{self._word(2)}{domain}")

    def phone(self) -> str:
        """Return a number in international form that is valid and reaches nobody; LookupError when all are drawn."""
        if self._phones >= PHONES_IN_ALL:
            raise LookupError(f"only {PHONES_IN_ALL} telephone numbers reach nobody")
        place = (self._phone_start + self._phones * _PHONE_STEP) % PHONES_IN_ALL
        self._phones += 1
        for shape, size in _PHONES:
            if place < size:
                return self._grouped(shape % place)
            place -= size
        raise AssertionError("a place lies below the sum of all sizes")

    def _grouped(self, number: str) -> str:
        if number.startswith("+33"):
            number = f"{number[:-2]} {number[-2:]}"
        return number.replace(" ", "-") if number.startswith("+1") and self._random.random() < 0.5 else number

    def card(self) -> str:
        """Return a payment card number with a right Luhn digit, spaced, hyphenated or plain."""

        def draw() -> str:
            prefix, length = self._random.choice(_CARDS)
            body = prefix + self._digits(length - 1 - len(prefix))
            digits = body + str(luhn.calc_check_digit(body))
            groups = (4, 6, 5) if length == 15 else (4, 4, 4, 4)
            return _split(digits, groups, separator)

        separator = self._one_of(" ", "-", "")
        return self._fresh(draw)

    def iban(self) -> str:
        """Return an IBAN of an unassigned bank code with right check digits, in groups of four or plain."""
        country = self._random.choice(sorted(_IBAN_BANKS))
        spaced = self._random.random() < 0.5

        def draw() -> str:
            account = _IBAN_BANKS[country] + self._digits(_IBAN_DIGITS[country])
            if country == "PL":
                account = account[:24]
            number = country + iban.calc_check_digits(f"{country}00{account}") + account
            return _split(number, (4,) * 9, " ") if spaced else number

        return self._fresh(draw)

    def ip_address(self) -> str:
        """Return an IPv4 or IPv6 address of a public range without customers (28/8; 2d00::/8, not allocated)."""

        def octet() -> int:
            return self._random.randrange(100, 255)

        def draw() -> str:
            if six:
                return ":".join(["2d00", *(f"{self._random.randrange(0x1000, 0x10000):x}" for _ in range(7))])
            return f"28.{octet()}.{octet()}.{octet()}"

        six = self._random.random() < 0.3
        return self._fresh(draw)

    def national_id(self, country: str) -> str:
        """Return an id with a right checksum: SSN for US, DNI for ES, and so on; KeyError for a country not known."""
        return self._fresh(lambda: NATIONAL_IDS[country](self._random))

    def password(self) -> str:
        """Return a password of 14 letters and digits, safe inside a URL."""
        return self._fresh(lambda: "".join(self._random.choices(string.ascii_letters + _DIGITS, k=14)))

    def labelled_password(self) -> str:
        """Return a password as people choose them where a rule asks for a mark: letters, digits and a mark inside."""
        letters = string.ascii_letters + _DIGITS
        return self._fresh(
            lambda: _some(self._random, letters, 7) + self._one_of(*"!#*?") + _some(self._random, letters, 6)
        )

    def connection(self) -> tuple[str, str]:
        """Return a connection string with a password in it, and the password."""
        password = self.password()
        return self._random.choice(_CONNECTIONS).format(password=password), password

    def jwt(self) -> str:
        """Return a JSON Web Token, signed by nobody; its claims name nobody."""
        claims = {"sub": f"{self._random.getrandbits(48):012x}", "iat": 1_780_000_000, "exp": 1_780_003_600}
        signature = self._random.randbytes(32)
        return ".".join(map(_base64url, (_JWT_HEADER, json.dumps(claims).encode(), signature)))

    def api_key(self) -> str:
        """Return a key in one of the shapes that well-known services give out."""
        prefix, alphabet, length = self._random.choice(_KEYS)
        return self._fresh(lambda: prefix + "".join(self._random.choices(alphabet, k=length)))

    def _fresh(self, draw: Callable[[], str]) -> str:
        while (value := draw()) in self._drawn:
            continue
        self._drawn.add(value)
        return value

    def _one_of(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _digits(self, count: int) -> str:
        return "".join(self._random.choices(_DIGITS, k=count))

    def _word(self, syllables: int) -> str:
        return "".join(self._random.choice(_CONSONANTS) + self._random.choice(_VOWELS) for _ in range(syllables))


def _some(random: Random, letters: str, count: int) -> str:
    return "".join(random.choices(letters, k=count))


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _split(text: str, sizes: tuple[int, ...], separator: str) -> str:
    parts, place = [], 0
    for size in sizes:
        parts.append(text[place : place + size])
        place += size
    return separator.join(part for part in parts if part)
