"""A dataset version -> a fine-tuned model: ``training_runs`` and, when it succeeds, ``model_versions``.

spark-submit $(turnmill spark-args) jobs/train_batch.py --lake LAKE --dataset latest
"""

from __future__ import annotations

import datetime as dt
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.options import Settings, UserError, turnmill_command
from jobs.streaming import one_driver
from pipelines.adapters import delta
from pipelines.adapters.jars import cache_folder
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.datasets.version import verify_version
from pipelines.synthetic.carrier_chats import carrier_texts
from pipelines.training.base_model import TINY, BaseModel, TinyRecipe, resolve_base
from pipelines.training.launch import LocalTorchrun, TrainingFailed
from pipelines.training.model_folder import write_model
from pipelines.training.run_spec import ADAPTER_FOLDER, RunResult, RunSpec, default_steps, timed_name
from schemas import DATASET_VERSIONS, MODEL_VERSIONS, TRAINING_EXAMPLES, TRAINING_RUNS, TRIGGER_DECISIONS, Table

JOB = "train"
TINY_STEPS = 60
"""Most steps by default on the tiny base, which shows that the whole way works and learns little more after them."""
CARRIER_CHATS = 4_000
CARRIER_SEED = 20260101
TINY_RATE, USUAL_RATE = 5e-3, 2e-4
"""Learning rates: measured for the tiny base; LoRA's usual one (QLoRA, arXiv 2305.14314, table 9) for all others."""
Figures = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrainOptions:
    """What a run may be asked for; None stands for a default that depends on base and data."""

    base: str = TINY
    max_steps: int | None = None
    nproc: int = 1
    batch_size: int = RunSpec.batch_size
    learning_rate: float | None = None
    max_length: int = RunSpec.max_length
    lora_rank: int = RunSpec.lora_rank


def train_lake(
    settings: Settings,
    *,
    dataset: str = "latest",
    options: TrainOptions = TrainOptions(),  # noqa: B008 - frozen
    decision_id: str | None = None,
    progress: Progress | None = None,
    recipe: TinyRecipe | None = None,
) -> Figures:
    """Fine-tune ``options.base`` on a dataset version that passed the gate, and return the run's figures.

    A model version exists only for a run that succeeded; a failed one leaves its sentence in ``training_runs`` and
    raises ``UserError``. ``decision_id`` is the decision that the run answers; ``progress`` is told (step, steps).
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill train")
    with one_driver(lake, JOB):
        _close_abandoned(spark, lake)
        version = passed_version(spark, lake, dataset)
        base = resolve_base(options.base, cache_folder(), _carrier, recipe=recipe, progress=progress)
        at = dt.datetime.now(dt.UTC)
        token = secrets.token_hex(2)
        run_id, model_version = timed_name("run", at, token), timed_name("model", at, token)
        spec = _spec(run_id, lake, version, base, options)
        row: Figures = {
            "run_id": run_id,
            "dataset_version": spec.dataset_version,
            "base": base.label,
            "state": "running",
            "launcher": LocalTorchrun.name,
            "metrics": {},
            "failure": None,
            "started_at": at,
            "ended_at": None,
        }
        _write(spark, lake, TRAINING_RUNS, row)
        _tell_decision(spark, lake, decision_id, run_id)
        result = _launched(spark, lake, spec, row, progress)
        facts = {"model_version": model_version, "run_id": run_id, "dataset_version": spec.dataset_version}
        adapter, target = lake.run(run_id) / ADAPTER_FOLDER, lake.model(model_version)
        write_model(adapter, target, base, facts, with_base=base.name == TINY)
        ended = dt.datetime.now(dt.UTC)
        model = {
            "model_version": model_version,
            "run_id": run_id,
            "parent": base.label,
            "path": str(target.relative_to(lake.path)),
            "evaluation": {k: v for k, v in result.metrics.items() if k.startswith(("loss_", "perplexity_"))},
            "alias": None,
            "contains_erased": False,
            "created_at": ended,
        }
        _write(spark, lake, MODEL_VERSIONS, model)
        _write(spark, lake, TRAINING_RUNS, {**row, "state": "succeeded", "metrics": result.metrics, "ended_at": ended})
    return {"job": JOB, "run_id": run_id, "model_version": model_version, "dataset_version": spec.dataset_version,
            "base": base.label, **result.metrics}  # fmt: skip


def passed_version(spark: SparkSession, lake: Lake, dataset: str, tenant: str | None = None) -> Mapping[str, Any]:
    """Return the row of the newest version (the largest of one cut), or of the one named, if it may be trained on.

    Raises ``UserError`` for one that is unknown, held, withdrawn or changed on disk.
    """
    rows = delta.read(spark, lake, DATASET_VERSIONS).where("withdrawn_at IS NULL AND gate = 'passed'")
    if tenant is not None:
        examples = delta.read(spark, lake, TRAINING_EXAMPLES).where(F.col("tenant") == tenant)
        rows = rows.join(examples.select("dataset_version").distinct(), "dataset_version", how="left_semi")
    if dataset != "latest":
        rows = rows.where(F.col("dataset_version") == dataset)
    found = rows.orderBy(F.desc("created_at"), F.desc("n_examples"), "dataset_version").limit(1).collect()
    if not found:
        wanted = "a dataset version" if dataset == "latest" else dataset
        raise UserError(f"wanted {wanted} that passed the gate and stands, found none; run `turnmill curate` first")
    version: dict[str, Any] = found[0].asDict()
    folder = lake.dataset(version["dataset_version"])
    wrong = verify_version(folder) if folder.is_dir() else [f"{folder.name}: its folder is missing"]
    if wrong:
        raise UserError(f"dataset {version['dataset_version']} is not what was published: {'; '.join(wrong)}")
    return version


def _carrier() -> Any:
    return carrier_texts(CARRIER_CHATS, CARRIER_SEED)


def _spec(run_id: str, lake: Lake, version: Mapping[str, Any], base: BaseModel, options: TrainOptions) -> RunSpec:
    steps = default_steps(version["n_train"], options.batch_size * options.nproc)
    steps = options.max_steps or (min(steps, TINY_STEPS) if base.name == TINY else steps)
    return RunSpec(
        run_id=run_id,
        dataset_version=version["dataset_version"],
        dataset=str(lake.dataset(version["dataset_version"])),
        base=str(base.path),
        base_label=base.label,
        max_steps=steps,
        nproc=options.nproc,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate or (TINY_RATE if base.name == TINY else USUAL_RATE),
        max_length=options.max_length,
        lora_rank=options.lora_rank,
        lora_alpha=2 * options.lora_rank,
        train_embeddings=base.name == TINY,
    )


def _launched(
    spark: SparkSession, lake: Lake, spec: RunSpec, row: Mapping[str, Any], progress: Progress | None
) -> RunResult:
    """Run the specification; however it fails, the run's row says so."""
    try:
        return LocalTorchrun(dict(os.environ)).run(spec, lake.run(spec.run_id), progress)
    except BaseException as error:
        failure = (
            str(error) if isinstance(error, TrainingFailed) else f"The launcher ended with {type(error).__name__}."
        )
        ended = dt.datetime.now(dt.UTC)
        _write(spark, lake, TRAINING_RUNS, {**row, "state": "failed", "failure": failure, "ended_at": ended})
        if isinstance(error, TrainingFailed):
            raise UserError(f"{spec.run_id} failed: {failure} ({lake.run(spec.run_id)})") from error
        raise


