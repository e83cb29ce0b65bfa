"""One process of a fine-tuning run, started by torchrun: TRL's SFTTrainer with a LoRA adapter, loss before and after.

Reads ``spec.json`` of the run's folder; writes ``progress.jsonl``, the adapter and, last of all, ``result.json``.
Nothing of the data is ever written to the log: numbers only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import torch
import torch.distributed
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from transformers.utils import logging as transformers_logging
from trl import SFTConfig, SFTTrainer

from pipelines.training.chat_format import IGNORED, Tokens, encode_example
from pipelines.training.run_spec import ADAPTER_FOLDER, PROGRESS_FILE, RunResult, RunSpec

EVALUATION_BATCH = 8


@dataclass(frozen=True)
class EncodedSplit:
    """A split as token ids, and how many rows did not fit as they were."""

    rows: list[Tokens]
    prompt_cut: int
    too_long: int

    def dataset(self) -> Dataset:
        """Return the rows as the trainer takes them."""
        return Dataset.from_list([{"input_ids": r.input_ids, "labels": r.labels} for r in self.rows])


def encode_split(tokenizer: Any, examples: Iterable[dict[str, Any]], max_length: int, most: int) -> EncodedSplit:
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


def mean_loss(model: Any, rows: list[Tokens], pad_id: int, device: torch.device) -> float:
    """Return the mean loss per completion token over ``rows``, each row counted once by all processes together."""
    world, rank = 1, 0
    if torch.distributed.is_initialized():
        world, rank = torch.distributed.get_world_size(), torch.distributed.get_rank()
    mine = rows[rank::world]
    sums = torch.zeros(2, dtype=torch.float64, device=device)
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for start in range(0, len(mine), EVALUATION_BATCH):
            batch = mine[start : start + EVALUATION_BATCH]
            width = max(len(r.input_ids) for r in batch)
            ids = torch.tensor([r.input_ids + [pad_id] * (width - len(r.input_ids)) for r in batch], device=device)
            labels = torch.tensor([r.labels + [IGNORED] * (width - len(r.labels)) for r in batch], device=device)
            seen = torch.tensor(
                [[1] * len(r.input_ids) + [0] * (width - len(r.input_ids)) for r in batch], device=device
            )
            logits = model(input_ids=ids, attention_mask=seen).logits[:, :-1].float()
            targets = labels[:, 1:]
            sums[0] += torch.nn.functional.cross_entropy(
                logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=IGNORED, reduction="sum"
            )
            sums[1] += (targets != IGNORED).sum()
    model.train(was_training)
    if world > 1:
        torch.distributed.all_reduce(sums)
    return float(sums[0] / sums[1])


class ProgressLines(TrainerCallback):  # type: ignore[misc]  # transformers is not typed
    """Appends one line of JSON a step, for the launcher to follow."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write step and steps in all, from the first process only."""
        if state.is_world_process_zero:
            with self.path.open("ab") as file:
                file.write(orjson.dumps({"step": state.global_step, "steps": state.max_steps}) + b"\n")


def sft_config(spec: RunSpec, folder: Path) -> SFTConfig:
    """Training arguments of ``spec``: numbers to the log, no checkpoints, no reports, bf16 where the GPU has it."""
    on_gpu = torch.cuda.is_available()
    return SFTConfig(
        output_dir=str(folder / "trainer"),
        max_steps=spec.max_steps,
        per_device_train_batch_size=spec.batch_size,
        learning_rate=spec.learning_rate,
        lr_scheduler_type="cosine",
        train_sampling_strategy="group_by_length",
        warmup_steps=max(1, spec.max_steps // 20),
        logging_steps=10,
        save_strategy="no",
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=spec.seed,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
        gradient_checkpointing=on_gpu,
        bf16=on_gpu and torch.cuda.is_bf16_supported(),
        use_cpu=not on_gpu,
        ddp_backend=None if on_gpu else "gloo",
        ddp_find_unused_parameters=False,
        dataloader_pin_memory=on_gpu,
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


def train(spec: RunSpec, folder: Path) -> RunResult:
    """Fine-tune the base of ``spec`` on its dataset and return the figures; the adapter lies in the run's folder."""
    transformers_logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(spec.base, trust_remote_code=False)
    model = AutoModelForCausalLM.from_pretrained(
        spec.base,
        trust_remote_code=False,
        use_safetensors=True,
        dtype=torch.bfloat16 if torch.cuda.is_available() else torch.float32,
    )
    dataset = Path(spec.dataset)
    training = encode_split(tokenizer, read_jsonl(dataset / "train.jsonl"), spec.max_length, spec.rows_wanted)
    held_out = encode_split(tokenizer, read_jsonl(dataset / "validation.jsonl"), spec.max_length, spec.evaluation_rows)
    if not training.rows or not held_out.rows:
        raise ValueError(
            f"wanted rows that fit {spec.max_length} tokens in both splits, found {len(training.rows)} in train and "
            f"{len(held_out.rows)} in validation; raise --max-length"
        )
    trainer = SFTTrainer(
        model=model,
        args=sft_config(spec, folder),
        train_dataset=training.dataset(),
        processing_class=tokenizer,
        peft_config=lora_config(spec),
        callbacks=[ProgressLines(folder / PROGRESS_FILE)],
    )
    device, pad_id = trainer.args.device, tokenizer.pad_token_id
    trainer.model.to(device)
    before = mean_loss(trainer.model, held_out.rows, pad_id, device)
    begun = time.monotonic()
    outcome = trainer.train()
    seconds = time.monotonic() - begun
    after = mean_loss(trainer.model, held_out.rows, pad_id, device)
    if trainer.is_world_process_zero():
        trainer.model.save_pretrained(folder / ADAPTER_FOLDER, safe_serialization=True)
        tokenizer.save_pretrained(folder / ADAPTER_FOLDER)
    consumed = islice(_endless(training.rows), spec.rows_wanted)
    return RunResult(
        loss_before=before,
        loss_after=after,
        train_loss=float(outcome.training_loss),
        steps=int(outcome.global_step),
        tokens=sum(len(r.input_ids) for r in consumed),
        seconds=seconds,
        rows_train=len(training.rows),
        rows_validation=len(held_out.rows),
        rows_prompt_cut=training.prompt_cut + held_out.prompt_cut,
        rows_too_long=training.too_long + held_out.too_long,
        nproc=trainer.args.world_size,
        device=device.type,
    )


def _endless(rows: list[Tokens]) -> Iterator[Tokens]:
    """Go round the rows again and again, as the epochs do."""
    while True:
        yield from rows


def main(spec_path: Path) -> None:
    """Run the specification at ``spec_path``; the first process writes the result, after all else."""
    spec, folder = RunSpec.read(spec_path), spec_path.parent
    result = train(spec, folder)
    if torch.distributed.is_initialized():
        first = torch.distributed.get_rank() == 0
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
    else:
        first = True
    if first:
        result.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
