"""Other places of the names that were found: whole names in any case, parts of them as names are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pipelines.privacy.first_letters import FirstLetters
from pipelines.privacy.folding import lower
from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import PERSON, Span
from pipelines.privacy.surrogates.name_pools import bare
from pipelines.privacy.surrogates.persons import canonical_person, is_kept

MIN_PART = 4
_SHORTEST_FORM = 3
_FEW = 32
"""So many forms of names are searched for one by one."""
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]{2,})*")
_ORDINARY = """
abbey amber angel april art august autumn bank banks barker bay best bishop black bond booker brook brooks brown bush
butler buck carter case castle chance charity chase chris church coach cook cooper court cross crystal daisy dawn day
days dean destiny drew drake early east ever faith farmer field fields fisher flower forest foster fox frank gardener
gene gold grace grant gray green grey guy hall hand harmony hill holly holmes honey hope house hunt hunter iris ivory
ivy jack jean jewel john joy june justice king knight lake lane law lily long love major mark marks marshall martin
mason max may mercy miles miller mills monday moon moore moss north olive page parish park parker parks patience pearl
penny piece poppy porter potter power precious price prince queen rain ray reed rich river rivers robin rock rose rosa
ruby rush rusty sage sandy savage sharp shepherd short singer skip small smart snow south sparks spring star stone
storm strong summer summers sunday sunny swan taylor temple tiger trace tree turner underwood victor victory violet
wade walker wall ward water waters weaver west white wilder will willow wise winter wolf wood woods worth wright young
bauer becker fischer koch kaiser könig klein lang lange groß jung junge kurz schwarz weiß roth braun sommer winter
vogel wolf stein berg bach wald engel herzog richter schmied schneider müller meyer sauer stark kühn ernst frei
blanco bravo calvo campo campos castillo cruz delgado flores fuente fuentes guerra iglesias leon luna luz mar marina
mercado molina montes moreno moro oliva paz pena pilar plaza prado ramos reina reyes rey rios rosa rosario rubio sierra
sol soto torre torres valle vega vera verde vida
blanc brun clair dupont fontaine grand jardin lebrun lefort legrand leroy marchand martin moulin noir petit pierre rose
roux roy printemps claire marguerite olive prudence
bello bianchi bruno caro costa dolce fiore gallo gentile grande greco longo luce marino mela monte neri pace piano rosa
rosso russo sala serena stella villa viola vita vento
campos costa cruz leite lima lobo luz machado moura neves oliveira pedra pereira pinto porto prata reis ribeiro rocha
ramos rosa santos serra silva sousa vale
bakker boer bos de groot jong klein koning lang meer vos wit zee zwart
baran gil kos kot krol kruk lis maj mroz sowa wilk wrona zajac zima
"""
ORDINARY = frozenset(map(bare, _ORDINARY.split()))
"""Names that are also words: they are replaced where they were found, and their copies only inside the whole name."""


class _Form(NamedTuple):
    """How a name may be written, whether in any letter case, its canonical name."""

    text: str
    in_any_case: bool
    canonical: str


class NameCopies:
    """Finds the places of found names in folded text: linear in the text, however many names there are.

    A name of several parts counts in any case; a part of it, or a name of one, in the case that it was found in, with
    a capital and in capitals, and from four letters on; also its initials. Ordinary words are left alone.
    """

    def __init__(self, found: Iterable[tuple[str, Span]]) -> None:
        forms = {form[:2]: form for text, span in found for form in _forms_of(text, span.canonical)}
        self._forms = list(forms.values())

    def __bool__(self) -> bool:
        return bool(self._forms)

    def find(self, text: str) -> Iterator[Span]:
        """Yield the occurrences in ``text`` with their canonical names; they may overlap."""
        if not self._forms:
            return
        tokens = [m.span() for m in TOKEN.finditer(text)] if "<" in text else []
        find = _places_of_few if len(self._forms) <= _FEW else _places_of_many
        for at, form in find(text, lower(text), self._forms):
            if not any(start <= at < stop for start, stop in tokens):
                yield Span(at, at + len(form.text), PERSON, form.canonical)


@lru_cache(maxsize=4096)
def _forms_of(text: str, canonical: str) -> tuple[_Form, ...]:
    forms: list[_Form] = []
    if len(_WORD.findall(text)) > 1:
        low = text.lower()
        if _WORD.match(low):
            forms.append(_Form(low, True, canonical))
    parts = [part for part in _PART.findall(text) if not is_kept(part)]
    for part in parts:
        forms += _forms_of_part(part)
    if len(parts) > 1:
        initials = [f"{parts[0][0]}.{joint}{parts[-1][0]}.".upper() for joint in ("", " ")]
        forms += [_Form(form, False, canonical) for form in initials]
    return tuple(forms)


def _forms_of_part(part: str) -> Iterator[_Form]:
    if len(part) < MIN_PART or bare(part) in ORDINARY:
        return
    canonical = canonical_person(part)
    for form in {part, part[0].upper() + part[1:], part.upper()}:
        yield _Form(form, False, canonical)


def _places_of_few(text: str, lowered: str, forms: Iterable[_Form]) -> Iterator[tuple[int, _Form]]:
    for form in forms:
        source = lowered if form.in_any_case else text
        at = source.find(form.text)
        while at >= 0:
            if _is_whole(source, at, form):
                yield at, form
            at = source.find(form.text, at + 1)


def _places_of_many(text: str, lowered: str, forms: Iterable[_Form]) -> Iterator[tuple[int, _Form]]:
    for source, in_any_case in ((text, False), (lowered, True)):
        by_start: dict[str, list[_Form]] = {}
        for form in forms:
            if form.in_any_case == in_any_case:
                by_start.setdefault(form.text[:_SHORTEST_FORM], []).append(form)
        for at in FirstLetters(list(by_start), _SHORTEST_FORM).places(source) if by_start else ():
            for form in by_start.get(source[at : at + _SHORTEST_FORM], ()):
                if source.startswith(form.text, at) and _is_whole(source, at, form):
                    yield at, form


def _is_whole(text: str, at: int, form: _Form) -> bool:
    end = at + len(form.text)
    return not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum()
