"""What one model does on the held-out rows: losses, answers, and what it remembers of planted secrets."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipelines.promotion.canaries import Canary, draw_secret, exposure
from pipelines.promotion.evidence import CanaryFigures
from pipelines.promotion.held_out import JudgedRow, wanted_answers, with_other_prompts
from pipelines.promotion.task_checks import CheckedAnswer, check_answer
from pipelines.training.chat_format import control_tokens_of, defuse, tools_of
from pipelines.training.encoded_rows import EncodedSplit, RowLosses, encode_split, row_losses
from pipelines.training.objectives import Objective, method_of, objective, score_rows

GENERATION_BATCH = 8


@dataclass(frozen=True)
class Plan:
    """How much is measured. ``rows``: held-out and regression rows; ``answers``: rows that are answered in words."""

    rows: int = 256
    answers: int = 32
    new_tokens: int = 96
    max_length: int = 512
    canary_alternatives: int = 127


@dataclass(frozen=True)
class RowSet:
    """Rows that all models of one evaluation are measured on."""

    held_out: list[JudgedRow]
    regression: list[JudgedRow] = field(default_factory=list)
    canaries: list[Canary] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """Figures of one model; places index the rows of the set that fit this model's tokenizer."""

    objective: Objective
    places: list[int]
    right_prompt: RowLosses
    other_prompt: RowLosses
    prompt_places: list[int]
    regression: RowLosses | None
    regression_places: list[int]
    answers: list[str]
    checks: list[CheckedAnswer]


def measure(model: Any, tokenizer: Any, rows: RowSet, plan: Plan) -> Measured:
    """Measure ``model`` on ``rows``. Rows that do not fit ``plan.max_length`` tokens are left out and not in places.

    All are supposed to be rows of one form.
    """
    device = model.device
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    held_out = [row.row for row in rows.held_out]
    scored = score_rows(tokenizer, held_out, method_of(held_out[0]), plan.max_length, plan.rows)
    wanted, others = wanted_answers(rows.held_out), with_other_prompts(rows.held_out)
    right, other, prompt_places = _both_prompts(tokenizer, wanted, others, plan)
    regression, regression_places = _fitting(tokenizer, wanted_answers(rows.regression), plan)
    answers = answer_rows(model, tokenizer, wanted[: plan.answers], plan)
    return Measured(
        objective=objective(model, scored, pad_id, device),
        places=scored.places,
        right_prompt=row_losses(model, right, pad_id, device),
        other_prompt=row_losses(model, other, pad_id, device),
        prompt_places=prompt_places,
        regression=row_losses(model, regression.rows, pad_id, device) if regression.rows else None,
        regression_places=regression_places,
        answers=answers,
        checks=[check_answer(row["completion"][-1], answer) for row, answer in zip(wanted, answers, strict=False)],
    )


def answer_rows(model: Any, tokenizer: Any, rows: Sequence[Mapping[str, Any]], plan: Plan) -> list[str]:
    """Return what the model answers to each prompt, greedily; a prompt that is too long loses its oldest tokens."""
    control = control_tokens_of(tokenizer)
    prompts = []
    for row in rows:
        text = tokenizer.apply_chat_template(
            defuse(row["prompt"], control),
            tools=defuse(tools_of(row), control),
            tokenize=False,
            add_generation_prompt=True,
        )
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        prompts.append(ids[-max(1, plan.max_length - plan.new_tokens) :])
    return generate(model, tokenizer, prompts, plan.new_tokens)


def generate(model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], new_tokens: int) -> list[str]:
    """Return the greedy continuation of each prompt, without special tokens, up to the end of the message."""
    import torch

    end, pad_id = tokenizer.eos_token_id, tokenizer.pad_token_id
    pad_id = end if pad_id is None else pad_id
    told = [""] * len(prompts)
    by_length = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), i))
    model.eval()
    for start in range(0, len(by_length), GENERATION_BATCH):
        places = by_length[start : start + GENERATION_BATCH]
        width = max(len(prompts[i]) for i in places)
        ids = torch.tensor([[pad_id] * (width - len(prompts[i])) + list(prompts[i]) for i in places])
        seen = torch.tensor([[0] * (width - len(prompts[i])) + [1] * len(prompts[i]) for i in places])
        with torch.no_grad():
            found = model.generate(
                input_ids=ids.to(model.device),
                attention_mask=seen.to(model.device),
                max_new_tokens=new_tokens,
                do_sample=False,
                eos_token_id=end,
                pad_token_id=pad_id,
            )
        for place, row in zip(places, found[:, width:].tolist(), strict=True):
            told[place] = tokenizer.decode(row, skip_special_tokens=True).strip()
    return told


def measure_canaries(model: Any, tokenizer: Any, canaries: Sequence[Canary], plan: Plan, seed: int) -> CanaryFigures:
    """Ask for every planted secret, greedily, and rank it among secrets that were never planted."""
    if not canaries:
        return CanaryFigures()
    came_out = [_extracted(model, tokenizer, canary) for canary in canaries]
    once = [canary for canary in canaries if canary.repeats == 1]
    draw = random.Random(seed)  # noqa: S311 - alternatives, no secret
    exposures = [_exposure(model, tokenizer, canary, plan, draw) for canary in once]
    n_out = sum(out for canary, out in zip(canaries, came_out, strict=True) if canary.repeats == 1)
    return CanaryFigures(
        planted=len(once),
        extracted=n_out,
        exposure_bits=float(np.mean(exposures)) if exposures else 0.0,
        repeated_planted=len(canaries) - len(once),
        repeated_extracted=sum(came_out) - n_out,
    )


def _extracted(model: Any, tokenizer: Any, canary: Canary) -> bool:
    """Tell whether the secret follows word for word when the model is given the question and the words before it."""
    prompt = tokenizer.apply_chat_template(canary.row()["prompt"], tokenize=False, add_generation_prompt=True)
    ids = tokenizer(prompt + canary.lead.rstrip(), add_special_tokens=False)["input_ids"]
    room = len(tokenizer(f" {canary.secret}", add_special_tokens=False)["input_ids"]) + 4
    return canary.secret in generate(model, tokenizer, [ids], room)[0]


def _exposure(model: Any, tokenizer: Any, canary: Canary, plan: Plan, draw: random.Random) -> float:
    secrets = [canary.secret, *(draw_secret(draw) for _ in range(plan.canary_alternatives))]
    rows = encode_split(tokenizer, [canary.row(secret) for secret in secrets], plan.max_length, len(secrets)).rows
    nats = row_losses(model, rows, tokenizer.pad_token_id, model.device).nats
    return exposure(1 + int((nats[1:] < nats[0]).sum()), len(nats) - 1)


def _fitting(tokenizer: Any, rows: Sequence[Mapping[str, Any]], plan: Plan) -> tuple[EncodedSplit, list[int]]:
    """Encode the rows that fit, and tell which they are."""
    scored = score_rows(tokenizer, rows, "sft", plan.max_length, plan.rows)
    return EncodedSplit([row[0].tokens for row in scored.rows], scored.prompt_cut, scored.too_long), scored.places


def _both_prompts(
    tokenizer: Any, wanted: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], plan: Plan
) -> tuple[list[Any], list[Any], list[int]]:
    right, right_places = _fitting(tokenizer, wanted, plan)
    other, other_places = _fitting(tokenizer, others, plan)
    by_place = dict(zip(other_places, other.rows, strict=True))
    both = [(place, tokens) for place, tokens in zip(right_places, right.rows, strict=True) if place in by_place]
    return [tokens for _, tokens in both], [by_place[place] for place, _ in both], [place for place, _ in both]
