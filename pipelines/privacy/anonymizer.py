"""Personal values out, typed tokens in, and a proof that nothing detected is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from pipelines.privacy import prefilter
from pipelines.privacy.copies import Copies
from pipelines.privacy.detection import DETECTOR_VERSION, detect, disjoint
from pipelines.privacy.folding import compose, fold
from pipelines.privacy.json_leaves import Leaf, json_leaves
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.pseudonyms import TOKEN, Pseudonyms
from pipelines.privacy.scan import USERNAME, Policy, Span

__all__ = ["DETECTOR_VERSION", "Anonymized", "Anonymizer", "LeftValueError", "Policy"]

MIN_KNOWN = 4
"""Shorter user ids are too often ordinary words."""
_IDS_OF_NOBODY_WORDS = """
user users admin anonymous default guest test none null unknown assistant system human root undefined public
user1 userid user_id tester demo example service
"""
_IDS_OF_NOBODY = frozenset(_IDS_OF_NOBODY_WORDS.split())
_SHORT = 64


class LeftValueError(RuntimeError):
    """A detected value is still there after the edit: the text must not be stored. Names types, never values."""


class Anonymized(NamedTuple):
    """A text without its personal values; ``redactions`` are (start, end, type) of the tokens in ``text``."""

    text: str
    redactions: list[tuple[int, int, str]]


@dataclass(slots=True)
class _Part:
    """A field, or one string of a JSON field, as detectors saw it; ``starts`` leads back into the field's source."""

    text: str
    starts: Sequence[int] | None = None
    quote: str = ""
    spans: list[Span] = field(default_factory=list)

    def place(self, start: int, end: int) -> tuple[int, int]:
        return (start, end) if self.starts is None else (self.starts[start], self.starts[end])


class Anonymizer:
    """Replaces personal values by keyed tokens. Pickles without keys: a worker reads them from the key folder.

    Equal values of a type get equal tokens inside a tenant and epoch; a second run changes nothing.
    """

    detector_version = DETECTOR_VERSION

    def __init__(self, keys: KeyFolder, policy: Policy | None = None, epoch: int | None = None) -> None:
        self.keys = keys
        self.policy = policy or Policy()
        self.epoch = keys.current_epoch if epoch is None else epoch
        self._pseudonyms = Pseudonyms(keys.surrogate(self.epoch))

    def __reduce__(self) -> tuple[type[Anonymizer], tuple[KeyFolder, Policy, int]]:
        return type(self), (self.keys, self.policy, self.epoch)

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

    def fields(self, tenant: str, fields: Mapping[str, str], known: Sequence[str] = ()) -> dict[str, Anonymized]:
        """Anonymise the fields of one row together: a value found in one is replaced in all. Keys are kept.

        Raises ``LeftValueError`` when the proof finds a detected value outside of the tokens.
        """
        ids = _copies_of_known(tuple(known)) if known and USERNAME in self.policy.types else None
        parts = {name: self._read(text, ids) for name, text in fields.items()}
        if not any(part.spans for read in parts.values() if read for part in read):
            return {name: Anonymized(text, []) for name, text in fields.items()}
        whole = {name: read if read is not None else _parts(fields[name]) for name, read in parts.items()}
        copies = Copies(
            (part.text[span.start : span.end].lower(), span)
            for read in whole.values()
            for part in read
            for span in part.spans
        )
        for read in whole.values():
            for part in read:
                part.spans = disjoint(part.spans + list(copies.find(part.text)))
        edited = {name: self._edit(tenant, fields[name], read) for name, read in whole.items()}
        prove_nothing_left(copies, (anonymized.text for anonymized in edited.values()))
        return edited

    def _read(self, text: str, known: Copies | None) -> list[_Part] | None:
        """Return the parts of a field with their spans; None when a look at its bytes says that there are none."""
        flags = _signals(text) if len(text) <= _SHORT else prefilter.signals(text)
        if flags & prefilter.ESCAPES and "\\u" not in text:
            flags &= ~prefilter.ESCAPES
        if not flags and not (known and any(value in text.lower() for value in known.values)):
            return None
        parts = []
        for leaf in _leaves(text):
            folded, spans = detect(leaf.text, self.policy, leaf.label, flags if leaf.text is text else None)
            part = _Part(folded.text, compose(leaf.starts, folded.starts), leaf.quote, spans)
            if known:
                part.spans = disjoint(spans + list(known.find(folded.text)))
            if leaf.quote and part.spans:
                part.spans = [part.spans[0]._replace(start=0, end=len(part.text))]
            parts.append(part)
        return parts

    def _edit(self, tenant: str, source: str, parts: Iterable[_Part]) -> Anonymized:
        """Splice the tokens into the source of one field."""
        pieces: list[str] = []
        redactions: list[tuple[int, int, str]] = []
        done = size = 0
        for part in parts:
            for span in part.spans:
                start, end = part.place(span.start, span.end)
                token = self._pseudonyms.token(tenant, span.kind, span.canonical)
                begin = size + start - done + len(part.quote)
                redactions.append((begin, begin + len(token), span.kind))
                pieces += (source[done:start], part.quote, token, part.quote)
                done, size = end, begin + len(token) + len(part.quote)
        if not redactions:
            return Anonymized(source, redactions)
        pieces.append(source[done:])
        return Anonymized("".join(pieces), redactions)


@lru_cache(maxsize=16384)
def _signals(text: str) -> int:
    return prefilter.signals(text)


@lru_cache(maxsize=4096)
def _copies_of_known(known: tuple[str, ...]) -> Copies | None:
    """Return a finder of user ids, those left out that are too short or stand for nobody; None when none is left."""
    bare = (fold(value).text.strip().lower() for value in known)
    ids = [value for value in bare if len(value) >= MIN_KNOWN and value not in _IDS_OF_NOBODY]
    return Copies((value, Span(0, len(value), USERNAME, value)) for value in ids) if ids else None


def _parts(text: str) -> list[_Part]:
    """Return the parts of a field, without looking for anything."""
    parts = []
    for leaf in _leaves(text):
        folded = fold(leaf.text)
        parts.append(_Part(folded.text, compose(leaf.starts, folded.starts), leaf.quote))
    return parts


def _leaves(text: str) -> list[Leaf]:
    return json_leaves(text) or [Leaf(text, None, None, "")]


def prove_nothing_left(copies: Copies, texts: Iterable[str]) -> None:
    """Raise ``LeftValueError`` when a detected value, also folded or in other case, stands outside of tokens."""
    left: dict[str, int] = {}
    for text in texts:
        for part in _parts(text):
            for span in copies.find(TOKEN.sub("\n", part.text)):
                left[span.kind] = left.get(span.kind, 0) + 1
    if left:
        counts = ", ".join(f"{kind} {n}" for kind, n in sorted(left.items()))
        raise LeftValueError(f"detected values were left after the edit: {counts}")
