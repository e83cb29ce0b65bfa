"""TRL's trainers for the three forms of rows, fed with token ids that no logged text can break out of."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, SFTConfig, SFTTrainer

from pipelines.training.chat_format import IGNORED, Tokens
from pipelines.training.checkpoints import drop_older, seal_checkpoint
from pipelines.training.objectives import ScoredRows
from pipelines.training.process_group import ProcessGroup
from pipelines.training.run_spec import PROGRESS_FILE, RunSpec

CHECKPOINTS = "checkpoints"
TrainerClass = type[Any]
Wrap = Callable[[TrainerClass], TrainerClass]


class EncodedPairs(DPOTrainer):  # type: ignore[misc]  # trl is not typed
    """DPO on rows that are token ids already: TRL's own encoding knows no defence against tokens inside texts."""

    def _prepare_dataset(self, dataset: Dataset, *_: Any, **__: Any) -> Dataset:
        return dataset


class EncodedUnpaired(KTOTrainer):  # type: ignore[misc]
    """KTO on rows that are token ids already, with the answers of other rows that its KL term needs."""

    def _prepare_dataset(self, dataset: Dataset, *_: Any, **__: Any) -> Dataset:
        return dataset


@dataclass(frozen=True)
class Parts:
    """What a trainer is made of."""

    spec: RunSpec
    folder: Path
    model: Any
    tokenizer: Any
    rows: ScoredRows
    group: ProcessGroup


def build_trainer(parts: Parts, wrap: Wrap = lambda trainer: trainer) -> Any:
    """Return the trainer of the specification's method, ready to train and to resume.

    ``wrap`` may derive from the trainer's class, for instance to change what a step does. Raises ``ValueError`` for
    fewer rows than the method needs.
    """
    spec = parts.spec
    trainer_class, config, dataset = {"sft": _sft, "dpo": _dpo, "kto": _kto}[spec.method](parts)
    return wrap(trainer_class)(
        model=parts.model,
        args=config,
        train_dataset=dataset,
        processing_class=parts.tokenizer,
        peft_config=lora_config(spec) if spec.lora_rank else None,
        callbacks=[ProgressLines(parts.folder / PROGRESS_FILE), SealedCheckpoints(parts)],
    )


def lora_config(spec: RunSpec) -> LoraConfig:
    """Adapter of ``spec`` on all linear layers (QLoRA, arXiv 2305.14314, section 4), with embeddings where asked."""
    return LoraConfig(
        r=spec.lora_rank,
        lora_alpha=spec.lora_alpha,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
        modules_to_save=["embed_tokens"] if spec.train_embeddings else None,
        ensure_weight_tying=spec.train_embeddings,
    )


class ProgressLines(TrainerCallback):  # type: ignore[misc]  # transformers is not typed
    """Appends one line of JSON a step: where the run stands and how many seconds it will take, for the launcher."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begun, self.first, self.loss = 0.0, 0, None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock at the step that the run begins or resumes at."""
        self.begun, self.first = time.monotonic(), state.global_step

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Remember the loss that was logged last."""
        self.loss = (logs or {}).get("loss", self.loss)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write step, steps in all, seconds so far and to go, from the first process only."""
        if not state.is_world_process_zero:
            return
        seconds = time.monotonic() - self.begun
        pace = seconds / max(1, state.global_step - self.first)
        told = {
            "step": state.global_step,
            "steps": state.max_steps,
            "seconds": round(seconds, 3),
            "eta_seconds": round(pace * (state.max_steps - state.global_step), 1),
            "loss": self.loss,
        }
        with self.path.open("ab") as file:
            file.write(orjson.dumps(told) + b"\n")


