"""Labelled texts to train with: names and addresses put into real sentences and templates, and texts without any."""
# ruff: noqa: E501, SIM905 - a list reads best in few lines

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from pipelines.privacy.tagger import training_languages as further
from pipelines.privacy.tagger import training_templates as templates
from pipelines.privacy.tagger.training_addresses import Addresses, made_addresses, spoken_streets
from pipelines.privacy.tagger.training_languages import FURTHER_WEIGHTS, VOICE_FOLDERS
from pipelines.privacy.tagger.training_names import NameLists, Persons, is_held_out, load_names

PERSON, ADDRESS, UNKNOWN = 1, 2, 3
"""Labels; ``UNKNOWN`` is neither rewarded nor punished: names that may stand in the real sentences themselves."""
LANGUAGE_WEIGHTS: Mapping[str, int] = {
    "en": 36,
    "de": 14,
    "es": 13,
    "fr": 9,
    "it": 9,
    "nl": 10,
    "pt": 9,
    "pl": 9,
    **FURTHER_WEIGHTS,
}

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_GAP = re.compile(r"\{([A-Z])\}")


@dataclass
class Labelled:
    """A text and its labelled spans (start, end, label) in code points."""

    text: str = ""
    spans: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, piece: str, label: int = 0) -> None:
        """Append a piece; outer white space bears no label."""
        if label and piece.strip():
            start = len(self.text) + len(piece) - len(piece.lstrip())
            self.spans.append((start, len(self.text) + len(piece.rstrip()), label))
        self.text += piece

    def join(self, other: Labelled, between: str) -> None:
        """Append another text."""
        self.text += between if self.text else ""
        self.spans += [(start + len(self.text), end + len(self.text), label) for start, end, label in other.spans]
        self.text += other.text

    def changed(self, change: Callable[[str], str]) -> Labelled:
        """Return the text with a change that keeps its length; the same when it does not."""
        text = change(self.text)
        return Labelled(text, self.spans) if len(text) == len(self.text) else self


@dataclass
class Sources:
    """What texts are made of, read once."""

    names: dict[str, NameLists]
    addresses: dict[str, list[str]]
    sentences: dict[str, list[str]]
    common: dict[str, Counter[str]]
    code: list[str]

    def world(self, held_out: bool) -> NameLists:
        """Return the lists of all languages together."""
        parts = [lists.part(held_out) for lists in self.names.values()]
        return NameLists(
            [name for part in parts for name in part.given],
            [name for part in parts for name in part.family],
            [name for part in parts for name in part.places],
            [name for part in parts for name in part.streets],
        )


def read_sources(common_voice: Path, census: Path | None, extra: Iterable[Path], seed: int) -> Sources:
    """Read lists and sentences. ``common_voice`` holds a folder of text files a language, a sentence a line."""
    names = load_names(census)
    names["fr"].streets += spoken_streets(common_voice / "fr")
    sentences = {code: spoken_sentences(common_voice / VOICE_FOLDERS.get(code, code)) for code in LANGUAGE_WEIGHTS}
    for path in extra:
        sentences["en"] += _lines(path.read_text())
    common = {code: _counts(found) for code, found in sentences.items()}
    return Sources(names, made_addresses(2500, seed), sentences, common, _code_chunks())


def spoken_sentences(folder: Path) -> list[str]:
    """Return the sentences of one language, each once. Of each fifteen the first is kept out of training."""
    found: list[str] = []
    for path in sorted(folder.glob("*.txt")):
        if not path.name.startswith("addresses"):
            found += _lines(path.read_text())
    return sorted(set(found))


def _lines(text: str) -> list[str]:
    lines = (line.strip().strip('"') for line in text.split("\n"))
    return [line for line in lines if 12 <= len(line) <= 260]


