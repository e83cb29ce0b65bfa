"""Turn texts into vectors of unit length: batches by tokens, nothing cut in silence, the model loaded once a worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from pipelines.embedding.models import DEFAULT_MODEL, fingerprint_model, resolve_model

Dtype = Literal["float32", "float16", "bfloat16"]

CPU_BATCH_TOKENS = 4096
"""Padded tokens of one forward pass on a CPU: larger batches fall out of the cache and win nothing."""

GPU_BATCH_TOKENS = 65_536
"""Padded tokens of one forward pass on a GPU; halved whenever memory runs out."""


class EmbeddingError(RuntimeError):
    """The model gave no usable vector. The message holds counts, never text."""

    safe_to_show = True


@dataclass(frozen=True)
class Embedded:
    """Vectors of n texts, in their order.

    ``vectors`` float32 [n, d] of unit length; ``n_tokens`` int32 [n], tokens of the whole text with the model's special
    tokens; ``truncated`` bool [n], true where the model saw only the first tokens; ``backend`` engine and device.
    """

    vectors: npt.NDArray[np.float32]
    n_tokens: npt.NDArray[np.int32]
    truncated: npt.NDArray[np.bool_]
    backend: str


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
    """Any sentence-transformers model by name, folder or hub repository; on CUDA where there is one, else on the CPU.

    ``device`` None takes the GPU that Spark gave to the task, else the first one. ``dtype`` counts on CUDA alone, since
    half precision is slower than float32 on CPUs. ``batch_tokens`` bounds texts x longest text of one forward pass.
    """

    name: str = DEFAULT_MODEL
    device: str | None = None
    batch_tokens: int | None = None
    dtype: Dtype = "float32"

    @property
    def fingerprint(self) -> str:
        """Hash of weights, tokenizer, pooling, prompts, length limit, cut and dtype; needs no torch."""
        return fingerprint_model(resolve_model(self.name), policy=f"head;unit;{self.dtype}")

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed n texts, each cut at the model's own length; equal to ``SentenceTransformer.encode_document``.

        Raises EmbeddingError where a vector is not finite in float32 either, and ValueError for an empty text.
        """
        return _load(self).encode(texts, "document")

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """Embed one question, float32 [d] of unit length, with the prompt that the model has for queries."""
        return _load(self).encode([text], "query").vectors[0]


_models: dict[tuple[int, SentenceTransformerEncoder], _Model] = {}


def _load(encoder: SentenceTransformerEncoder) -> _Model:
    # The process id is in the key because a forked child must not use its parent's torch and tokenizer threads.
    key = (os.getpid(), encoder)
    if key not in _models:
        _models[key] = _Model(encoder)
    return _models[key]


def _task_resources() -> tuple[int | None, str | None]:
    """Cores and GPU that Spark gave to the running task; nothing outside a task."""
    if "pyspark" not in sys.modules:
        return None, None
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is None:
        return None, None
    gpus = task.resources().get("gpu")
    return task.cpus(), f"cuda:{gpus.addresses[0]}" if gpus else None


def batches_by_tokens(n_tokens: npt.NDArray[np.int32], budget: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield row numbers, longest texts first, so that rows x longest of each batch stays within ``budget`` tokens.

    Longest first: memory that is too small shows in the first batch. A text above the budget goes alone.
    """
    order = np.argsort(-n_tokens, kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(n_tokens[order[start]]))
        end = start + max(1, budget // longest)
        yield order[start:end]
        start = end


class _Model:
    """A loaded model; lives in the process that made it."""

    def __init__(self, encoder: SentenceTransformerEncoder) -> None:
        # The tokenizer's thread pool does not survive a fork, and Spark forks; it reads only the C environment.
        os.putenv("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        cores, gpu = _task_resources()
        if cores is not None:
            torch.set_num_threads(cores)
        transformers_logging.disable_progress_bar()
        self.torch = torch
        self.device = encoder.device or gpu or ("cuda" if torch.cuda.is_available() else "cpu")
        self.on_gpu = self.device.startswith("cuda")
        self.dtype = encoder.dtype if self.on_gpu else "float32"
        self.model: Any = SentenceTransformer(
            str(resolve_model(encoder.name)),
            device=self.device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True, "torch_dtype": self.dtype},
        ).eval()
        self.max_tokens: int | None = self.model.get_max_seq_length()
        self.budget = encoder.batch_tokens or (GPU_BATCH_TOKENS if self.on_gpu else CPU_BATCH_TOKENS)
        self.backend = (
            "torch-" + ("cuda" if self.on_gpu else "cpu") + ("" if self.dtype == "float32" else f"-{self.dtype}")
        )

    def encode(self, texts: Sequence[str], task: Literal["document", "query"]) -> Embedded:
        if any(not text.strip() for text in texts):
            raise ValueError(
                f"an empty text has no embedding: {sum(not t.strip() for t in texts)} of {len(texts)} are empty"
            )
        prompts: dict[str, str] = self.model.prompts or {}
        prompt = prompts.get(task) or prompts.get(self.model.default_prompt_name or "") or ""
        n_tokens = self._count_tokens([prompt + text for text in texts])
        seen = n_tokens if self.max_tokens is None else np.minimum(n_tokens, self.max_tokens)
        vectors = np.empty((len(texts), self.model.get_embedding_dimension()), dtype=np.float32)
        for rows in batches_by_tokens(seen, self.budget):
            vectors[rows] = self._forward([texts[row] for row in rows], prompt)
        return Embedded(vectors, n_tokens, n_tokens > seen, self.backend)

    def _count_tokens(self, texts: list[str]) -> npt.NDArray[np.int32]:
        tokenizer = self.model.tokenizer
        if not texts:
            return np.empty(0, dtype=np.int32)
        if callable(tokenizer):
            ids = tokenizer(texts, truncation=False, padding=False, return_attention_mask=False, verbose=False)[
                "input_ids"
            ]
        else:
            ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        return np.fromiter(map(len, ids), dtype=np.int32, count=len(texts))

    def _forward(self, texts: list[str], prompt: str) -> npt.NDArray[np.float32]:
        try:
            vectors = self._vectors(texts, prompt)
        except self.torch.OutOfMemoryError:
            if len(texts) == 1:
                raise EmbeddingError("one text alone does not fit into the GPU; use a smaller model") from None
            self.torch.cuda.empty_cache()
            half = len(texts) // 2
            self.budget = max(1, self.budget // 2)
            return np.concatenate([self._forward(texts[:half], prompt), self._forward(texts[half:], prompt)])
        bad = ~np.isfinite(vectors).all(axis=1)
        if bad.any() and self.dtype != "float32":
            self.model.float()
            vectors[bad] = self._vectors([texts[row] for row in np.flatnonzero(bad)], prompt)
            self.model.to(getattr(self.torch, self.dtype))
            bad = ~np.isfinite(vectors).all(axis=1)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if bad.any() or not lengths.all():
            raise EmbeddingError(
                f"{int((bad | (lengths[:, 0] == 0)).sum())} of {len(texts)} vectors are not finite or zero"
            )
        return vectors / lengths

    def _vectors(self, texts: list[str], prompt: str) -> npt.NDArray[np.float32]:
        with self.torch.inference_mode():
            features = self.model.preprocess(texts, prompt=prompt or None)
            moved = {name: value.to(self.device) if hasattr(value, "to") else value for name, value in features.items()}
            vectors: npt.NDArray[np.float32] = self.model(moved)["sentence_embedding"].float().cpu().numpy()
        return vectors
