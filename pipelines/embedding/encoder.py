"""Turn texts into vectors of unit length: batches by tokens, nothing cut in silence, the model loaded once a worker."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from pipelines.embedding.long_texts import MOST_WINDOWS, OVERLAP_TOKENS, LongTexts
from pipelines.embedding.models import DEFAULT_MODEL, fingerprint_model, resolve_model
from schemas.embedding_failures import EmbeddingFailure

if TYPE_CHECKING:
    from pipelines.embedding.loaded_model import LoadedModel

Dtype = Literal["float32", "float16", "bfloat16"]

Backend = Literal["torch", "openvino", "openvino-bf16", "openvino-int8", "static"]
"""``torch``: CUDA where there is one, else the CPU. ``openvino``: CPU, in float32, bfloat16 (fast where it has AMX) or
int8. ``static``: a table of token vectors distilled from the model, far faster and for a first pass only."""

BACKENDS: tuple[Backend, ...] = get_args(Backend)


class EmbeddingError(RuntimeError):
    """The model gave no usable vector. The message holds counts, never text."""

    safe_to_show = True


@dataclass(frozen=True)
class Embedded:
    """Vectors of n texts, in their order.

    ``vectors`` float32 [n, d] of unit length; ``n_tokens`` int32 [n], tokens of the whole text with the model's special
    tokens; ``truncated`` bool [n], true where the model did not see all of them; ``backend`` engine and device;
    ``failures`` the reason by row of texts that have no vector (theirs is zero).
    """

    vectors: npt.NDArray[np.float32]
    n_tokens: npt.NDArray[np.int32]
    truncated: npt.NDArray[np.bool_]
    backend: str
    failures: Mapping[int, EmbeddingFailure] = field(default_factory=dict)


class Encoder(Protocol):
    """What the embedding stage asks of a model. Picklable; loads nothing before the first call of ``encode``."""

    @property
    def name(self) -> str:
        """Name of the model as the user gave it."""

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides a vector; vectors of different fingerprints are never compared."""

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed texts as documents, in their order."""

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Embed one question, float32 [d]; differs from ``encode`` for models that prompt their queries."""


@dataclass(frozen=True)
class SentenceTransformerEncoder:
    """Any sentence-transformers model by name, folder or hub repository, on one of the backends.

    ``name`` may end in ``@BACKEND``, so that whoever reads the name of a stored vector's model encodes alike. Without
    it torch runs the model, or on a CPU OpenVINO in float32 where it is installed: their vectors are the same within
    rounding, and so is their fingerprint. ``device`` None takes the GPU that Spark gave to the task, else the first
    one. ``dtype`` counts on CUDA alone. ``batch_tokens`` bounds texts x longest text of one forward pass.
    ``long_texts`` says how a text is read that is longer than the model; ``cache`` is the folder of converted models,
    by default the user's cache folder.
    """

    name: str = DEFAULT_MODEL
    device: str | None = None
    batch_tokens: int | None = None
    dtype: Dtype = "float32"
    long_texts: LongTexts = "windows"
    cache: str | None = None

    @property
    def model(self) -> str:
        """The model's name without its backend."""
        return split_backend(self.name)[0]

    @property
    def backend(self) -> Backend:
        """The backend that the name asks for."""
        return split_backend(self.name)[1]

    @property
    def fingerprint(self) -> str:
        """Hash of weights, tokenizer, pooling, prompts, length policy and dtype; needs no torch.

        Torch and OpenVINO in float32 share one: their vectors differ by rounding alone.
        """
        if self.backend == "static":
            from pipelines.embedding.static_model import STATIC_POLICY

            return fingerprint_model(resolve_model(self.model), policy=STATIC_POLICY)
        long_texts = f"windows:{OVERLAP_TOKENS}:{MOST_WINDOWS}" if self.long_texts == "windows" else "head"
        return fingerprint_model(resolve_model(self.model), policy=f"{long_texts};unit;{self.precision}")

    @property
    def precision(self) -> str:
        """Number format of the matrix products."""
        return {"openvino-bf16": "bfloat16", "openvino-int8": "int8", "torch": self.dtype}.get(self.backend, "float32")

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed n texts; where none is long, equal to ``SentenceTransformer.encode_document`` within rounding.

        A vector that is not finite is computed again in float32; what still has none is told in ``failures``.
        Raises ValueError for an empty text.
        """
        empty = sum(not text.strip() for text in texts)
        if empty:
            raise ValueError(f"an empty text has no embedding: {empty} of {len(texts)} are empty")
        return _load(self).encode([without_lone_surrogates(text) for text in texts], "document")

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Embed one question, float32 [d] of unit length, with the prompt that the model has for queries.

        Raises ValueError for an empty question and EmbeddingError where the model gives no vector.
        """
        if not text.strip():
            raise ValueError("an empty question has no embedding: 1 of 1 are empty")
        embedded = _load(self).encode([without_lone_surrogates(text)], "query")
        if embedded.failures:
            raise EmbeddingError(f"the model gave no vector for the question ({embedded.failures[0].value})")
        return embedded.vectors[0]


def split_backend(name: str) -> tuple[str, Backend]:
    """Split ``MODEL@BACKEND``; raise ValueError for a backend that is none."""
    model, at, backend = name.rpartition("@")
    if not at or "/" in backend:
        return name, "torch"
    if backend not in BACKENDS:
        raise ValueError(f"wanted a model or MODEL@BACKEND with one of {', '.join(BACKENDS)}; found @{backend}")
    return model, backend  # type: ignore[return-value]  # it is one of BACKENDS


def without_lone_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each surrogate without a partner, which no tokenizer takes; pairs are joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class _Loaded(Protocol):
    def encode(self, texts: Sequence[str], task: Literal["document", "query"]) -> Embedded: ...


_models: dict[tuple[int, SentenceTransformerEncoder], _Loaded] = {}


def _load(encoder: SentenceTransformerEncoder) -> _Loaded:
    # The process id is in the key because a forked child must not use its parent's torch and tokenizer threads.
    key = (os.getpid(), encoder)
    if key not in _models:
        if encoder.backend == "static":
            from pipelines.embedding.static_model import StaticModel

            _models[key] = StaticModel(resolve_model(encoder.model), encoder.fingerprint, encoder.cache)
        else:
            _models[key] = _load_transformer(encoder)
    return _models[key]


def _load_transformer(encoder: SentenceTransformerEncoder) -> LoadedModel:
    from pipelines.embedding.loaded_model import LoadedModel

    return LoadedModel(
        resolve_model(encoder.model),
        backend=encoder.backend if "@" in encoder.name else "auto",
        precision=encoder.precision,
        device=encoder.device,
        batch_tokens=encoder.batch_tokens,
        long_texts=encoder.long_texts,
        cache=encoder.cache,
    )
