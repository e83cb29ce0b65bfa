"""Names, places and streets to train with: lists of Faker (MIT) and of the United States census (public domain).

Both are needed for training alone. What ``is_held_out`` says yes to is kept for the held-out set.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from pipelines.privacy.tagger.training_languages import FURTHER_LOCALES, inflected

LOCALES = {
    "en": ("en_US", "en_GB", "en_IE", "en_NZ", "en_IN", "en_CA", "en_AU", "en_NG", "en_KE", "en_PK"),
    "de": ("de_DE", "de_AT", "de_CH", "de_LI", "de_LU"),
    "es": ("es_ES", "es_MX", "es_AR", "es_CO", "es_CL", "es_CA"),
    "fr": ("fr_FR", "fr_CA", "fr_CH", "fr_BE", "fr_QC"),
    "it": ("it_IT",),
    "nl": ("nl_NL", "nl_BE"),
    "pt": ("pt_BR", "pt_PT"),
    "pl": ("pl_PL",),
    "": (
        "is_IS", "ga_IE", "ha_NG", "ig_NG", "yo_NG", "tw_GH", "zu_ZA", "az_AZ", "uz_UZ", "en_TH", "sw", "fr_DZ",
        "fil_PH",
    ),
    **FURTHER_LOCALES,
}  # fmt: skip
HELD_OUT_PART = 12
_PLACES = ("cities", "city_names", "states", "provinces", "regions", "countries", "municipalities", "counties")
_STREETS = ("streets", "street_names", "roads")


def is_held_out(value: str) -> bool:
    """Tell whether a name or a template is kept for the held-out set: one in twelve, by its hash."""
    return crc32(value.lower().encode()) % HELD_OUT_PART == 0


@dataclass
class NameLists:
    """Words for names and addresses of one language (or of the rest of the world)."""

    given: list[str] = field(default_factory=list)
    family: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    streets: list[str] = field(default_factory=list)

    frequent: frozenset[str] = frozenset()

    def part(self, held_out: bool) -> NameLists:
        """Return the lists to train with, or those that were held out; frequent names are always trained with."""

        def belongs(name: str) -> bool:
            return (is_held_out(name) and name not in self.frequent) == held_out

        return NameLists(
            [name for name in self.given if belongs(name)],
            [name for name in self.family if belongs(name)],
            self.places,
            self.streets,
        )


def load_names(census: Path | None = None) -> dict[str, NameLists]:
    """Return lists by language code; ``census`` is a folder with the census files. ImportError without Faker."""
    lists = {}
    seen: Counter[str] = Counter()
    for code, locales in LOCALES.items():
        found = NameLists()
        for locale in locales:
            before = len(found.given), len(found.family)
            _add_person(found, locale)
            seen.update({*found.given[before[0] :], *found.family[before[1] :]})
            _add_address(found, locale)
        if code == "en" and census:
            for name in ("dist.male.first", "dist.female.first", "dist.all.last"):
                seen.update(_census(census / name, 600))
            found.given += list(_census(census / "dist.male.first", 1219))
            found.given += list(_census(census / "dist.female.first", 2800))
            found.family += list(_census(census / "dist.all.last", 18_000))
        lists[code] = NameLists(_clean(found.given), _clean(found.family), _clean(found.places), _clean(found.streets))
    frequent = frozenset(name for name, count in seen.items() if count > 1)
    for found in lists.values():
        found.frequent = frequent
    return lists


def _census(path: Path, count: int) -> Iterable[str]:
    for line in path.read_text().splitlines()[:count]:
        name = line.split()[0].title()
        yield "Mc" + name[2:].title() if name.startswith("Mc") and len(name) > 4 else name


def _provider(kind: str, locale: str) -> Any:
    try:
        return importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
    except ModuleNotFoundError:
        return None


def _add_person(found: NameLists, locale: str) -> None:
    provider = _provider("person", locale)
    for name in dir(provider):
        if "first_name" in name:
            found.given += _texts(getattr(provider, name))
        elif "last_name" in name:
            found.family += _texts(getattr(provider, name))


def _add_address(found: NameLists, locale: str) -> None:
    provider = _provider("address", locale)
    for name in _PLACES:
        found.places += _texts(getattr(provider, name, ()))
    for name in _STREETS:
        found.streets += _texts(getattr(provider, name, ()))


def _texts(values: Any) -> list[str]:
    result: list[str] = []
    if not isinstance(values, (tuple, list, dict)):
        return result
    for value in values:
        result += [part for part in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(part, str)]
    return result


def _clean(values: Iterable[str]) -> list[str]:
    return sorted({value.strip() for value in values if len(value.strip()) > 1 and "{" not in value})


class Persons:
    """Draws names in many forms. ``native`` are lists of the text's language, ``world`` those of all languages."""

    def __init__(self, random: Random, native: NameLists, world: NameLists, code: str = "en") -> None:
        self._random, self._native, self._world, self._code = random, native, world, code

    def _lists(self) -> NameLists:
        return self._world if self._random.random() < 0.3 or not self._native.given else self._native

    def given(self) -> str:
        """Return a given name."""
        return self._random.choice(self._lists().given)

    def family(self) -> str:
        """Return a family name; one in four is made of the halves of two, and stands in no list."""
        family, draw = self._lists().family, self._random.random()
        name = self._random.choice(family)
        if draw < 0.22 and len(name) > 4:
            other = self._random.choice(family)
            name = name[: len(name) // 2 + 1] + other[len(other) // 2 :].lower()
        return name

    def name(self) -> str:
        """Return a name as texts write it: full, given or family name alone, initials, particles, suffixes."""
        shape = self._random.choices(_SHAPES, _WEIGHTS)[0]
        draw = self._random.random()
        text = _PART.sub(lambda found: self._part(found[0], draw < 0.13), shape)
        text = inflected(text, self._code, self._random)
        return text.lower() if draw < 0.13 else text.upper() if draw < 0.21 else text

    def _part(self, kind: str, listed: bool) -> str:
        # A made name in lower case is like any rare word: it would teach to take those for names.
        if kind == "G":
            return self.given()
        if kind == "F":
            return self._random.choice(self._lists().family) if listed else self.family()
        if kind == "I":
            return self._random.choice(_INITIALS)
        if kind == "P":
            return self._random.choice(_PARTICLES)
        return self._random.choice(_ENDINGS)


_PART = re.compile("[GFIPE]")
_SHAPES, _WEIGHTS = zip(
    ("G F", 33), ("G", 29), ("F", 15), ("G I. F", 4), ("I. F", 3), ("G F-F", 2), ("G-G F", 1), ("F, G", 2),
    ("G G F", 3), ("G F F", 4), ("G P F", 4), ("G O'F", 1), ("G D'F", 1), ("G F E", 2), ("I.I. F", 1), ("G I F", 1),
    ("G F I.", 1), ("F G", 1), ("G G", 1),
    strict=True,
)  # fmt: skip
_INITIALS = "ABCDEFGHIJKLMNOPRSTVWZ"
_PARTICLES = (
    "van", "van der", "van den", "de", "de la", "del", "von", "zu", "di", "da", "dos", "do", "Le", "Mc", "bin", "y",
    "O", "St.", "El", "De", "Van", "Di", "ter", "d'",
)  # fmt: skip
_ENDINGS = ("Jr.", "Jr", "Sr.", "III", "II", "jr.", "PhD")
