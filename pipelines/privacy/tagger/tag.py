"""The tagger: names of persons and postal addresses in texts, as spans in code points."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from safetensors.numpy import load_file

from pipelines.privacy.tagger.decode import spans_of
from pipelines.privacy.tagger.lexicon import COMMON, GIVEN, LISTS, Lexicon
from pipelines.privacy.tagger.network import KINDS, Floats, Network, Weights, kinds_of
from pipelines.privacy.tagger.rules import join_rules
from pipelines.privacy.tagger.script_names import names_in
from pipelines.privacy.tagger.tokens import (
    FIRST_SEPARATOR,
    LETTER,
    PLAIN,
    SEPARATOR,
    Bytes,
    Places,
    Tokens,
    begins,
    pack,
    tokenize,
    uncased,
    wrap,
)
from pipelines.privacy.tagger.word_table import WordTable

MODEL = Path(__file__).parent / "model" / "names_addresses.safetensors"
LEADS = (4.5, 2.5, 2.5)
"""What goes on top of the scores of names, of names that are ordinary words or in lower case, of addresses.

More finds more, and more that is none.
"""
BOLDER = 2.0
"""What a bolder reading adds to the leads: where it finds more, the tagger is not sure.

Of 1,415 texts of the benchmark's chat set that are 409, and 24 of the 33 in which it misses a name.
"""
BATCH_BYTES = 1 << 20
_LATIN_WORD = re.compile("[A-Za-zÀ-ɏ]{4}")

Found = tuple[int, int, str]
"""A span: start and end in code points, and ``PERSON`` or ``ADDRESS``."""


class Tagger:
    """Finds names and addresses. A text gets the same spans alone and in any batch; none is cut, whatever its length.

    Holds a table of the words that it met (at most some 30 MB); calls from several threads wait for each other.
    """

    def __init__(
        self, model: Path = MODEL, leads: tuple[float, float, float] = LEADS, block: int = 1024, rules: bool = True
    ) -> None:
        tensors = load_file(str(model))
        self._scale = scale = 2.0 ** int(tensors["scales"][4])
        self._leads = (leads[0] * scale, leads[1] * scale, leads[2] * scale)
        weights = Weights.from_tensors(tensors)
        self._network = Network(weights, block)
        self._table = WordTable(weights, Lexicon({name: tensors[f"list.{name}"] for name in LISTS}))
        self._rules = rules
        self._lock = Lock()

    def __reduce__(self) -> str | tuple[object, ...]:
        if self is not shipped_tagger():
            raise TypeError("only the tagger with the shipped weights is pickled, by its name")
        return shipped_tagger, ()

    def tag(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return the spans of each text in order, disjoint; offsets count code points of the text."""
        result: list[list[Found]] = []
        for chunk in _chunks(texts):
            result += self._chunk(*pack(chunk), len(chunk))
        return result

    def tag_doubting(self, texts: Sequence[str]) -> tuple[list[list[Found]], list[bool]]:
        """Return the spans of each text, and whether a bolder reading of the same scores finds more in it."""
        result: list[list[Found]] = []
        doubts: list[bool] = []
        for chunk in _chunks(texts):
            buffer, starts = pack(chunk)
            tokens, scores, signs = self._scored(buffer)
            caseless = uncased(buffer, tokens)
            kinds, bold = (self._kinds(tokens, scores, signs, caseless, bolder) for bolder in (0.0, BOLDER))
            more = np.flatnonzero((bold != 0) & (kinds == 0) & (tokens.code == LETTER))
            owners = np.searchsorted(starts, tokens.start[more], "right") - 1
            doubts += np.isin(np.arange(len(chunk)), owners).tolist()
            result += _found(tokens, kinds, caseless, buffer, starts, len(chunk))
        return result, doubts

    def tag_arrow(self, texts: pa.Array) -> list[list[Found]]:
        """Return the spans of each text of a string array, as ``tag``; a null has none."""
        result: list[list[Found]] = []
        column = pc.cast(texts, pa.large_binary())
        first = 0
        sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        ends = np.cumsum(sizes)
        while first < len(column):
            limit = (ends[first - 1] if first else 0) + BATCH_BYTES
            last = max(first + 1, int(np.searchsorted(ends, limit, "right")))
            part = pc.fill_null(column.slice(first, last - first), b"")
            whole = pa.LargeListArray.from_arrays(pa.array([0, len(part)], pa.int64()), part)
            joined = pc.binary_join(whole, pa.scalar(SEPARATOR, pa.large_binary()))[0].as_buffer()
            result += self._chunk(wrap(joined.to_pybytes()), begins(sizes[first:last]), last - first)
            first = last
        return result

    def _chunk(self, buffer: bytes, starts: Places, count: int) -> list[list[Found]]:
        tokens, scores, signs = self._scored(buffer)
        caseless = uncased(buffer, tokens)
        return _found(tokens, self._kinds(tokens, scores, signs, caseless), caseless, buffer, starts, count)

    def _scored(self, buffer: bytes) -> tuple[Tokens, Floats, npt.NDArray[np.uint16]]:
        tokens = tokenize(buffer)
        with self._lock:
            places = self._table.places(tokens.words)
            scores = self._network.scores(self._table.rows, places, tokens.code >= FIRST_SEPARATOR)
            return tokens, scores, self._table.signs[places]

    def _kinds(
        self,
        tokens: Tokens,
        scores: Floats,
        signs: npt.NDArray[np.uint16],
        caseless: Places,
        bolder: float = 0.0,
    ) -> Bytes:
        """Return the kind of each token; none for ``caseless`` ones; ``bolder`` goes on top of the leads."""
        ordinary = (tokens.words.shape == PLAIN) | ((signs & COMMON) != 0)
        of_names, of_words, of_addresses = (lead + bolder * self._scale for lead in self._leads)
        name_leads = np.where(ordinary, np.float32(of_words), np.float32(of_names))
        kinds = kinds_of(scores, name_leads, of_addresses)
        kinds[caseless] = 0
        if self._rules:
            _keep_lone_words(tokens, signs, kinds)
            join_rules(tokens, signs, kinds)
            kinds[caseless] = 0
        return kinds


