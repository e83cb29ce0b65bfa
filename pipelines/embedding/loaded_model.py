"""A sentence-transformers model in memory: count tokens, cut windows, run batches, pool. One process, its own."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipelines.embedding.encoder import Embedded, EmbeddingError
from pipelines.embedding.long_texts import LongTexts, Windows, cut_windows, pool_windows
from pipelines.embedding.models import fingerprint_model
from pipelines.embedding.openvino_engine import converted_forward, is_installed
from pipelines.embedding.token_batches import batches_by_tokens
from schemas.embedding_failures import EmbeddingFailure

CPU_BATCH_TOKENS = 1024
"""Padded tokens of one forward pass on a CPU: larger batches fall out of the cache and win nothing."""

GPU_BATCH_TOKENS = 65_536
"""Padded tokens of one forward pass on a GPU; halved whenever memory runs out."""

RETOKENIZED_TOKENS = 4
"""Room that a window leaves, since a piece cut inside a word may give a token more than the word did."""

Task = Literal["document", "query"]

_log = logging.getLogger("turnmill.embedding")


def task_resources() -> tuple[int | None, str | None]:
    """Cores and GPU that Spark gave to the running task; nothing outside a task."""
    if "pyspark" not in sys.modules:
        return None, None
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is None:
        return None, None
    gpus = task.resources().get("gpu")
    return task.cpus(), f"cuda:{gpus.addresses[0]}" if gpus else None


class LoadedModel:
    """A model and the engine that runs it; ``precision`` is the number format of its products.

    ``backend`` auto is OpenVINO on a CPU in float32 where it is installed, else torch.
    """

    def __init__(
        self,
        folder: Path,
        *,
        backend: str,
        precision: str,
        device: str | None,
        batch_tokens: int | None,
        long_texts: LongTexts,
        cache: str | None = None,
    ) -> None:
        # The tokenizer's thread pool does not survive a fork, and Spark forks; it reads only the C environment.
        os.putenv("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        cores, gpu = task_resources()
        if cores is not None:
            torch.set_num_threads(cores)
        transformers_logging.disable_progress_bar()
        chosen = backend == "auto"
        if chosen:
            equal_engine = device is None and gpu is None and not torch.cuda.is_available() and is_installed()
            backend = "openvino" if equal_engine and precision == "float32" else "torch"
        on_torch = backend == "torch"
        self.torch = torch
        if gpu is not None and not torch.cuda.is_available():
            _log.warning("Spark gave the task a GPU that torch cannot use (no CUDA build or driver); the CPU runs it")
            gpu = None
        self.device = (device or gpu or ("cuda" if torch.cuda.is_available() else "cpu")) if on_torch else "cpu"
        on_gpu = self.device.startswith("cuda")
        self.precision = precision if on_gpu or not on_torch else "float32"
        self.model: Any = SentenceTransformer(
            str(folder),
            device=self.device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True, "torch_dtype": self.precision if on_gpu else "float32"},
        ).eval()
        self.long_texts = long_texts
        self.max_tokens: int | None = self.model.get_max_seq_length()
        self.budget = batch_tokens or (GPU_BATCH_TOKENS if on_gpu else CPU_BATCH_TOKENS)
        self.forward: Callable[[Mapping[str, Any]], npt.NDArray[np.float32]] = self._torch_forward
        if not on_torch:
            try:
                self.forward = converted_forward(
                    self.model, fingerprint_model(folder, policy=""), precision, cores, cache
                )
            except Exception as error:  # converters raise their own types for layers that they do not know
                if not chosen:
                    raise
                backend = "torch"
                _log.warning("OpenVINO does not take this model (%s); torch runs it", type(error).__name__)
        suffix = "" if self.precision == "float32" else f"-{self.precision}"
        self.backend = f"{backend.partition('-')[0]}-{'cuda' if on_gpu else 'cpu'}{suffix}"

    def encode(self, texts: Sequence[str], task: Task) -> Embedded:
        """Embed texts that are not empty and are valid Unicode."""
        prompt = self._prompt(task)
        n_tokens = self._count_tokens([prompt + text for text in texts])
        pieces, owners, weights, whole = self._pieces(texts, n_tokens, prompt)
        lengths = self._count_tokens([prompt + piece for piece in pieces]) if len(pieces) > len(texts) else n_tokens
        seen = lengths if self.max_tokens is None else np.minimum(lengths, self.max_tokens)
        vectors = np.zeros((len(pieces), self.model.get_embedding_dimension()), dtype=np.float32)
        failures: dict[int, EmbeddingFailure] = {}
        for rows in batches_by_tokens(seen, self.budget):
            found = self._vectors_or_halves([pieces[row] for row in rows], prompt)
            vectors[rows], bad = _unit_length(found)
            failures |= {int(owners[rows[row]]): reason for row, reason in bad.items()}
        if len(pieces) > len(texts):
            vectors, cancelled = _unit_length(pool_windows(vectors, weights, owners, len(texts)))
            failures = cancelled | failures
        vectors[list(failures)] = 0
        return Embedded(vectors, n_tokens, ~whole, self.backend, failures)

    def _prompt(self, task: Task) -> str:
        prompts: dict[str, str] = self.model.prompts or {}
        return prompts.get(task) or prompts.get(self.model.default_prompt_name or "") or ""

    def _pieces(
        self, texts: Sequence[str], n_tokens: npt.NDArray[np.int32], prompt: str
    ) -> tuple[list[str], npt.NDArray[np.intp], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Return what the model reads: pieces, the text of each, its tokens, and which texts are read whole."""
        whole = np.ones(len(texts), dtype=bool)
        if self.max_tokens is not None:
            whole = n_tokens <= self.max_tokens
        if whole.all() or self.long_texts == "head" or not getattr(self.model.tokenizer, "is_fast", False):
            return list(texts), np.arange(len(texts)), n_tokens, whole
        framing = int(self._count_tokens([prompt or ""])[0])
        room = int(self.max_tokens or 0) - framing - RETOKENIZED_TOKENS
        pieces: list[str] = []
        owners: list[int] = []
        weights: list[int] = []
        for row, text in enumerate(texts):
            windows = Windows(((0, len(text)),), (int(n_tokens[row]),), True)
            if not whole[row]:
                windows = cut_windows(self._offsets(text), room)
            pieces.extend(text[start:end] for start, end in windows.spans)
            owners.extend([row] * len(windows.spans))
            weights.extend(windows.n_tokens)
            whole[row] = windows.whole
        return pieces, np.array(owners), np.array(weights, dtype=np.int32), whole

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        encoded = self.model.tokenizer(
            text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        offsets: list[tuple[int, int]] = encoded["offset_mapping"]
        return offsets

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

    def _vectors_or_halves(self, texts: list[str], prompt: str) -> npt.NDArray[np.float32]:
        """Run one batch; where the GPU's memory does not hold it, its halves, and smaller batches from then on."""
        try:
            return self._vectors(texts, prompt)
        except self.torch.OutOfMemoryError:
            if len(texts) == 1:
                raise EmbeddingError("one text alone does not fit into the GPU; use a smaller model") from None
        self.torch.cuda.empty_cache()
        half = len(texts) // 2
        self.budget = max(1, self.budget // 2)
        return np.concatenate(
            [self._vectors_or_halves(texts[:half], prompt), self._vectors_or_halves(texts[half:], prompt)]
        )

    def _vectors(self, texts: list[str], prompt: str) -> npt.NDArray[np.float32]:
        """Return one vector a text; those that are not finite are computed again in float32."""
        features = self.model.preprocess(texts, prompt=prompt or None)
        vectors = self.forward(features)
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad) and self.precision != "float32":
            vectors[bad] = self._in_float32([texts[row] for row in bad], prompt)
        return vectors

    def _in_float32(self, texts: list[str], prompt: str) -> npt.NDArray[np.float32]:
        dtype = self.model.dtype
        self.model.float()
        try:
            return self._torch_forward(self.model.preprocess(texts, prompt=prompt or None))
        finally:
            self.model.to(dtype)

    def _torch_forward(self, features: Mapping[str, Any]) -> npt.NDArray[np.float32]:
        with self.torch.inference_mode():
            moved = {name: value.to(self.device) if hasattr(value, "to") else value for name, value in features.items()}
            vectors: npt.NDArray[np.float32] = self.model(moved)["sentence_embedding"].float().cpu().numpy()
        return vectors


def _unit_length(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], dict[int, EmbeddingFailure]]:
    """Return the vectors at unit length, and why a row has none; such a row is zero."""
    finite: npt.NDArray[np.bool_] = np.asarray(np.isfinite(vectors).all(axis=1))
    clean = np.where(finite[:, None], vectors, np.float32(0))
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    failures = {
        int(row): EmbeddingFailure.ZERO_VECTOR if finite[row] else EmbeddingFailure.NOT_FINITE
        for row in np.flatnonzero(lengths[:, 0] == 0)
    }
    return np.divide(clean, lengths, out=np.zeros_like(clean), where=lengths > 0), failures
