"""A table of token vectors distilled from a sentence-transformers model: no attention, hundreds of times faster.

Each token of the vocabulary goes through the model alone; principal components keep what varies, and frequent tokens
count less (smooth inverse frequency, Arora et al. 2017, with ranks of the vocabulary for frequencies as in model2vec).
A text is the weighted mean of its tokens. Good for a first pass, weak for retrieval.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipelines.embedding.encoder import Embedded
from pipelines.embedding.model_cache import made_once
from schemas.embedding_failures import EmbeddingFailure

MOST_DIMENSIONS = 256
"""Principal components that are kept."""

SMOOTHING = 1e-3
"""The a of the weight a / (a + p) of a token of probability p."""

STATIC_POLICY = f"static;v1;pca:{MOST_DIMENSIONS};sif:{SMOOTHING};unit"

_TOKENS_OF_A_PASS = 1024


def zipf_weights(n_tokens: int) -> npt.NDArray[np.float64]:
    """Return the weight of each token of a vocabulary that lists frequent tokens first, [n_tokens], growing."""
    frequency = 1 / np.arange(1, n_tokens + 1)
    return np.asarray(SMOOTHING / (SMOOTHING + frequency / frequency.sum()))


def principal_components(vectors: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.float64]:
    """Return the vectors, centred, in their ``most`` directions of largest variance, [n, min(most, d)]."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    variance, directions = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ directions[:, np.argsort(-variance)[:most]])


class StaticModel:
    """The table of one model, made on first use and kept in the cache of this machine."""

    backend = "static-cpu"

    def __init__(self, folder: Path, fingerprint: str, cache: str | None = None) -> None:
        from safetensors.numpy import load_file

        made = made_once(f"static-{fingerprint[:32]}", lambda draft: distil(folder, draft), cache)
        self.table = load_file(made / "tokens.safetensors")["tokens"]
        self.tokenizer = _bare_tokenizer(made / "tokenizer.json")

    def encode(self, texts: Sequence[str], _task: Literal["document", "query"]) -> Embedded:
        """Embed texts that are not empty and are valid Unicode; nothing is too long for a mean."""
        encodings = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False) if texts else []
        n_tokens = np.fromiter((len(encoding.ids) for encoding in encodings), dtype=np.int32, count=len(texts))
        vectors = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for row, encoding in enumerate(encodings):
            vectors[row] = self.table[encoding.ids].sum(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        failures = {int(row): EmbeddingFailure.ZERO_VECTOR for row in np.flatnonzero(lengths[:, 0] == 0)}
        return Embedded(vectors, n_tokens, np.zeros(len(texts), dtype=bool), self.backend, failures)


def distil(folder: Path, target: Path) -> None:
    """Write the token table and the tokenizer of the model in ``folder`` to ``target``."""
    import torch
    from safetensors.numpy import save_file
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(
        str(folder),
        device="cuda" if torch.cuda.is_available() else "cpu",
        trust_remote_code=False,
        local_files_only=True,
        model_kwargs={"use_safetensors": True},
    ).eval()
    ids = np.arange(len(model.tokenizer))
    alone = np.concatenate([_vectors_alone(model, ids[i : i + _TOKENS_OF_A_PASS]) for i in ids[::_TOKENS_OF_A_PASS]])
    table = principal_components(alone, MOST_DIMENSIONS) * zipf_weights(len(ids))[:, None]
    table[list(model.tokenizer.all_special_ids)] = 0
    save_file({"tokens": np.ascontiguousarray(table, dtype=np.float32)}, target / "tokens.safetensors")
    model.tokenizer.backend_tokenizer.save(str(target / "tokenizer.json"))


def _vectors_alone(model: Any, ids: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
    import torch

    before, after = _special_tokens_around(model.tokenizer)
    framed = torch.tensor([[*before, int(i), *after] for i in ids])
    features = {"input_ids": framed.to(model.device), "attention_mask": torch.ones_like(framed).to(model.device)}
    with torch.inference_mode():
        vectors: npt.NDArray[np.float32] = model(features)["sentence_embedding"].float().cpu().numpy()
    return vectors


def _special_tokens_around(tokenizer: Any) -> tuple[list[int], list[int]]:
    framed = list(tokenizer("a")["input_ids"])
    bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    start = next(i for i in range(len(framed)) if framed[i : i + len(bare)] == bare)
    return framed[:start], framed[start + len(bare) :]


def _bare_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
