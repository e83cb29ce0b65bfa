"""Personal values out, replacements in, and a proof that nothing detected is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipelines.privacy import prefilter
from pipelines.privacy.copies import Copies
from pipelines.privacy.detection import DETECTOR_VERSION, detect, disjoint, gives_no_reason
from pipelines.privacy.folding import fold, lower
from pipelines.privacy.json_leaves import is_json, looks_like_json
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.label_hints import fitting_label, names_a_person, whole_name
from pipelines.privacy.policy import Policy
from pipelines.privacy.pseudonyms import TOKEN, Pseudonyms
from pipelines.privacy.replacements import NOBODY, Replacements, Whose, replacements
from pipelines.privacy.row_copies import RowCopies, copies_in
from pipelines.privacy.row_parts import Part, Place, parts_of
from pipelines.privacy.scan import PERSON, USERNAME, Span
from pipelines.privacy.span_source import DEFAULT_SCORE, SpanSource, TaggedSpan
from pipelines.privacy.surrogates.by_type import surrogate
from pipelines.privacy.tier_merge import beside_patterns, canonical_of

__all__ = [
    "DETECTOR_VERSION", "Anonymized", "Anonymizer", "BrokenStructureError", "Edit", "LeftValueError", "Policy", "Row",
    "Whose",
]  # fmt: skip

MIN_KNOWN = 4
"""Shorter user ids are too often ordinary words."""
_IDS_OF_NOBODY_WORDS = """
user users admin anonymous default guest test none null unknown assistant system human root undefined public
user1 userid user_id tester demo example service
"""
_IDS_OF_NOBODY = frozenset(_IDS_OF_NOBODY_WORDS.split())
_SHORT = 64
_REMEMBERED = 1 << 14
_COVER = "\x7f"
"""Stands for a replacement during the proof: JSON allows it in strings, and no word goes on over it."""


class LeftValueError(RuntimeError):
    """A detected value is still there after the edit: the text must not be stored. Names types, never values."""


class BrokenStructureError(RuntimeError):
    """JSON does not parse after the edit: the text must not be stored."""


class Edit(NamedTuple):
    """One replacement: its place in code points of the text that came in, its type, what it wrote, how sure it is."""

    start: int
    end: int
    kind: str
    replacement: str
    score: float


class Anonymized(NamedTuple):
    """A text without its personal values.

    ``redactions`` are (start, end, type) of all replacements in ``text``, also those of earlier runs; ``edits`` say
    what this run wrote where.
    """

    text: str
    redactions: list[Place]
    edits: Sequence[Edit] = ()


class Row(NamedTuple):
    """The fields of one row, anonymised together.

    ``known`` are ids of persons that the log names itself, ``whose`` bounds consistency as the policy says.
    ``redactions`` are the places by field that an earlier run wrote: they stay as they are.
    """

    tenant: str
    fields: Mapping[str, str]
    known: Sequence[str] = ()
    whose: Whose = NOBODY
    redactions: Mapping[str, Sequence[Place]] | None = None


Parts = dict[str, list[Part]]


class Anonymizer:
    """Replaces personal values as the policy says. Pickles without keys: a worker reads them from their source.

    Equal values of a type get equal replacements inside a tenant (or narrower, by the policy's scope) and epoch. With
    typed tokens a second run changes nothing; realistic surrogates are left alone where their ``redactions`` are told.
    ``source`` is the second tier for names and addresses; ``batch`` asks it once for many rows.
    """

    detector_version = DETECTOR_VERSION

    def __init__(
        self, keys: KeyFolder, policy: Policy | None = None, epoch: int | None = None, source: SpanSource | None = None
    ) -> None:
        self.keys = keys
        self.policy = policy or Policy()
        self.epoch = keys.current_epoch if epoch is None else epoch
        self.source = source
        self._pseudonyms = Pseudonyms(keys.surrogate(self.epoch))
        # The persons of a talk come again in each of its turns.
        self._surrogate = lru_cache(maxsize=_REMEMBERED)(surrogate)

    def __reduce__(self) -> tuple[type[Anonymizer], tuple[KeyFolder, Policy, int, SpanSource | None]]:
        return type(self), (self.keys, self.policy, self.epoch, self.source)

    def text(self, tenant: str, text: str, known: Sequence[str] = ()) -> Anonymized:
        """Return ``text`` without its personal values; offsets count code points of the new text.

        ``known`` are ids of persons that the log names itself; their whole-word occurrences are replaced in any case.
        A text that is JSON is edited on its parsed strings. Nothing found: the same object. Raises ``LeftValueError``.
        """
        return self.fields(tenant, {"": text}, known)[""]

    def json_text(self, tenant: str, text: str, known: Sequence[str] = ()) -> Anonymized:
        """Return a JSON object, array or string, for instance tool arguments, anonymised and still parseable.

        Looked at are all string leaves, keys and long numbers, and JSON inside strings two levels deep; a number is
        replaced by a string. Text that does not parse is taken as text. Nothing found: the same object.
        """
        return self.text(tenant, text, known)

    def fields(
        self,
        tenant: str,
        fields: Mapping[str, str],
        known: Sequence[str] = (),
        *,
        whose: Whose = NOBODY,
        redactions: Mapping[str, Sequence[Place]] | None = None,
    ) -> dict[str, Anonymized]:
        """Anonymise the fields of one row together: a value found in one is replaced in all. Keys are kept.

        Raises ``LeftValueError`` when the proof finds a detected value outside of the replacements, and
        ``BrokenStructureError`` when JSON would not parse any more.
        """
        if self.source is None and redactions is None:
            # Most rows are clean: they end here, before anything is built for them.
            ids = _copies_of_known(tuple(known)) if known and USERNAME in self.policy.types else None
            read = {name: self._read(text, ids, None) for name, text in fields.items()}
            if not any(read.values()):
                return {name: Anonymized(text, []) for name, text in fields.items()}
            return self._edited(Row(tenant, fields, known, whose), read)
        row = Row(tenant, fields, known, whose, redactions)
        return self._row(row, None if self.source is None else self._tagged([row], self.source)[0])

    def batch(self, rows: Sequence[Row]) -> list[dict[str, Anonymized] | Exception]:
        """Anonymise many rows, each as ``fields`` does, with one call of the second tier.

        An error in the place of a row means that this row must not pass; the others are not touched by it.
        """
        tagged = self._tagged_or_errors(rows)
        results: list[dict[str, Anonymized] | Exception] = []
        for row, parts in zip(rows, tagged, strict=True):
            try:
                if isinstance(parts, Exception):
                    raise parts
                results.append(self._row(row, parts))
            except Exception as error:  # noqa: BLE001 - failing closed: the caller must not let this row pass
                results.append(error)
        return results

    def _tagged_or_errors(self, rows: Sequence[Row]) -> Sequence[Parts | Exception | None]:
        if self.source is None:
            return [None] * len(rows)
        try:
            return self._tagged(rows, self.source)
        except Exception:  # noqa: BLE001 - one text must not take its neighbours along
            return [self._tagged_alone(row, self.source) for row in rows]

    def _tagged_alone(self, row: Row, source: SpanSource) -> Parts | Exception:
        try:
            return self._tagged([row], source)[0]
        except Exception as error:  # noqa: BLE001 - handed on in the row's place
            return error

    def _tagged(self, rows: Sequence[Row], source: SpanSource) -> list[Parts]:
        """Return the parts of each row with what the second tier finds in them."""
        read = [{name: parts_of(text) for name, text in row.fields.items()} for row in rows]
        parts = [part for fields in read for field_parts in fields.values() for part in field_parts if _may_name(part)]
        # Keys, states and models repeat from row to row: each is tagged once.
        texts = list(dict.fromkeys([part.text for part in parts]))
        found = dict(zip(texts, source.tag(texts), strict=True))
        persons = PERSON in self.policy.types
        for part in parts:
            spans, leaf = found[part.text], part.leaf
            told = persons and leaf.label and names_a_person(leaf.label, leaf.owner)
            if spans or told:
                kept = [_span(part.text, span) for span in spans if span[2] in self.policy.types]
                kept = kept if leaf.label is None else fitting_label(leaf.label, part.text, kept, leaf.owner)
                part.spans = (told and whole_name(part.text)) or kept
                part.without_own()
        return read

    def _row(self, row: Row, tagged: Parts | None) -> dict[str, Anonymized]:
        ids = _copies_of_known(tuple(row.known)) if row.known and USERNAME in self.policy.types else None
        read = {name: self._read(text, ids, tagged[name] if tagged else None) for name, text in row.fields.items()}
        return self._edited(row, read)

    def _edited(self, row: Row, read: Mapping[str, list[Part] | None]) -> dict[str, Anonymized]:
        """Replace the spans of a row and prove that nothing is left."""
        if not any([part.spans for parts in read.values() if parts for part in parts]):
            return {name: Anonymized(text, _kept(row, name)) for name, text in row.fields.items()}
        whole = {name: parts_of(row.fields[name]) if parts is None else parts for name, parts in read.items()}
        for name, written in (row.redactions or {}).items():
            for part in whole.get(name, ()):
                part.without(written)
        copies = _with_copies([part for parts in whole.values() for part in parts])
        for name, written in (row.redactions or {}).items():
            for part in whole.get(name, ()):
                part.without(written)
        persons = {s.canonical for parts in whole.values() for part in parts for s in part.spans if s.kind == PERSON}
        writer = replacements(self.policy, self._pseudonyms, row.tenant, row.whose, persons, self._surrogate)
        edited = {
            name: _spliced(row.fields[name], _edits(parts, writer), _kept(row, name)) for name, parts in whole.items()
        }
        for name, clean in edited.items():
            prove_structure(row.fields[name], clean)
        # Where nothing was written nothing was found, a moment ago.
        touched = [clean for clean in edited.values() if clean.redactions or "<" in clean.text]
        prove_nothing_left(copies, map(covered, touched))
        return edited

    def _read(self, text: str, known: Copies | None, tagged: list[Part] | None) -> list[Part] | None:
        """Return the parts of a field with their spans; None when a look at its bytes says that there are none."""
        flags = _signals(text)
        if flags & prefilter.ESCAPES and "\\u" not in text:
            flags &= ~prefilter.ESCAPES
        if not (flags or self.policy.clinical) and not (known and _has_any(text.lower(), known.values)):
            return tagged
        parts = parts_of(text) if tagged is None else tagged
        for part in parts:
            signals = flags if part.text is text else _signals(part.text)
            named = known if known and _has_any(lower(part.text), known.values) else None
            if named or signals & prefilter.DISGUISES or not gives_no_reason(signals, part.leaf.label, self.policy):
                self._detect(part, signals, named)
            if part.leaf.quote and part.spans:
                part.spans = [part.spans[0]._replace(start=0, end=len(part.text))]
        return parts

    def _detect(self, part: Part, signals: int, known: Copies | None) -> None:
        _, spans = detect(part.text, self.policy, part.leaf.label, signals)
        spans += known.find(part.text) if known else ()
        if spans:
            part.spans = disjoint(spans + beside_patterns(part.text, part.spans, disjoint(spans)))
            part.without_own()


class _Written(NamedTuple):
    """An edit with what stands in the source: quotes around it, and its escaped form."""

    edit: Edit
    quote: str
    escaped: str


def _signals(text: str) -> int:
    return _signals_of_short(text) if len(text) <= _SHORT else prefilter.signals(text)


@lru_cache(maxsize=16384)
def _signals_of_short(text: str) -> int:
    return prefilter.signals(text)


def _may_name(part: Part) -> bool:
    """Tell whether names in a part would count: in a JSON key they do only from two words on."""
    return part.leaf.label != "" or " " in part.text


def _has_any(text: str, values: Iterable[str]) -> bool:
    return any(value in text for value in values)


@lru_cache(maxsize=4096)
def _copies_of_known(known: tuple[str, ...]) -> Copies | None:
    """Return a finder of user ids, those left out that are too short or stand for nobody; None when none is left."""
    bare = (fold(value).text.strip().lower() for value in known)
    ids = [value for value in bare if len(value) >= MIN_KNOWN and value not in _IDS_OF_NOBODY]
    return Copies((value, Span(0, len(value), USERNAME, value)) for value in ids) if ids else None


def _span(text: str, tagged: TaggedSpan) -> Span:
    start, end, kind = tagged[:3]
    return Span(start, end, kind, canonical_of(kind, text[start:end]), tagged[3] if len(tagged) > 3 else DEFAULT_SCORE)


def _with_copies(parts: Sequence[Part]) -> RowCopies:
    """Add the copies of the values of a row to the spans of its parts; return what finds them."""
    copies = copies_in(parts)
    for part, more in zip(parts, copies.find([part.text for part in parts]), strict=True):
        if more:
            known = {span[:4] for span in part.spans}
            more = [span for span in more if span[:4] not in known]
        if more or part.spans:
            part.spans = disjoint([*part.spans, *more])
    return copies


def _kept(row: Row, name: str) -> list[Place]:
    return list((row.redactions or {}).get(name, ()))


def _edits(parts: Iterable[Part], writer: Replacements) -> Iterator[_Written]:
    for part in parts:
        for span in part.spans:
            kind, text = writer.of(span.kind, part.text[span.start : span.end], span.canonical)
            edit = Edit(*part.place(span.start, span.end), kind, text, span.score)
            yield _Written(edit, part.leaf.quote, part.leaf.escaped(text))


def _spliced(source: str, written: Iterable[_Written], kept: Sequence[Place]) -> Anonymized:
    """Write the edits of one field into its source; ``kept`` are places of an earlier run."""
    stays = [_Written(Edit(start, end, kind, "", 1.0), "", source[start:end]) for start, end, kind in kept]
    new = list(written)
    if not new:
        return Anonymized(source, list(kept))
    pieces: list[str] = []
    redactions: list[Place] = []
    done = size = 0
    for (start, end, kind, _, _), quote, text in sorted([*new, *stays], key=lambda one: one.edit[:2]):
        begin = size + start - done + len(quote)
        redactions.append((begin, begin + len(text), kind))
        pieces += (source[done:start], quote, text, quote)
        done, size = end, begin + len(text) + len(quote)
    pieces.append(source[done:])
    return Anonymized("".join(pieces), redactions, [one.edit for one in new])


def covered(clean: Anonymized) -> str:
    """Return the new text with a sign in the place of each replacement, as the proof reads it."""
    pieces: list[str] = []
    done = 0
    for start, end, _ in clean.redactions:
        pieces += (clean.text[done:start], _COVER)
        done = end
    return "".join((*pieces, clean.text[done:]))


def prove_nothing_left(copies: RowCopies, texts: Iterable[str]) -> None:
    """Raise ``LeftValueError`` when a detected value, also folded or in other case, stands outside of replacements.

    ``texts`` are the new texts, replacements covered: "Anna wrote to Maria" may become "Maria wrote to Lena".
    """
    bare = [TOKEN.sub("\n", part.text) if "<" in part.text else part.text for text in texts for part in parts_of(text)]
    left = [span.kind for spans in copies.find(bare) for span in spans]
    if left:
        counts = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(left).items()))
        raise LeftValueError(f"detected values were left after the edit: {counts}")


def prove_structure(source: str, clean: Anonymized) -> None:
    """Raise ``BrokenStructureError`` when a text was JSON and is no more."""
    if clean.edits and looks_like_json(source) and not is_json(clean.text) and is_json(source):
        raise BrokenStructureError("JSON does not parse after the edit")
