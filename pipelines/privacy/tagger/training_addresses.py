"""Addresses to train with: Faker's (MIT), shapes of our own, and street names out of read-aloud addresses (CC0)."""
# ruff: noqa: E501, SIM905 - a shape a line reads best

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from pipelines.privacy.tagger.training_names import NameLists

LOCALES: Mapping[str, tuple[str, ...]] = {
    "en": ("en_US", "en_GB", "en_IN", "en_IE", "en_NZ", "en_AU", "en_CA"),
    "de": ("de_DE", "de_AT", "de_CH"),
    "es": ("es_ES", "es_MX", "es_AR", "es_CO"),
    "fr": ("fr_FR", "fr_CA", "fr_CH"),
    "it": ("it_IT",),
    "nl": ("nl_NL", "nl_BE"),
    "pt": ("pt_BR", "pt_PT"),
    "pl": ("pl_PL",),
    "": ("cs_CZ", "da_DK", "sv_SE", "no_NO", "fi_FI", "hu_HU", "ro_RO", "sl_SI", "hr_HR", "sk_SK", "el_GR", "fil_PH"),
}
_SHAPES: Mapping[str, tuple[str, ...]] = {
    "en": (
        "{n} {F} {T}", "{n} {W} {T}", "{n} {W} {F} {T}, Apt {n}", "{n}{l} {F} {T}", "Flat {n}, {n} {W} {T}, {C} {U}", "{n} {F} {T}, {C} {U}", "P.O. Box {N}, {C}, {X} {Z}", "PO Box {N}", "{n} {O} {T}, {C}, {X} {Z}",
        "{n} {F} {T}\n{C}, {X} {Z}", "{n} {F} {T}\nSuite {n}\n{C} {Z}\n{K}", "{n} {W}{w} {T} {C} {K} {Z}", "Unit {n}/{n} {F} {T}, {C} {X} {z}", "{n} North {F} {T}", "{F} {T} {n}", "{F} {T}", "{n} {F} {G} {n}",
        "{n} {S} {n}\n{C}\n, {X}\n {Z}", "{n} {S} Apt. {n} {C} {K} {Z}", "{n} {S}, {C}, {Z}", "{n} {S} Suite {n}\n{C}\n {Z}\n{K}", "{n} {S}\n{C}\n{K} {Z}", "{S} {n}, {Z} {C}, {K}", "{n} {S}\n> {C}\n> {K}\n> {Z}", "{n} {n} {S} {n}, {C}", "{n} {S} {n} Apt. {n} {C} {K}", "{n} {n} {F} {T}", "{n} {F}{w}, {C} {Z}", "{n} {O} St NW, {C}, {X}", "1 {W} Plaza", "{n}-{n} {F} {T}, {C}",
    ),
    "de": ("{F}str. {n}", "{F}straße {n}, {Z} {C}", "{F}-{F}-Straße {n}{l}, {Z} {C}", "Am {F} {n}", "{F}weg {n}, D-{Z} {C}", "{F}strasse {n}, CH-{z} {C}", "{F}platz {n}\n{Z} {C}", "{F}gasse {n}/{n}/{n}, {z} {C}", "Postfach {N}, {Z} {C}", "{F}straße", "{F}allee {n}", "{F} Ring {n}, {C}"),
    "es": ("Calle {F}, {n}", "Calle {G} {F} {n}, {n}º {L}, {Z} {C}", "C/ {F} {n}, {n}-{L}", "C/ {G} {F}, s/n. {Z} {C}", "Avda. {F} {n}. {Z} {C}", "Av. de la {F} {n}, {C}", "Avenida {F}, {n} {n} {L}", "Plaza {F} nº {n}", "Paseo de {F} {n}, {Z} {C}, {K}", "Calle Doctor {F}, {n}, {n} {L}", "Ctra. de {C}, km {n}", "Carrera {n} # {n}-{n}, {C}", "calle {F} {n}", "Urb. {F}, {n}", "Camino de {F} s/n", "Ronda {F} {n}, bajo", "c. {F}, {n}"),
    "fr": ("{n} rue {G} {F}", "{n}, rue de la {F}, {Z} {C}", "{n} bis avenue {F}, {Z} {C}", "{n} bd {F}, {C}", "{S}, {Z} {C}", "{n} {S}, {Z} {C}", "{n}, {S}", "{n} {S}\n{Z} {C}", "{n} impasse {F}", "BP {n}, {Z} {C} Cedex", "{n} place {F}", "{S}", "{n} allée des {F}s, appt {n}"),
    "it": ("Via {F} {n}", "Via {G} {F}, {n}, {Z} {C} ({x})", "Piazza {F} {n}, {C}", "Corso {F} {n}/{l}, {Z} {C}", "Viale {G} {F} {n}, int. {n}", "V.le {F} {n}", "via {F}, {n}", "Largo {F}", "Vicolo {F} {n}, {Z} {C}"),
    "nl": ("{F}straat {n}", "{F}laan {n}{l}, {z} {L}{L} {C}", "{F}weg {n}\n{z}{L}{L} {C}", "{F}plein {n}-{n}, {C}", "{F}gracht {n}, {z} {L}{L} {C}", "Postbus {N}, {z} {L}{L} {C}", "{G} {F}straat {n}, {C}", "van {F}kade {n}", "{F}dreef {n} bus {n}, {z} {C}"),
    "pt": ("Rua {F}, {n}", "Rua {G} {F}, {n}, apto {n}, {C} - {x}, {Z}-{h}", "Av. {F}, {n} - {C}", "Rua da {F} n.º {n}, {n}º {L}, {z}-{h} {C}", "Avenida {G} {F} {n}, {z}-{h} {C}", "Travessa {F} {n}", "Praça {F}, {n}, {C}/{x}", "R. {F} {n}, {C}", "Estrada {F}, km {n}", "Largo do {F}, {n}"),
    "pl": ("ul. {S} {n}", "ul. {F} {n}/{n}, {y}-{h} {C}", "ulica {S} {n} m. {n}", "al. {F} {n}, {y}-{h} {C}", "pl. {F} {n}", "os. {S} {n}/{n}, {C}", "ul. {G} {F} {n}\n{y}-{h} {C}", "{S} {n}, {y}-{h} {C}", "skr. poczt. {n}, {y}-{h} {C}"),
}  # fmt: skip
_TYPES = (
    "Street", "St", "St.", "Avenue", "Ave", "Ave.", "Road", "Rd", "Rd.", "Lane", "Ln", "Drive", "Dr", "Dr.", "Court", "Ct", "Place", "Pl", "Boulevard", "Blvd", "Way",
    "Terrace", "Square", "Crescent", "Close", "Circle", "Trail", "Parkway", "Pkwy", "Highway", "Hwy", "Walk", "Row", "Grove", "Gardens", "Hill", "Park", "Alley", "Loop", "Pike", "Path", "Plaza", "Quay", "Mews", "Point", "Ridge",
)  # fmt: skip
_WORDS = (
    "Main", "Oak", "Park", "Maple", "Cedar", "Elm", "Washington", "Lake", "Hill", "Church", "High", "Station", "Mill", "Victoria", "King", "Queen", "Spring", "River", "Sunset",
    "Baker", "Market", "Bridge", "Green", "Meadow", "Forest", "Highland", "Walnut", "Chestnut", "Pine", "Broad", "Union", "Grand", "Liberty", "Wall", "Water", "Front", "Old", "New", "Kings", "Mountain",
)  # fmt: skip
_ENDINGS = ("wood", "field", "ton", "ville", "side", "brook", "hurst", "ford", "view", "gate")
_STATES = "AL AK AZ AR CA CO CT FL GA IA ID IL IN KS KY LA MA MD ME MI MN MO MS NC ND NE NH NJ NM NV NY OH OK OR PA SC TN TX UT VA WA WV NSW VIC QLD ON BC QC".split()
_PROVINCES = "MI RM TO NA BO FI GE PA SP RJ MG BA RS PR SC CE".split()
_COUNTRIES = ("USA", "United States", "UK", "Germany", "France", "Spain", "Italy", "Canada", "Australia", "Netherlands", "Belgium", "Poland", "Portugal", "Ireland", "Switzerland", "Norway", "Japan", "Brazil", "Sweden", "Denmark", "Austria", "Hungary")  # fmt: skip
_GAP = re.compile(r"\{(\w)\}")
_SPOKEN_STREET = re.compile(
    r"\b((?:rue|avenue|boulevard|chemin|impasse|place|allée|quai|route|passage|square|cours) [^,]{3,40}),",
    re.IGNORECASE,
)
_NUMBER_WORDS = re.compile(r"\b(?:cent|mille|vingt|trente|quarante|cinquante|soixante|quatre|zéro)\b")


