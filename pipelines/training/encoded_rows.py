"""Rows of a dataset version as token ids, and what a model loses on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipelines.training.chat_format import IGNORED, Tokens, encode_example

EVALUATION_BATCH = 8


@dataclass(frozen=True)
class EncodedSplit:
    """A split as token ids, and how many rows did not fit as they were."""

    rows: list[Tokens]
    prompt_cut: int
    too_long: int


@dataclass(frozen=True)
class RowLosses:
    """Summed negative log-likelihood (nats) and completion tokens of each row, in the order of the rows."""

    nats: NDArray[np.float64]
    tokens: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Nats a completion token over all rows."""
        return float(self.nats.sum() / self.tokens.sum())

    @property
    def per_token(self) -> NDArray[np.float64]:
        """Nats a completion token of each row."""
        return self.nats / self.tokens


def encode_split(tokenizer: Any, examples: Iterable[Mapping[str, Any]], max_length: int, most: int) -> EncodedSplit:
    """Encode up to ``most`` rows of ``examples``; a row whose completion does not fit is counted and left out."""
    rows: list[Tokens] = []
    too_long = 0
    for example in examples:
        if len(rows) >= most:
            break
        tokens = encode_example(tokenizer, example, max_length)
        if tokens is None:
            too_long += 1
        else:
            rows.append(tokens)
    return EncodedSplit(rows, sum(r.prompt_cut for r in rows), too_long)


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file, split on newline bytes only."""
    with path.open("rb") as lines:
        for line in lines:
            yield orjson.loads(line)


def row_losses(model: Any, rows: Sequence[Tokens], pad_id: int, device: Any) -> RowLosses:
    """Return what ``model`` loses on the completion of each row, without gradients; rows of like length share a batch.

    The model is left in the mode (training or not) that it came in.
    """
    import torch

    nats, tokens = np.zeros(len(rows)), np.zeros(len(rows))
    by_length = sorted(range(len(rows)), key=lambda i: (len(rows[i].input_ids), i))
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for start in range(0, len(by_length), EVALUATION_BATCH):
            places = by_length[start : start + EVALUATION_BATCH]
            ids, labels, seen = (
                torch.tensor(part, device=device) for part in _padded([rows[i] for i in places], pad_id)
            )
            logits = model(input_ids=ids, attention_mask=seen).logits[:, :-1].float()
            targets = labels[:, 1:]
            lost = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), targets, ignore_index=IGNORED, reduction="none"
            )
            nats[places] = lost.sum(dim=1, dtype=torch.float64).cpu().numpy()
            tokens[places] = (targets != IGNORED).sum(dim=1).cpu().numpy()
    model.train(was_training)
    return RowLosses(nats, tokens)


def mean_loss(model: Any, rows: Sequence[Tokens], pad_id: int, device: Any) -> float:
    """Return the mean loss per completion token over ``rows``, each row counted once by all processes together."""
    import torch

    world, rank = 1, 0
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        world, rank = torch.distributed.get_world_size(), torch.distributed.get_rank()
    mine = row_losses(model, rows[rank::world], pad_id, device)
    sums = torch.tensor([mine.nats.sum(), mine.tokens.sum()], dtype=torch.float64, device=device)
    if world > 1:
        torch.distributed.all_reduce(sums)
    return float(sums[0] / sums[1])


def _padded(rows: Sequence[Tokens], pad_id: int) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Return ids, labels and attention masks, all of the longest row's width."""
    width = max(len(r.input_ids) for r in rows)
    short = [width - len(r.input_ids) for r in rows]
    return (
        [r.input_ids + [pad_id] * n for r, n in zip(rows, short, strict=True)],
        [r.labels + [IGNORED] * n for r, n in zip(rows, short, strict=True)],
        [[1] * len(r.input_ids) + [0] * n for r, n in zip(rows, short, strict=True)],
    )
