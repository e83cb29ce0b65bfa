"""Other places of the names that were found: whole names in any case, parts of them as names are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pipelines.privacy.pseudonyms import TOKEN
from pipelines.privacy.scan import PERSON, Span
from pipelines.privacy.surrogates.name_pools import bare
from pipelines.privacy.surrogates.persons import canonical_person, is_kept

MIN_PART = 4
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


class NameCopies:
    """Finds the places of found names in folded text: linear in the text, however many names there are.

    A name of several parts counts in any case; a part of it, or a name of one, in the case that it was found in, with
    a capital and in capitals, and from four letters on; also its initials. Ordinary words are left alone.
    """

    def __init__(self, found: Iterable[tuple[str, Span]]) -> None:
        self._whole: dict[str, dict[str, Span]] = {}
        self._parts: dict[str, dict[str, Span]] = {}
        for text, span in found:
            words = _WORD.findall(text)
            if len(words) > 1:
                low = text.lower()
                first = _WORD.search(low)
                if first and first.start() == 0:
                    self._whole.setdefault(first[0], {})[low] = span
            parts = [part for part in _PART.findall(text) if not is_kept(part)]
            for part in parts:
                self._add_part(part)
            if len(parts) > 1:
                self._add_initials(parts[0][0], parts[-1][0], span)

    def _add_part(self, part: str) -> None:
        low = bare(part)
        if len(part) < MIN_PART or low in ORDINARY:
            return
        span = Span(0, len(part), PERSON, canonical_person(part))
        for form in {part, part[0].upper() + part[1:], part.upper()}:
            first = _WORD.match(form)
            if first:
                self._parts.setdefault(first[0], {})[form] = span

    def _add_initials(self, first: str, last: str, span: Span) -> None:
        for joint in ("", " "):
            self._parts.setdefault(first.upper(), {})[f"{first}.{joint}{last}.".upper()] = span

    def __bool__(self) -> bool:
        return bool(self._whole or self._parts)

    def find(self, text: str) -> Iterator[Span]:
        """Yield the occurrences in ``text`` with their canonical names; they may overlap."""
        if not self:
            return
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
        # Most texts hold none of the names: their words tell so at once.
        if self._parts.keys().isdisjoint(_WORD.findall(text)) and (
            not self._whole or self._whole.keys().isdisjoint(_WORD.findall(lowered))
        ):
            return
        tokens = [m.span() for m in TOKEN.finditer(text)] if "<" in text else []
        for word in _WORD.finditer(text):
            at = word.start()
            if tokens and any(start <= at < end for start, end in tokens):
                continue
            for source, forms in ((text, self._parts.get(word[0])), (lowered, self._whole.get(word[0].lower()))):
                for form, span in (forms or {}).items():
                    if source.startswith(form, at) and not source[at + len(form) : at + len(form) + 1].isalnum():
                        yield Span(at, at + len(form), PERSON, span.canonical)