def _keep_lone_words(tokens: Tokens, signs: npt.NDArray[np.uint16], kinds: Bytes) -> None:
    """Take back the name from a text of one word in lower case that is no given name.

    The network sees too little there to tell a name from "short" or "diff". Family names count for nothing: in some
    language most short words are one.
    """
    is_border = tokens.code >= FIRST_SEPARATOR
    alone = np.zeros_like(is_border)
    alone[1:-1] = is_border[:-2] & is_border[2:]
    kinds[alone & (tokens.words.shape == PLAIN) & ((signs & GIVEN) == 0)] = 0


def _chunks(texts: Sequence[str]) -> Iterator[list[bytes]]:
    """Yield the bytes of the texts, so many together that a chunk stays small; a long text is one by itself."""
    chunk: list[bytes] = []
    size = 0
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        if chunk and size + len(raw) > BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(raw)
        size += len(raw)
    if chunk:
        yield chunk


def _found(
    tokens: Tokens, kinds: Bytes, caseless: Places, buffer: bytes, starts: Places, count: int
) -> list[list[Found]]:
    """Return what is found in each text of a chunk: by the kinds of its words, and by script."""
    result = _spans(tokens, kinds, buffer, starts, count)
    _name_by_script(result, tokens.start[caseless], buffer, starts)
    return result


def _spans(tokens: Tokens, kinds: Bytes, buffer: bytes, starts: Places, count: int) -> list[list[Found]]:
    """Return the spans of each text of a chunk in code points."""
    spans = spans_of(tokens, kinds)
    result: list[list[Found]] = [[] for _ in range(count)]
    if not spans.kind.size:
        return result
    first, last = tokens.start[spans.start], tokens.end[spans.end - 1]
    owner = np.searchsorted(starts, first, "right") - 1
    begin = starts[owner]
    if not buffer[len(SEPARATOR) + 8 : -len(SEPARATOR) - 8].isascii():
        inner = np.flatnonzero((np.frombuffer(buffer, np.uint8) & 0xC0) == 0x80)
        first, last, begin = (place - np.searchsorted(inner, place) for place in (first, last, begin))
    columns = (owner.tolist(), (first - begin).tolist(), (last - begin).tolist(), spans.kind.tolist())
    for text, start, end, kind in zip(*columns, strict=True):
        result[text].append((start, end, KINDS[kind]))
    return result


def _name_by_script(result: list[list[Found]], places: Places, buffer: bytes, starts: Places) -> None:
    """Add the names in scripts without capitals, whose words stand at ``places``; ``result`` is changed.

    A span of an address in such a text stays only with a word in Latin script: numbers between its words are none.
    """
    if not places.size:
        return
    ends = np.append(starts[1:], len(buffer) - 8) - len(SEPARATOR)
    for text in np.unique(np.searchsorted(starts, places, "right") - 1).tolist():
        words = buffer[starts[text] : ends[text]].decode("utf-8", "surrogatepass")
        kept = [one for one in result[text] if one[2] == "PERSON" or _LATIN_WORD.search(words, one[0], one[1])]
        names = [
            (start, end, "PERSON")
            for start, end in names_in(words)
            if all(end <= first or last <= start for first, last, _ in kept)
        ]
        result[text] = sorted(kept + names)


@lru_cache(maxsize=1)
def shipped_tagger() -> Tagger:
    """Return the tagger with the shipped weights, loaded once a process."""
    return Tagger()
