"""Any Hugging Face token classifier as a source of spans: whole texts in overlapping windows, batched by tokens."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.privacy.scan import ADDRESS, ORGANISATION, PERSON, PLACE, TYPES
from pipelines.privacy.second_look import joined
from pipelines.privacy.span_source import TaggedSpan

USUAL_LABELS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("PER", "PERSON", "NAME", "FULLNAME", "FIRSTNAME", "MIDDLENAME", "LASTNAME", "GIVENNAME", "SURNAME"),
            *("PATIENT", "DOCTOR", "STAFF", "HCP", "PRIVATE_PERSON", "GIVENNAME1", "GIVENNAME2", "LASTNAME1"),
        ),
        PERSON,
    ),
    **dict.fromkeys(("ADDRESS", "STREET", "STREETADDRESS", "STREET_ADDRESS", "PRIVATE_ADDRESS"), ADDRESS),
    **dict.fromkeys(("LOC", "LOCATION", "GPE", "CITY", "PLACE"), PLACE),
    **dict.fromkeys(("ORG", "ORGANIZATION", "ORGANISATION", "COMPANY"), ORGANISATION),
}
"""Labels of well-known models (CoNLL 2003, OntoNotes 5, i2b2 2014, ai4privacy), without B-, I-, E-, S-."""

OVERLAP_TOKENS = 64
"""Tokens that two windows share: more than any name has, so that one of them sees it whole."""
LONGEST_WINDOW = 512
TOKENS_AT_ONCE = 8_192
"""Tokens that one call of the model reads; halved when the GPU has no memory for them."""

_POSITION = re.compile(r"^[BIOESLU][-_]")
_INNER = re.compile(r"[\s.'’-]{0,2}")
_SURROGATE = re.compile("[\ud800-\udfff]")


class TokenClassifierError(RuntimeError):
    """The model cannot be used. The message says what was wanted and found, never a text."""

    safe_to_show = True


class TokenClassifier:
    """Finds what a token classifier labels. Safetensors only, never remote code; loaded once a process, when asked.

    No text is cut at the model's window: windows overlap by ``OVERLAP_TOKENS``, and what any of them finds counts.
    Pickles as its name, so that each worker loads it for itself, after the fork.
    """

    def __init__(
        self, model: str, labels: Sequence[tuple[str, str]] = (), tokens_at_once: int = TOKENS_AT_ONCE
    ) -> None:
        self.model, self.labels, self.tokens_at_once = model, tuple(labels), tokens_at_once

    def __reduce__(self) -> tuple[type[TokenClassifier], tuple[Any, ...]]:
        return type(self), (self.model, self.labels, self.tokens_at_once)

    def load(self) -> TokenClassifier:
        """Load the model now, so that one that cannot be used is told at the start. Raises TokenClassifierError."""
        _loaded(self.model, self.labels)
        return self

    def tag(self, texts: Sequence[str]) -> list[list[TaggedSpan]]:
        """Return the spans of each text with their scores, disjoint and in order. Raises TokenClassifierError."""
        loaded = _loaded(self.model, self.labels)
        # A tokenizer takes no lone surrogate; one character for one keeps all places.
        clean = [_SURROGATE.sub("\ufffd", text) for text in texts]
        windows = loaded.windows(clean)
        found: list[list[TaggedSpan]] = [[] for _ in texts]
        for window, labelled in zip(windows, self._labelled(loaded, windows), strict=True):
            text = clean[window.text]
            found[window.text] = joined(found[window.text], spans_of(text, window.offsets, labelled))
        return found

    def _labelled(self, loaded: _Loaded, windows: Sequence[_Window]) -> list[list[_Label | None]]:
        """Return the labels of the tokens of each window; windows of like length are read together."""
        order = sorted(range(len(windows)), key=lambda place: len(windows[place].ids))
        results: list[list[_Label | None]] = [[] for _ in windows]
        while order:
            batch = self._next_batch(windows, order)
            try:
                labelled = loaded.labels([windows[place].ids for place in batch])
            except loaded.out_of_memory:
                if len(batch) == 1:
                    raise TokenClassifierError("the GPU has no memory for one window of the token classifier") from None
                self.tokens_at_once //= 2
                continue
            for place, labels in zip(batch, labelled, strict=True):
                results[place] = labels
            del order[-len(batch) :]
        return results

    def _next_batch(self, windows: Sequence[_Window], order: Sequence[int]) -> list[int]:
        longest = len(windows[order[-1]].ids)
        return list(order[-max(1, self.tokens_at_once // longest) :])


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of a text as token ids; a token of the model's own stands at (0, 0)."""

    text: int
    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Label:
    kind: str
    begins: bool
    score: float


