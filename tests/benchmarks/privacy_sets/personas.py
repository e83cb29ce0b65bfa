"""One invented person: names in all their written forms, and everything that belongs to the person."""

from __future__ import annotations

import unicodedata
from datetime import date, timedelta
from random import Random

from privacy_sets import personal_values as values
from privacy_sets.filling import Value
from privacy_sets.languages.english import ENGLISH
from privacy_sets.languages.form import ChatLanguage

from pipelines.synthetic.national_ids import NATIONAL_IDS

_MAIL_HOSTS = ("tarnholm-mail.com", "kestrelpost.net", "lindwurm-post.de", "correo-almenar.es", "moulinet-lettres.fr")


class Persona:
    """Draws a person of a language. The same gap gives the same value for the life of the object."""

    def __init__(self, random: Random, language: ChatLanguage, entity: str) -> None:
        native = language if language.given else ENGLISH
        self._random, self._language, self._native, self.entity = random, language, native, entity
        self.given, self.family = random.choice(native.given), random.choice(native.family)
        self._values: dict[str, Value] = {}

    def value(self, gap: str) -> Value:
        """Return the value of a gap such as ``email``; raises ``KeyError`` for a gap that persons do not have."""
        if gap not in self._values:
            text, kind = self._names(gap) or getattr(self, f"_{gap}")()
            self._values[gap] = Value(text, kind, self.entity if kind == "PERSON" else "")
        return self._values[gap]

    def _names(self, gap: str) -> tuple[str, str] | None:
        full = f"{self.given} {self.family}"
        forms = {
            "full": full,
            "given": self.given,
            "family": self.family,
            "caps": full.upper(),
            "lower": full.lower(),
            "initials": f"{self.given[0]}. {self.family}",
            "reverse": f"{self.family}, {self.given}",
        }
        return (forms[gap], "PERSON") if gap in forms else None

    def _email(self) -> tuple[str, str]:
        given, family = ascii_name(self.given), ascii_name(self.family)
        forms = (f"{given}.{family}", f"{given[0]}{family}", f"{family}_{given}", f"{given}.{family}+shop")
        local = self._random.choice((*forms, f"{given}{self._number()}"))
        host = self._random.choice(_MAIL_HOSTS)
        return self._random.choice((f"{local}@{host}", f"{local.title()}@{host}", f"{local}@mx.{host}")), "EMAIL"

    def _spelled_email(self) -> tuple[str, str]:
        at, dot = self._language.at_and_dot
        return f"{ascii_name(self.given)}{self._number()} {at} gmail {dot} com", "EMAIL"

    def _phone(self) -> tuple[str, str]:
        return values.filled(self._random, self._random.choice(self._language.phones)), "PHONE"

    def _address(self) -> tuple[str, str]:
        native = self._native
        form = self._random.choice(native.addresses)
        return form.format(
            street=self._random.choice(native.streets),
            number=self._random.randrange(1, 240),
            unit=self._random.randrange(1, 30),
            city=self._random.choice(native.cities),
            postcode=values.filled(self._random, self._random.choice(native.postcodes)).strip(),
        ), "ADDRESS"

    def _birth_date(self) -> tuple[str, str]:
        day = date(1936, 1, 1) + timedelta(days=self._random.randrange(25_000))
        form = self._random.choice(self._language.dates).replace("@", self._language.months[day.month - 1])
        return day.strftime(form), "DATE_OF_BIRTH"

    def _national_id(self) -> tuple[str, str]:
        country = self._language.national_id
        return NATIONAL_IDS[country](self._random), "SSN" if country == "SSN" else "NATIONAL_ID"

    def _username(self) -> tuple[str, str]:
        return f"{ascii_name(self.given)}_{ascii_name(self.family)[:4]}{self._number()}", "USERNAME"

    def _handle(self) -> tuple[str, str]:
        return f"@{ascii_name(self.given)[0]}{ascii_name(self.family)}", "USERNAME"

    def _card(self) -> tuple[str, str]:
        return values.card(self._random), "CREDIT_CARD"

    def _iban(self) -> tuple[str, str]:
        return values.bank_iban(self._random), "IBAN"

    def _account(self) -> tuple[str, str]:
        return values.digits(self._random, 10), "BANK_ACCOUNT"

    def _password(self) -> tuple[str, str]:
        return values.password(self._random), "SECRET"

    def _api_key(self) -> tuple[str, str]:
        return values.api_key(self._random), "SECRET"

    def _ip(self) -> tuple[str, str]:
        return values.ip_address(self._random), "IP_ADDRESS"

    def _mac(self) -> tuple[str, str]:
        return values.mac_address(self._random), "MAC_ADDRESS"

    def _passport(self) -> tuple[str, str]:
        return values.passport(self._random), "PASSPORT"

    def _plate(self) -> tuple[str, str]:
        return values.number_plate(self._random), "NUMBER_PLATE"

    def _record(self) -> tuple[str, str]:
        return values.digits(self._random, 8), "MEDICAL_RECORD"

    def _wallet(self) -> tuple[str, str]:
        return values.bitcoin_address(self._random), "CRYPTO_ADDRESS"

    def _place(self) -> tuple[str, str]:
        north, west = self._random.uniform(30, 60), self._random.uniform(-60, -20)
        return f"{north:.5f}, {west:.5f}", "GEO_COORDINATE"

    def _number(self) -> int:
        return self._random.randrange(10, 99)


def ascii_name(name: str) -> str:
    """Return a name as it stands in addresses: lower case, without marks, spaces and hyphens."""
    bare = unicodedata.normalize("NFKD", name.lower().replace("ß", "ss").replace("ł", "l"))
    return "".join(letter for letter in bare if letter.isascii() and letter.isalpha())