def _close_abandoned(spark: SparkSession, lake: Lake) -> None:
    """Call runs failed that nobody runs: this process holds the only lease for training on the lake."""
    running = delta.read(spark, lake, TRAINING_RUNS).where("state = 'running'").collect()
    for run in running:
        told = {"state": "failed", "failure": "It ended without a result.", "ended_at": dt.datetime.now(dt.UTC)}
        _write(spark, lake, TRAINING_RUNS, {**run.asDict(), **told})


def _tell_decision(spark: SparkSession, lake: Lake, decision_id: str | None, run_id: str) -> None:
    if decision_id is None:
        return
    decisions = delta.read(spark, lake, TRIGGER_DECISIONS).where(F.col("decision_id") == decision_id)
    delta.merge(decisions.withColumn("run_id", F.lit(run_id)), lake, TRIGGER_DECISIONS, update=True)


def _write(spark: SparkSession, lake: Lake, table: Table, row: Mapping[str, Any]) -> None:
    delta.merge(spark.createDataFrame([dict(row)], table.spark_schema), lake, table, update=True)


TRAIN_FLAGS = (
    click.option("--base", default=TINY, show_default=True, help="Made here, a local folder, or a hub name."),
    click.option("--max-steps", type=click.IntRange(min=1), default=None,
                 help=f"[default: about one epoch, at most {TINY_STEPS} on {TINY}]"),
    click.option("--nproc", type=click.IntRange(min=1), default=1, show_default=True, help="Processes."),
    click.option("--batch-size", type=click.IntRange(min=1), default=RunSpec.batch_size, show_default=True,
                 help="Rows a process and step."),
    click.option("--learning-rate", type=click.FloatRange(min=0, min_open=True), default=None,
                 help=f"[default: {TINY_RATE:g} for {TINY}, {USUAL_RATE:g} for others]"),
    click.option("--max-length", type=click.IntRange(min=16), default=RunSpec.max_length, show_default=True,
                 help="Tokens of a row; longer prompts lose their oldest tokens."),
    click.option("--lora-rank", type=click.IntRange(min=1), default=RunSpec.lora_rank, show_default=True,
                 help="Rank of the adapter."),
)  # fmt: skip


def with_train_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags of ``TrainOptions`` to a command; it gets them as keyword arguments of the same names."""
    for option in reversed(TRAIN_FLAGS):
        function = option(function)
    return function


@turnmill_command(JOB, help="Fine-tune on a dataset version.")
@click.option("--dataset", default="latest", show_default=True, metavar="VERSION", help="A dataset version, or latest.")
@click.option("--decision", "decision_id", default=None, help="Decision that the run answers.")
@with_train_flags
def command(settings: Settings, dataset: str, decision_id: str | None, **flags: Any) -> None:
    """Train once and tell the figures."""
    figures = train_told(settings, dataset, TrainOptions(**flags), decision_id)
    if settings.json:
        settings.emit(figures)


def train_told(settings: Settings, dataset: str, options: TrainOptions, decision_id: str | None = None) -> Figures:
    """Train with a progress bar on a terminal, and tell what came out in one line."""
    from rich.progress import Progress as Bar

    begun = time.monotonic()
    with Bar(console=settings.console, disable=settings.json or not settings.console.is_terminal) as bar:
        task = bar.add_task("train", total=None)
        figures = train_lake(
            settings,
            dataset=dataset,
            options=options,
            decision_id=decision_id,
            progress=lambda step, steps: bar.update(task, completed=step, total=steps),
        )
    if not settings.json:
        settings.console.print(
            f"{figures['run_id']}: held-out loss {figures['loss_before']:.3f} -> {figures['loss_after']:.3f} in "
            f"{figures['steps']:.0f} steps; {figures['model_version']} after {time.monotonic() - begun:.0f} s"
        )
    return figures


if __name__ == "__main__":
    command()