def spans_of(text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[_Label | None]) -> list[TaggedSpan]:
    """Return spans of whole words: pieces of one value joined, each grown to the ends of its words."""
    spans: list[tuple[int, int, str, float]] = []
    for (start, end), label in zip(offsets, labels, strict=True):
        if label is None or start == end:
            continue
        last = spans[-1] if spans else None
        if last is not None and last[2] == label.kind and _goes_on(text, last[1], start, label):
            spans[-1] = (last[0], end, label.kind, min(last[3], label.score))
        else:
            spans.append((start, end, label.kind, label.score))
    grown = [(*_whole_words(text, start, end), kind, score) for start, end, kind, score in spans]
    return joined([span for span in grown if span[0] < span[1]], ())


def _goes_on(text: str, end: int, start: int, label: _Label) -> bool:
    between = text[end:start]
    return not between or (not label.begins and _INNER.fullmatch(between) is not None)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        while start and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end].isalnum():
            end += 1
    return start, end


class _Loaded:
    """The model with its tokenizer, on the GPU where there is one."""

    def __init__(self, tokenizer: Any, model: Any, kinds: Mapping[int, tuple[str, bool]]) -> None:
        import torch

        self.torch, self.out_of_memory = torch, torch.OutOfMemoryError
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer, self.kinds = tokenizer, kinds
        self.model = model.to(self.device).eval()
        positions = getattr(model.config, "max_position_embeddings", None) or LONGEST_WINDOW
        # RoBERTa counts positions from its padding id on, so that two of them are never used.
        self.window = min(LONGEST_WINDOW, tokenizer.model_max_length, positions - 2)

    def windows(self, texts: Sequence[str]) -> list[_Window]:
        """Return the windows of all texts, in order."""
        if not texts:
            return []
        encoded = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.window,
            stride=min(OVERLAP_TOKENS, self.window // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        owners = encoded["overflow_to_sample_mapping"]
        return [
            _Window(int(owner), ids, [(int(a), int(b)) for a, b in offsets])
            for owner, ids, offsets in zip(owners, encoded["input_ids"], encoded["offset_mapping"], strict=True)
            if ids
        ]

    def labels(self, windows: Sequence[list[int]]) -> list[list[_Label | None]]:
        """Return the label of each token, None for none. Raises TokenClassifierError for values that are no numbers."""
        padded = self.tokenizer.pad({"input_ids": list(windows)}, return_tensors="pt").to(self.device)
        with self.torch.inference_mode():
            logits = self.model(**padded).logits.float()
        if not bool(self.torch.isfinite(logits).all()):
            raise TokenClassifierError("the token classifier answered with values that are no numbers")
        scores, classes = logits.softmax(-1).max(-1)
        return [
            [self._label(*pair) for pair in zip(kinds[: len(ids)], sure[: len(ids)], strict=True)]
            for ids, kinds, sure in zip(windows, classes.tolist(), scores.tolist(), strict=True)
        ]

    def _label(self, number: int, score: float) -> _Label | None:
        kind = self.kinds.get(number)
        return None if kind is None else _Label(*kind, score)


@functools.lru_cache(maxsize=2)
def _loaded(name: str, labels: tuple[tuple[str, str], ...]) -> _Loaded:
    try:
        from transformers import AutoModelForTokenClassification, AutoTokenizer
    except ImportError:
        raise TokenClassifierError(
            "a second look needs torch and transformers, found neither; install turnmill[embed]"
        ) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        model = AutoModelForTokenClassification.from_pretrained(name, trust_remote_code=False, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise TokenClassifierError(
            f"second look: wanted a token classifier with a tokenizer and safetensors, by name or folder, found none "
            f"that loads at {name} ({type(error).__name__})"
        ) from None
    if not tokenizer.is_fast:
        raise TokenClassifierError(f"second look: wanted a fast tokenizer, which tells places, found none at {name}")
    return _Loaded(tokenizer, model, _kinds(name, model.config.id2label, labels))


def _kinds(name: str, id2label: Mapping[int, str], labels: Sequence[tuple[str, str]]) -> dict[int, tuple[str, bool]]:
    """Return type and "begins a value" by the model's numbers of labels. Raises TokenClassifierError without any."""
    known = {**USUAL_LABELS, **{label.upper(): kind for label, kind in labels}}
    unknown = sorted({kind for kind in known.values()} - set(TYPES))
    if unknown:
        raise TokenClassifierError(f"second look: wanted types out of {', '.join(TYPES)}, found {', '.join(unknown)}")
    kinds = {}
    for number, label in id2label.items():
        kind = known.get(_POSITION.sub("", label.upper())) or known.get(label.upper())
        if kind is not None:
            kinds[int(number)] = (kind, label.upper().startswith(("B-", "S-", "U-", "B_", "S_", "U_")))
    if not kinds:
        raise TokenClassifierError(
            f"second look: none of the labels of {name} is known: {', '.join(sorted(set(id2label.values()))[:20])}; "
            "map them under [second_look.labels]"
        )
    return kinds
