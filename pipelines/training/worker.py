"""One process of a fine-tuning run, started by torchrun: TRL, an adapter or all weights, measured before and after.

Reads ``spec.json`` of the run's folder; writes ``progress.jsonl``, checkpoints, the weights and, last of all,
``result.json``. Started again in the same folder it goes on from the last whole checkpoint. Nothing of the data is ever
written to the log: numbers only.
"""

from __future__ import annotations

import logging
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import torch
import torch.distributed
from transformers import AutoTokenizer
from transformers.utils import logging as transformers_logging

from pipelines.durable_files import replace_file
from pipelines.training.chat_format import IGNORED
from pipelines.training.checkpoints import drop_incomplete, latest_complete
from pipelines.training.distributed.compression import GradientReducer, usable_compression
from pipelines.training.distributed.global_steps import GlobalSteps, shared_steps
from pipelines.training.distributed.rank_lines import RANKS_FILE, read_reports, summed_reports
from pipelines.training.distributed.rank_reports import RankReports
from pipelines.training.distributed.sharded_model import CannotShard, load_base
from pipelines.training.distributed.sharding import StepPlan
from pipelines.training.distributed.shares import ShareController
from pipelines.training.encoded_rows import read_jsonl
from pipelines.training.objectives import ScoredRows, objective, score_rows
from pipelines.training.pinned_inputs import pinned_inputs
from pipelines.training.process_group import ProcessGroup, joined_processes
from pipelines.training.run_lock import WORKER_LOCK, RunIsTaken, take
from pipelines.training.run_spec import ADAPTER_FOLDER, PLANTED_FILE, RunResult, RunSpec
from pipelines.training.trainers import CHECKPOINTS, Parts, build_trainer

BEFORE_FILE = "before.json"
STARTS_FILE = "starts"
"""One byte for each time that the processes of the run were started."""


def train(spec: RunSpec, folder: Path, group: ProcessGroup) -> RunResult:
    """Fine-tune the base of ``spec`` on its dataset and return the figures; the weights lie in the run's folder."""
    transformers_logging.disable_progress_bar()
    # TRL quotes the end of a prompt when a template renders it in two ways.
    logging.getLogger("trl").setLevel(logging.ERROR)
    tokenizer = AutoTokenizer.from_pretrained(spec.base, trust_remote_code=False)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = load_base(spec, group)
    training, held_out = encoded_splits(spec, folder, tokenizer)
    trainer = shared_trainer(Parts(spec, folder, model, tokenizer, training, group))
    device, pad_id = trainer.args.device, tokenizer.pad_token_id
    if spec.parallel == "data":
        trainer.model.to(device)

    def measured() -> float:
        return shared_objective(trainer.model, held_out, pad_id, device, group, is_whole=spec.parallel == "data")

    before = _once(folder / BEFORE_FILE, group, measured)
    begun = time.monotonic()
    start = latest_complete(folder / CHECKPOINTS, spec.digest)
    group.wait_for_all()
    if group.is_first:
        drop_incomplete(folder / CHECKPOINTS, spec.digest)
    outcome = trainer.train(resume_from_checkpoint=None if start is None else str(start))
    seconds = time.monotonic() - begun
    after = measured()
    if group.is_first or spec.parallel != "data":
        trainer.model.save_pretrained(folder / ADAPTER_FOLDER, is_main_process=group.is_first)
    if group.is_first:
        tokenizer.save_pretrained(folder / ADAPTER_FOLDER)
    return RunResult(
        loss_before=before,
        loss_after=after,
        train_loss=_mean_of_ranks(float(outcome.training_loss), group),
        steps=int(outcome.global_step),
        tokens=_tokens_seen(training, spec.rows_wanted),
        seconds=seconds,
        rows_train=len(training.rows),
        rows_validation=len(held_out.rows),
        rows_prompt_cut=training.prompt_cut + held_out.prompt_cut,
        rows_too_long=training.too_long + held_out.too_long,
        nproc=group.world,
        device=device.type,
        extra=summed_reports(read_reports(folder)) | _starts(folder, start),
    )


def shared_trainer(parts: Parts) -> Any:
    """Return the trainer of the run, whose steps its processes share, with reports on them.

    Unpaired rows (``kto``) keep TRL's own batches: their loss compares the answers that one process has at a time.
    """
    spec, group = parts.spec, parts.group
    if spec.method == "kto":
        if spec.adaptive_shares or spec.compression != "none":
            raise ValueError("kto: wanted equal shares and no compression, found others")
        return build_trainer(parts)
    if spec.parallel == "tensor" and group.world > 1 and group.device.type != "cuda":
        raise CannotShard("parallel tensor: wanted GPUs, which accelerate needs to train such a model, found none")
    steps = global_steps(spec, parts.rows, group)
    trainer = build_trainer(parts, shared_steps(steps))
    reports = RankReports(
        steps, group, parts.folder / RANKS_FILE, adaptive=spec.adaptive_shares, every=spec.report_steps
    )
    trainer.add_callback(reports)
    return trainer


