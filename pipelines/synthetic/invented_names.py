"""Names of persons, streets and towns that nobody has, put together from the syllables of a language.

None of them is in the lists that surrogates are drawn from, and each has eight letters or more: a search for it
finds nothing else. All but given names are drawn once in the life of an object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

_ATTEMPTS = 200


@dataclass(frozen=True, slots=True)
class Syllables:
    """Beginnings, vowels with what follows them, middles, and the ends of each kind of name.

    ``links`` stand in front of some family names.
    """

    beginnings: tuple[str, ...]
    rimes: tuple[str, ...]
    middles: tuple[str, ...]
    given: tuple[str, ...]
    family: tuple[str, ...]
    street: tuple[str, ...]
    town: tuple[str, ...]
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InventedPerson:
    """A person who does not exist. ``family`` is what a search looks for, ``link`` (``van der``) is no part of it."""

    given: str
    family: str
    link: str = ""

    @property
    def surname(self) -> str:
        """The family name with its link."""
        return f"{self.link} {self.family}" if self.link else self.family

    @property
    def name(self) -> str:
        """The whole name."""
        return f"{self.given} {self.surname}"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SYLLABLES: dict[str, Syllables] = {
    "en": Syllables(
        _words("Thr C Br H W Qu Str M P G Dr F J K L N D Gl Sw Tr"),
        _words("en orv ack ald ist arn oth elk end arr ew alk"),
        _words("el in er ow ib aw um esk"),
        _words("alinde amond erick aviel isande orwyn andry emonde"),
        _words("thwaite scombe worth shaw grave stoke bourne hurst"),
        _words("bymere fordham wickle stead"),
        _words("chester mouth ingham borough"),
    ),
    "de": Syllables(
        _words("T Br H W Kr St M P G Dr F J K L N D Gl Schw Tr Z"),
        _words("ess ald ink orm und erk ill ump agg olt arb ick"),
        _words("en el er ing al om"),
        _words("helmine gunthe hardine friede wiltrud mundis bertram linde"),
        _words("brückner hagener moorer wieser stätter knecht hölzer kampner"),
        _words("hofer bruch winkler grund"),
        _words("hausen leben stedt münde"),
    ),
    "nl": Syllables(
        _words("T Br H W Kr St M P G Dr F J K L N D Gl Zw Tr Sch"),
        _words("ess ald ink orm und erk ill ump agg olt arb ouw"),
        _words("en el er ing al om"),
        _words("elientje erdina andrik ermijn obbert illeke"),
        _words("hoek ewoude kmeer endijk stra skens huysen veld"),
        _words("wijk horst molen brink"),
        _words("drecht veen muiden kerke"),
        _words("van den ter"),
    ),
    "es": Syllables(
        _words("T Br H V C Gr M P G Dr F J Qu L N D Gl Ll Tr Z"),
        _words("av ort anc end ill arr unt esp ol iz erm ald"),
        _words("and err ort el ig ac"),
        _words("elinda andoro avicio imunda oriano eliano osvina"),
        _words("ezuela arrondo igalde oyarza undiaga estebo ivorra éndez"),
        _words("arena oncillo ábregas ustera"),
        _words("alejos olmedo ursana ebreda"),
        ("de la",),
    ),
    "fr": Syllables(
        _words("T Br H V C Gr M P G Dr F J Qu L N D Gl Bl Tr Cl"),
        _words("av ort anch end ill arr ombr esp ol ign erm ald"),
        _words("and err ort el ig ois"),
        _words("elline andelle oltine aurice émonde ivienne"),
        _words("ouillard andière etteval aumesnil erolles ignac oucet ombreuil"),
        _words("ardière oissons efontaine ancelle"),
        _words("ecourt emont anville eroche"),
        ("de",),
    ),
    "pt": Syllables(
        _words("T Br H V C Gr M P G Dr F J Qu L N D Gl Bl Tr Z"),
        _words("av ort anc end ilh arr unt esp ol iz erm ald"),
        _words("and err ort el ig ur"),
        _words("elindo andira osvina erival ímundo enilde"),
        _words("oleira andeiro igueredo açães uzinho ascais entela ordelo"),
        _words("adeiras oscais utinho agal"),
        _words("eirão osela andiz enhal"),
        _words("da dos"),
    ),
    "it": Syllables(
        _words("T Br V C Gr M P G Dr F Qu L N D Gl Bl Tr Z Sc Sp"),
        _words("av ort anc end ill arr unt esp ol izz erm ald"),
        _words("and err ort el ig acc"),
        _words("elindo andrina eriana osvaldo imunda enzolo"),
        _words("andrucci ellozzi ontelli arghini essori izzano uccaro ovelli"),
        _words("aretto onella ustini erara"),
        _words("asco ignano etrella ombruno"),
        ("Di",),
    ),
    "pl": Syllables(
        _words("T Br W Kr Gr M P G Dr F J K L N D Gł Chr Tr Z Sz"),
        _words("ow ędz orz und arl ich ej ost erz ald umb eb"),
        _words("ek an osz al im uch"),
        _words("omiła isława obrysz endryk eliana ogniew"),
        _words("owieczak ankiewicz elczyk orzewski entkowiak ubiński aszczyk ewniak"),
        _words("owska ańska elna owiecka"),
        _words("owice ogród anów iszcze"),
    ),
}  # fmt: skip
"""By language, for those in which names are planted."""


class InventedNames:
    """Draws persons, streets and towns by language; ``LookupError`` when a language has hardly a name left."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._drawn: set[str] = set()

    def person(self, language: str) -> InventedPerson:
        """Return a person with a family name that nobody else has; given names come again."""
        syllables = SYLLABLES[language]
        link = self._random.choice(syllables.links) if syllables.links and self._random.random() < 0.2 else ""
        given = self._word(syllables)
        return InventedPerson(given, self._fresh(lambda: self._long_word(syllables, syllables.family)), link)

    def street(self, language: str) -> str:
        """Return the name of a street, without the word for its kind."""
        syllables = SYLLABLES[language]
        return self._fresh(lambda: self._long_word(syllables, syllables.street))

    def town(self, language: str) -> str:
        """Return the name of a town."""
        syllables = SYLLABLES[language]
        return self._fresh(lambda: self._long_word(syllables, syllables.town))

    def _word(self, syllables: Syllables) -> str:
        choice = self._random.choice
        return choice(syllables.beginnings) + choice(syllables.rimes) + choice(syllables.given)

    def _long_word(self, syllables: Syllables, ends: tuple[str, ...]) -> str:
        choice = self._random.choice
        return choice(syllables.beginnings) + choice(syllables.rimes) + choice(syllables.middles) + choice(ends)

    def _fresh(self, draw: Callable[[], str]) -> str:
        for _ in range(_ATTEMPTS):
            word = draw()
            if word not in self._drawn:
                self._drawn.add(word)
                return word
        raise LookupError(f"only {len(self._drawn)} invented names are left to be drawn from")