class SealedCheckpoints(TrainerCallback):  # type: ignore[misc]
    """Seals each checkpoint once all processes have written their part of it, then lets old ones go."""

    def __init__(self, parts: Parts) -> None:
        self.spec, self.group = parts.spec, parts.group

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the manifest, last of all files."""
        self.group.wait_for_all()
        if self.group.is_first:
            folder = Path(args.output_dir)
            seal_checkpoint(folder / f"checkpoint-{state.global_step}", self.spec.digest)
            drop_older(folder)
        self.group.wait_for_all()


def _sft(parts: Parts) -> tuple[TrainerClass, SFTConfig, Dataset]:
    answers = [row[0].tokens for row in parts.rows.rows]
    dataset = Dataset.from_list([{"input_ids": t.input_ids, "labels": t.labels} for t in answers])
    config = SFTConfig(
        **_arguments(parts),
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
    )
    return SFTTrainer, config, dataset


def _dpo(parts: Parts) -> tuple[TrainerClass, DPOConfig, Dataset]:
    rows = []
    for chosen, rejected in parts.rows.rows:
        prompts = [_prompt(chosen.tokens), _prompt(rejected.tokens)]
        rows.append(
            {
                "prompt_ids": min(prompts, key=len),
                "chosen_ids": _completion(chosen.tokens),
                "rejected_ids": _completion(rejected.tokens),
            }
        )
    return EncodedPairs, DPOConfig(**_arguments(parts), max_length=None, beta=parts.spec.beta), Dataset.from_list(rows)


def _kto(parts: Parts) -> tuple[TrainerClass, KTOConfig, Dataset]:
    answers = [row[0] for row in parts.rows.rows]
    size = parts.spec.batch_size
    # The KL term compares with the answers of the same batch, each moved to the next prompt (TRL, KTOTrainer).
    answers = answers[: len(answers) - len(answers) % size]
    if size < 2 or not answers:
        raise ValueError(f"kto: wanted batches of at least 2 and one full batch, found {len(parts.rows.rows)} rows "
                         f"in batches of {size}")  # fmt: skip
    completions = [_completion(answer.tokens) for answer in answers]
    batches = [completions[start : start + size] for start in range(0, len(answers), size)]
    others = [ids for batch in batches for ids in batch[-1:] + batch[:-1]]
    rows = [
        {"prompt_ids": _prompt(a.tokens), "completion_ids": ids, "KL_completion_ids": other, "label": a.sign > 0}
        for a, ids, other in zip(answers, completions, others, strict=True)
    ]
    liked = max(1, sum(answer.sign > 0 for answer in answers))
    disliked = max(1, len(answers) - liked)
    # Equal say for both classes: Ethayarajh et al., KTO (arXiv 2402.01306), equation 8, ratio 1.
    config = KTOConfig(
        **_arguments(parts),
        max_length=None,
        train_sampling_strategy="sequential",
        beta=parts.spec.beta,
        desirable_weight=max(1.0, disliked / liked),
        undesirable_weight=max(1.0, liked / disliked),
    )
    return EncodedUnpaired, config, Dataset.from_list(rows)


def _prompt(tokens: Tokens) -> list[int]:
    return [i for i, label in zip(tokens.input_ids, tokens.labels, strict=True) if label == IGNORED]


def _completion(tokens: Tokens) -> list[int]:
    return [i for i, label in zip(tokens.input_ids, tokens.labels, strict=True) if label != IGNORED]


def _arguments(parts: Parts) -> dict[str, Any]:
    """Training arguments that all methods share: numbers to the log, no reports, bf16 where the GPU has it."""
    spec, on_gpu = parts.spec, torch.cuda.is_available()
    return {
        "output_dir": str(parts.folder / CHECKPOINTS),
        "max_steps": spec.max_steps,
        "per_device_train_batch_size": spec.batch_size,
        "learning_rate": spec.learning_rate,
        "lr_scheduler_type": "cosine",
        "warmup_steps": max(1, spec.max_steps // 20),
        "logging_steps": 10,
        "save_strategy": "steps" if spec.save_steps else "no",
        "save_steps": spec.save_steps or spec.max_steps,
        "eval_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "seed": spec.seed,
        "gradient_checkpointing": on_gpu,
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
        "use_cpu": not on_gpu,
        "ddp_backend": None if on_gpu or parts.group.world == 1 else "gloo",
        "ddp_find_unused_parameters": False,
        "dataloader_pin_memory": on_gpu,
    }