def _counts(sentences: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    nouns: Counter[str] = Counter()
    for sentence in sentences:
        words = _WORD.findall(sentence)
        counts.update(word for word in words if word.islower())
        capital.update(word.lower() for word in words[1:] if word.istitle())
        pairs = zip(words, words[1:], strict=False)
        nouns.update(word.lower() for before, word in pairs if before in _ARTICLES and word.istitle())
    kept = {word: count for word, count in counts.items() if count >= capital[word] or count > 400}
    return Counter(kept | {word: count for word, count in nouns.items() if count > 2 and count * 8 > capital[word]})


_ARTICLES = frozenset(
    "der die das dem den des ein eine einer einem einen im am zur zum kein keine diese dieser".split()
)


def _code_chunks() -> list[str]:
    """Return pieces of the standard library's source."""
    chunks: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        lines = path.read_text(errors="replace").splitlines()
        chunks += ["\n".join(lines[at : at + 6]) for at in range(40, min(len(lines), 900), 6)]
    return [chunk for chunk in chunks if 40 < len(chunk) < 500 and "uthor" not in chunk and "by " not in chunk]


class Writer:
    """Writes labelled texts of one language. ``held_out`` takes the templates and names that training never sees."""

    def __init__(
        self, sources: Sources, code: str, seed: int, held_out: bool = False, world: NameLists | None = None
    ) -> None:
        self._random, self._code = Random(f"{seed} {code} {held_out}"), code  # noqa: S311
        native, world = sources.names[code].part(held_out), world or sources.world(held_out)
        self.persons = Persons(self._random, native, world, code)
        self.addresses = Addresses(self._random, code, native, world, sources.addresses)
        self._native, self._world = native, world
        self._sentences = [s for at, s in enumerate(sources.sentences[code]) if (at % 15 == 0) == held_out]
        self._common, self._code_chunks = sources.common[code], sources.code
        self._given = {name.lower() for lists in (sources.names[code], sources.names["en"]) for name in lists.given}
        self._templates = {
            name: [t for t in of_code if is_held_out(t) == held_out] or list(of_code[:3])
            for name, of_code in _templates_of(code).items()
        }
        self._kinds, self._weights = zip(
            (self.sentence, 40), (self.changed_sentence, 26), (lambda: self.filled("WITH_NAMES"), 17),
            (lambda: self.filled("WITH_ADDRESSES"), 9), (lambda: self.filled("WITHOUT"), 11), (self.machine_text, 5),
            strict=True,
        )  # fmt: skip

    def text(self) -> Labelled:
        """Return a text of one to four segments."""
        random = self._random
        whole = Labelled()
        for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
            whole.join(
                random.choices(self._kinds, self._weights)[0](), random.choice((" ", " ", " ", "\n", "\n\n", ". "))
            )
        draw = random.random()
        if draw < 0.10:
            return whole.changed(str.lower)
        if draw < 0.13:
            return whole.changed(str.upper)
        return whole.changed(str.title) if draw < 0.15 else whole

    def sentence(self) -> Labelled:
        """Return a real sentence; a name that it may hold is replaced by one of ours, or its label is unknown."""
        text = self._random.choice(self._sentences)
        if self._random.random() < 0.25:
            text = self._with_made_word(text)
        found = Labelled()
        done = 0
        for start, end in self._suspects(text):
            found.add(text[done:start])
            if self._random.random() < 0.5:
                found.add(self._of_the_shape(text[start:end]), PERSON)
            else:
                found.add(text[start:end], UNKNOWN)
            done = end
        found.add(text[done:])
        return found

    def _with_made_word(self, text: str) -> str:
        """Put a word made of the halves of two in the place of a long one: words that are in no list are no names."""
        own = [w for w in _WORD.finditer(text) if len(w[0]) > 5 and (w[0].islower() or self._code == "de")]
        others = [w for w in _WORD.findall(self._random.choice(self._sentences)) if len(w) > 5]
        if not own or not others:
            return text
        word, other = self._random.choice(own), self._random.choice(others)
        made = word[0][: len(word[0]) // 2 + 1] + other[len(other) // 2 :].lower()
        return text[: word.start()] + made + text[word.end() :]

    def _of_the_shape(self, name: str) -> str:
        return f"{self.persons.given()} {self.persons.family()}" if " " in name else self.persons.given()

    def _suspects(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield runs of capitalised words that hold a given name that is no ordinary word."""
        run: list[re.Match[str]] = []
        for word in [*_WORD.finditer(text), None]:
            if (
                word is not None
                and word[0][0].isupper()
                and (not run or text[run[-1].end() : word.start()] in (" ", ". "))
            ):
                run.append(word)
                continue
            if run and any(w[0].lower() in self._given and self._common[w[0].lower()] < 6 for w in run):
                if self._common[run[0][0].lower()] > 3 and len(run) > 1:
                    run = run[1:]
                yield run[0].start(), run[-1].end()
            run = [word] if word is not None and word[0][0].isupper() else []

    def changed_sentence(self) -> Labelled:
        """Return a real sentence with a name or an address put into it."""
        base = self.sentence()
        random, text = self._random, base.text
        draw = random.random()
        if draw < 0.28:
            places = [w for w in _WORD.finditer(text) if w[0].lower() in templates.PRONOUNS.get(self._code, ())]
            if places:
                word = random.choice(places)
                return _replaced(base, word.start(), word.end(), self._fitting(text, self.persons.name()), PERSON)
        if draw < 0.60:
            places = [w for w in _WORD.finditer(text) if w[0].lower() in templates.AFTER.get(self._code, ())]
            if places:
                word = random.choice(places)
                return _replaced(base, word.end(), word.end(), " " + self._fitting(text, self.persons.name()), PERSON)
        if draw < 0.68:
            name = self._fitting(text, self.persons.given())
            if random.random() < 0.5:
                return _replaced(base, 0, 0, name, PERSON, after=random.choice((", ", ": ", "! ", " - ")))
            end = len(text.rstrip(".!? "))
            return _replaced(base, end, end, name, PERSON, before=", ")
        words = list(_WORD.finditer(text))
        place = random.choice(words).end() if words else len(text)
        if draw < 0.80:
            return _replaced(base, place, place, " " + self._fitting(text, self.persons.name()), PERSON)
        if draw < 0.87:
            address = self.addresses.address() if random.random() < 0.6 else self.addresses.street()
            return _replaced(base, place, place, " " + address, ADDRESS)
        return _replaced(base, place, place, " " + self._value(random.choice("OQCCTXXXR")), 0)

    def _fitting(self, text: str, name: str) -> str:
        return (
            name.lower() if text.islower() and self._random.random() < 0.8 and len(name.lower()) == len(name) else name
        )

    def filled(self, kind: str) -> Labelled:
        """Return a template with its gaps filled."""
        template = self._random.choice(self._templates[kind])
        whole, done = Labelled(), 0
        for gap in _GAP.finditer(template):
            whole.add(_plain(template[done : gap.start()]))
            self._fill(whole, gap[1])
            done = gap.end()
        whole.add(_plain(template[done:]))
        return whole

    def _fill(self, whole: Labelled, kind: str) -> None:
        if kind == "W":
            whole.join(self.sentence(), "")
        elif kind == "K":
            name = f"{self.persons.given()} {self.persons.family()}".lower()
            whole.add(re.sub(r"\W+", self._random.choice("-._"), name).strip("-._"), PERSON)
            whole.add(self._random.choice(("", "-42", "-x7", "_2")))
        elif kind == "F":
            whole.add(self.persons.family(), PERSON)
        elif kind in "NG":
            whole.add(self.persons.name() if kind == "N" else self._cased(self.persons.given()), PERSON)
        elif kind == "Z":
            whole.add(self.addresses.postal_code(), ADDRESS)
        elif kind in "AS":
            whole.add(self.addresses.address() if kind == "A" else self.addresses.street(), ADDRESS)
        else:
            whole.add(self._value(kind))

    def _cased(self, name: str) -> str:
        draw = self._random.random()
        return name.lower() if draw < 0.1 else name.upper() if draw < 0.15 else name

    def _value(self, kind: str) -> str:
        random = self._random
        if kind == "O":
            return re.sub(r"\{\}", lambda _: self.persons.family(), random.choice(templates.COMPANY_SHAPES))
        if kind == "E":
            return f"{self.persons.given().lower()}{random.choice(('.', '', '_', str(random.randrange(99))))}@{random.choice(_HOSTS)}"
        if kind == "V" and random.random() >= 0.7:
            return self.persons.family()
        if kind == "X":
            return self._measure()
        if kind == "R":
            return self._term()
        if kind == "D":
            return str(random.choice((random.randrange(10), random.randrange(100), random.randrange(10**6))))
        return random.choice(self._listed(kind))

    def _listed(self, kind: str) -> Sequence[str]:
        """Return the list that a gap of some kind is filled from."""
        if kind == "C":
            return self._native.places if self._native.places and self._random.random() < 0.5 else self._world.places
        return {
            "V": templates.EPONYMS,
            "Q": templates.SOFTWARE,
            "T": templates.NATIONS,
            "M": templates.MONTHS.get(self._code, templates.MONTHS["en"]),
            "P": _PRODUCTS.get(self._code, _PRODUCTS["en"]),
        }[kind]

    def _measure(self) -> str:
        """Return a number that is no part of an address: with a unit, a time, a sum, a code."""
        random = self._random
        n, m = random.randrange(1, random.choice((10, 100, 5000, 10**6))), random.randrange(60)
        return random.choice(
            (
                f"{n} {random.choice(_UNITS)}", f"{n}{random.choice(_UNITS)}", f"{n},{m} {random.choice(_UNITS)}", f"{n}.{m}",
                f"{m % 24}h{m:02}", f"{m % 24}:{m:02}", f"{m % 24}h", f"€ {n}", f"${n}.{m:02}", f"R$ {n}", f"{n} - {m}", f"{n}/{m}",
                f"{n} {random.choice(self._listed('M'))}", f"#{random.getrandbits(24):06X}", f"port {n}", f"SKU {self._term()}-{n}-{m}",
                f"{random.choice('ABCGS')}{m}", f"{n} x {m}", f"({n})", f"{n}%", f"No. {n}", f"Nr. {m}", f"v{m}.{n}", f"ISO {n}", f"+{m} {n} {n}", f"{n}-{m}-{n}",
                f"{m} mg/{n} ml", f"19{m:02}", f"20{m:02}", f"{n} {n + m}", f"tel. {n}-{n}", f"id {n}", f"1. {m}",
            )
        )  # fmt: skip

    def _term(self) -> str:
        """Return an abbreviation, a module or a made word in mixed case."""
        random = self._random
        draw = random.random()
        if draw < 0.5:
            return "".join(random.choices("ABCDEFGILMNOPRSTUVXYZ", k=random.randrange(2, 6)))
        if draw < 0.75:
            return random.choice(_MODULES).title() if draw < 0.68 else random.choice(_MODULES)
        words = _WORD.findall(random.choice(self._sentences))
        return "".join(word.title() for word in random.sample(words, min(2, len(words))))

    def machine_text(self) -> Labelled:
        """Return code, a JSON object, log lines: without names."""
        random, whole = self._random, Labelled()
        draw = random.random()
        if draw < 0.55:
            code = random.choice(self._code_chunks)
            whole.add(f"```python\n{code}\n```" if draw < 0.2 else code)
        elif draw < 0.75:
            keys = random.sample(_KEYS, 4)
            whole.add(json.dumps({key: self._machine_value() for key in keys}, indent=random.choice((None, 2))))
        else:
            for _ in range(random.randrange(1, 4)):
                whole.add(
                    f"20{random.randrange(10, 30)}-0{random.randrange(1, 9)}-1{random.randrange(9)}T0{random.randrange(9)}:12:4"
                    f"{random.randrange(9)}Z {random.choice(('INFO', 'WARN', 'ERROR', 'DEBUG'))} {random.choice(templates.SOFTWARE)}"
                    f".{random.choice(_KEYS)} {random.choice(_KEYS)}={self._machine_value()}\n"
                )
        return whole

    def _machine_value(self) -> str | int:
        random = self._random
        return random.choice(
            (
                random.randrange(10**6), f"{random.getrandbits(64):x}", random.choice(templates.SOFTWARE), "ok",
                f"v{random.randrange(9)}.{random.randrange(20)}.{random.randrange(9)}", self._value("M"), self._value("C"),
                f"/api/{random.choice(_KEYS)}/{random.randrange(999)}", "application/json", random.choice(_KEYS),
            )
        )  # fmt: skip


def _templates_of(code: str) -> dict[str, tuple[str, ...]]:
    if code in templates.WITH_NAMES:
        return {name: getattr(templates, name)[code] for name in ("WITH_NAMES", "WITH_ADDRESSES", "WITHOUT")}
    names = further.WITH_NAMES.get(code, ()) + further.ANY_LANGUAGE
    return {"WITH_NAMES": names, "WITH_ADDRESSES": ("{W}\n{A}", "{A}", "{N}\n{A}"), "WITHOUT": ("{W} {W}", "{W}\n{W}")}


def _replaced(
    base: Labelled, start: int, end: int, piece: str, label: int, before: str = "", after: str = ""
) -> Labelled:
    """Return a text with a piece in place of a span; spans that it touches make it unlabelled there."""
    whole = Labelled(base.text[:start] + before, [span for span in base.spans if span[1] <= start])
    whole.add(piece, label)
    whole.text += after
    shift = len(whole.text) - end
    whole.spans += [(s + shift, e + shift, kind) for s, e, kind in base.spans if s >= end]
    whole.text += base.text[end:]
    return whole


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


_UNITS = (
    "km", "m", "cm", "kg", "mg", "ml", "h", "min", "s", "GB", "MB", "px", "EUR", "USD", "%", "°C", "bar", "kWh", "hrs", "pts", "x",
)  # fmt: skip
_MODULES = sorted(name for name in sys.stdlib_module_names if not name.startswith("_"))
_HOSTS = ("example.com", "example.org", "mail.example.net", "shop.example")
_KEYS = (
    "id", "user_id", "status", "created_at", "trace", "model", "region", "event", "level", "path", "host", "city", "total", "currency",
    "items", "session", "retry", "title", "product", "tags", "locale", "version", "message", "latency_ms", "queue", "month", "index", "role", "content",
)  # fmt: skip
_PRODUCTS = {
    "en": ("desk lamp", "Garden Hose", "iPhone case", "bookshelf", "Premium plan", "kettle"),
    "de": ("Schreibtischlampe", "Wasserkocher", "Bücherregal", "Regenjacke"),
    "es": ("lámpara", "hervidor", "estantería", "chaqueta"),
    "fr": ("lampe de bureau", "bouilloire", "étagère", "veste"),
    "it": ("lampada", "bollitore", "libreria", "giacca"),
    "nl": ("bureaulamp", "waterkoker", "boekenkast", "regenjas"),
    "pt": ("candeeiro", "chaleira", "estante", "casaco"),
    "pl": ("lampka", "czajnik", "regał", "kurtka"),
}