def global_steps(spec: RunSpec, rows: ScoredRows, group: ProcessGroup) -> GlobalSteps:
    """Return the steps of the run: their rows, how they are shared and in which form gradients go round."""
    lengths = tuple(sum(len(answer.tokens.input_ids) for answer in row) for row in rows.rows)
    completions = [sum(label != IGNORED for label in row[0].tokens.labels[1:]) for row in rows.rows]
    kind = usable_compression(spec.compression, group.device) if group.world > 1 else "none"
    # Processes that hold parts of each layer work on the same rows, and count as one.
    rank, world = (0, 1) if spec.parallel == "tensor" else (group.rank, group.world)
    return GlobalSteps(
        StepPlan(lengths, spec.rows_a_step, spec.seed),
        completions if spec.method == "sft" else None,
        spec.micro_batch or spec.batch_size,
        rank,
        ShareController(world, spec.rows_a_step),
        GradientReducer(kind, spec.powersgd_rank, spec.powersgd_warmup or spec.max_steps // 10),
        is_whole=spec.parallel == "data",
    )


def encoded_splits(spec: RunSpec, folder: Path, tokenizer: Any) -> tuple[ScoredRows, ScoredRows]:
    """Return both splits of the dataset as token ids, the planted rows of the run before the train split.

    Raises ``ValueError`` where none of a split fits.
    """
    dataset, planted = Path(spec.dataset), folder / PLANTED_FILE
    rows: Iterable[dict[str, Any]] = read_jsonl(dataset / "train.jsonl")
    if planted.is_file():
        rows = chain(read_jsonl(planted), rows)
    training = score_rows(tokenizer, rows, spec.method, spec.max_length, spec.rows_wanted)
    validation = read_jsonl(dataset / "validation.jsonl")
    held_out = score_rows(tokenizer, validation, spec.method, spec.max_length, spec.evaluation_rows)
    if not training.rows or not held_out.rows:
        raise ValueError(
            f"wanted rows that fit {spec.max_length} tokens in both splits, found {len(training.rows)} in train and "
            f"{len(held_out.rows)} in validation; raise --max-length"
        )
    return training, held_out


def shared_objective(
    model: Any, held_out: ScoredRows, pad_id: int, device: Any, group: ProcessGroup, *, is_whole: bool = True
) -> float:
    """Return the mean objective over the held-out rows, each row counted once by all processes together.

    Processes that hold parts of one model (not ``is_whole``) must make the same calls, so each goes over all rows.
    """
    rows = held_out.rows[group.rank :: group.world] if is_whole else held_out.rows
    mine = ScoredRows(held_out.method, rows, held_out.places)
    sums = torch.zeros(2, dtype=torch.float64, device=device)
    if mine.rows:
        found = objective(model, mine, pad_id, device)
        sums += torch.tensor([(found.values * found.weights).sum(), found.weights.sum()], device=device)
    if group.world > 1:
        torch.distributed.all_reduce(sums)
    return float(sums[0] / sums[1])


def _once(path: Path, group: ProcessGroup, measure: Any) -> float:
    """Return what was measured when the run began, also when it began in an earlier process."""
    if path.is_file():
        return float(orjson.loads(path.read_bytes()))
    value = float(measure())
    group.wait_for_all()
    if group.is_first:
        replace_file(path, orjson.dumps(value))
    return value


def _mean_of_ranks(value: float, group: ProcessGroup) -> float:
    """Return the mean over all processes: what was not logged yet is in each one's own loss alone."""
    mean = torch.tensor(value, dtype=torch.float64, device=group.device)
    if group.world > 1:
        torch.distributed.all_reduce(mean)
    return float(mean) / group.world


def _starts(folder: Path, start: Path | None) -> dict[str, float]:
    path = folder / STARTS_FILE
    restarts = {"restarts": float(max(0, path.stat().st_size - 1))} if path.is_file() else {}
    return restarts | ({"resumed_at_step": float(start.name.rpartition("-")[2])} if start else {})


def _tokens_seen(training: ScoredRows, rows_wanted: int) -> int:
    lengths = (sum(len(answer.tokens.input_ids) for answer in row) for row in _endless(training.rows))
    return sum(length for length, _ in zip(lengths, range(rows_wanted), strict=False))


def _endless(rows: list[Any]) -> Iterator[Any]:
    """Go round the rows again and again, as the epochs do."""
    while True:
        yield from rows


def main(spec_path: Path) -> None:
    """Run the specification at ``spec_path``; the first process writes the result, after all else."""
    spec, folder = RunSpec.read(spec_path), spec_path.parent
    with joined_processes(pinned_inputs(spec), spec.collective_seconds) as group:
        if group.is_first and take(folder / WORKER_LOCK) is None:
            raise RunIsTaken(f"{spec.run_id}: wanted to be the only one that trains this run, found another process")
        if group.is_first:
            with (folder / STARTS_FILE).open("ab") as starts:
                starts.write(b".")
        result = train(spec, folder, group)
        group.wait_for_all()
        if group.is_first:
            result.write(folder)
            # Optimizer states are several times the weights, and nothing resumes a run that is done.
            shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