def spoken_streets(folder: Path) -> list[str]:
    """Return French street names out of files of read-aloud addresses."""
    found: set[str] = set()
    for path in sorted(folder.glob("addresses-*.txt")):
        found.update(name for name in _SPOKEN_STREET.findall(path.read_text()) if not _NUMBER_WORDS.search(name))
    return sorted(found)


class Addresses:
    """Draws addresses in the manner of a language, in many spellings."""

    def __init__(
        self, random: Random, code: str, native: NameLists, world: NameLists, made: Mapping[str, list[str]]
    ) -> None:
        self._random, self._code, self._native, self._world, self._made = random, code, native, world, made

    def address(self) -> str:
        """Return an address: street and number, mostly with place and code, with line ends, commas or neither."""
        draw = self._random.random()
        code = self._code if draw < 0.75 and self._code in self._made else self._random.choice(sorted(self._made))
        text = self._filled(code) if code in _SHAPES and self._random.random() < 0.55 else self._of_faker(code)
        return self._spelled(text)

    def street(self) -> str:
        """Return the first line of an address: street and number."""
        return self._spelled(self.address().split("\n")[0].split(", ")[0])

    def postal_code(self) -> str:
        """Return a postal code alone."""
        shapes = {"pl": "{y}-{h}", "nl": "{z} {L}{L}", "pt": "{z}-{h}"}
        return _GAP.sub(lambda found: self._part(found[1], self._code), shapes.get(self._code, "{Z}"))

    def _of_faker(self, code: str) -> str:
        text = self._random.choice(self._made[code])
        if self._random.random() < 0.25:
            text = text.split("\n")[0]
        return text

    def _filled(self, code: str) -> str:
        return _GAP.sub(lambda found: self._part(found[1], code), self._random.choice(_SHAPES[code]))

    def _spelled(self, text: str) -> str:
        draw, random = self._random.random(), self._random
        if "\n" in text:
            text = re.sub(r"[ ,]*\n", "\n", text)
            text = text.replace("\n", random.choice((", ", ", ", " ", "\n", "\n", " - ")))
        if draw < 0.12:
            text = f"{text}{random.choice((', ', ' ', chr(10)))}{random.choice(_COUNTRIES)}"
        case = random.random()
        lowered = text.lower()
        return lowered if case < 0.16 and len(lowered) == len(text) else text.upper() if case > 0.96 else text

    def _part(self, kind: str, code: str) -> str:
        random = self._random
        lists = self._native if code == self._code and self._native.places and random.random() < 0.7 else self._world
        if kind == "n":
            return str(random.choice((random.randrange(1, 30), random.randrange(1, 400), random.randrange(1, 12000))))
        if kind in _DIGITS:
            return "".join(random.choices("0123456789", k=_DIGITS[kind]))
        if kind in "lL":
            return random.choice("abcd" if kind == "l" else "ABCDEFGHKLMNPRSTXZ")
        if kind == "U":
            return f"{random.choice(('SW', 'N', 'E', 'M', 'LS', 'B', 'EH', 'CF'))}{random.randrange(1, 20)} {random.randrange(1, 9)}{''.join(random.choices('ABDEFHJLNP', k=2))}"
        return random.choice(self._words(kind, lists))

    def _words(self, kind: str, lists: NameLists) -> Sequence[str]:
        return {
            "F": lists.family or self._world.family,
            "G": lists.given or self._world.given,
            "C": lists.places,
            "S": lists.streets or self._world.streets,
            "T": _TYPES,
            "W": _WORDS,
            "w": _ENDINGS,
            "O": ("1st", "2nd", "3rd", "4th", "5th", "7th", "9th", "11th", "21st", "42nd", "103rd"),
            "X": _STATES,
            "x": _PROVINCES,
            "K": _COUNTRIES,
        }[kind]


_DIGITS = {"Z": 5, "z": 4, "h": 3, "y": 2, "N": 4}


def made_addresses(count: int, seed: int) -> dict[str, list[str]]:
    """Return ``count`` addresses of Faker a locale, by language. ImportError without Faker."""
    faker = importlib.import_module("faker")
    made: dict[str, list[str]] = {}
    for code, locales in LOCALES.items():
        for locale in locales:
            source = faker.Faker(locale)
            source.seed_instance(seed)
            made.setdefault(code, []).extend(source.address() for _ in range(count))
    return made
