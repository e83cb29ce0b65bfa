"""What training lowers, row by row, for the three forms of rows: supervised, preference pairs, unpaired."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipelines.training.chat_format import Tokens, encode_example
from pipelines.training.encoded_rows import row_losses

Method = Literal["sft", "dpo", "kto"]
METHODS: tuple[Method, ...] = ("sft", "dpo", "kto")


@dataclass(frozen=True, slots=True)
class SignedAnswer:
    """An answer under its prompt, and whether it is to become likelier (1) or less likely (-1)."""

    tokens: Tokens
    sign: int


@dataclass(frozen=True)
class ScoredRows:
    """Rows as signed answers. ``places`` tells which of the rows given were encoded: the others do not fit."""

    method: Method
    rows: list[list[SignedAnswer]]
    places: list[int]

    @property
    def too_long(self) -> int:
        """Rows up to the last one encoded that did not fit."""
        return (self.places[-1] + 1 if self.places else 0) - len(self.places)

    @property
    def prompt_cut(self) -> int:
        """Rows whose prompt lost its oldest tokens."""
        return sum(any(answer.tokens.prompt_cut for answer in row) for row in self.rows)


@dataclass(frozen=True)
class Objective:
    """One value a row, lower is better, and the weight of the row in the mean."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Weighted mean of all rows."""
        return float((self.values * self.weights).sum() / self.weights.sum())


def method_of(row: Mapping[str, Any]) -> Method:
    """Tell by its form how a row is trained on: TRL's prompt-completion, preference or unpaired preference."""
    if "chosen" in row and "rejected" in row:
        return "dpo"
    return "kto" if "label" in row else "sft"


def score_rows(
    tokenizer: Any, examples: Iterable[Mapping[str, Any]], method: Method, max_length: int, most: int
) -> ScoredRows:
    """Encode up to ``most`` rows; a row of which any answer does not fit is left out.

    Raises ``ValueError`` for a row of another form than ``method`` trains on.
    """
    rows: list[list[SignedAnswer]] = []
    places: list[int] = []
    for place, example in enumerate(examples):
        if len(rows) >= most:
            break
        found = method_of(example)
        if found != method:
            raise ValueError(f"rows: wanted all in the form of {method}, found one in that of {found}")
        signed = [(encode_example(tokenizer, row, max_length), sign) for row, sign in _answers(example, method)]
        fitting = [SignedAnswer(tokens, sign) for tokens, sign in signed if tokens is not None]
        if len(fitting) == len(signed):
            rows.append(fitting)
            places.append(place)
    return ScoredRows(method, rows, places)


def objective(model: Any, scored: ScoredRows, pad_id: int, device: Any) -> Objective:
    """Return each row's value under ``model``.

    Supervised: nats a completion token, weighted by its tokens. Preference: nats a token of the chosen answer less
    those of the rejected one. Unpaired: nats a token of a liked answer, and their negative of a disliked one.
    """
    flat = [answer for row in scored.rows for answer in row]
    losses = row_losses(model, [answer.tokens for answer in flat], pad_id, device)
    signed = losses.per_token * np.array([answer.sign for answer in flat])
    if scored.method == "dpo":
        return Objective(signed.reshape(-1, 2).sum(axis=1), np.ones(len(scored.rows)))
    return Objective(signed, losses.tokens if scored.method == "sft" else np.ones(len(scored.rows)))


def _answers(example: Mapping[str, Any], method: Method) -> Sequence[tuple[dict[str, Any], int]]:
    """Return the prompt-completion rows that the example is made of, with their signs."""
    shared = {"prompt": example["prompt"], "tools": example.get("tools")}
    if method == "dpo":
        return [({**shared, "completion": example[side]}, sign) for side, sign in (("chosen", 1), ("rejected", -1))]
    sign = 1 if method == "sft" or example["label"] else -1
    shared["loss_mask"] = example.get("loss_mask")
    return [({**shared, "completion": example["completion"]}, sign)]
