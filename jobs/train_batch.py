"""A dataset version -> a fine-tuned model that is tried: ``training_runs`` and, when it succeeds, ``model_versions``.

spark-submit $(turnmill spark-args) jobs/train_batch.py --lake LAKE --dataset latest
"""

from __future__ import annotations

import datetime as dt
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import orjson
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.candidate_trial import CANARIES_FILE, TrialOptions, register_model
from jobs.launcher_choice import choose_launcher
from jobs.options import Exit, Settings, UserError, turnmill_command
from jobs.streaming import one_driver
from jobs.train_options import TINY_RATE, TINY_STEPS, USUAL_RATE, TrainOptions, with_train_flags
from pipelines.adapters import delta
from pipelines.adapters.http_judge import HttpJudge
from pipelines.adapters.jars import cache_folder
from pipelines.adapters.lake import Lake
from pipelines.adapters.mlflow_runs import record_run
from pipelines.adapters.spark_session import spark_session
from pipelines.datasets.version import verify_version
from pipelines.promotion.canaries import plan_canaries, planted_rows
from pipelines.promotion.held_out import write_rows
from pipelines.synthetic.carrier_chats import carrier_texts
from pipelines.training.base_model import TINY, BaseModel, TinyRecipe, resolve_base
from pipelines.training.encoded_rows import read_jsonl
from pipelines.training.launch import follow
from pipelines.training.launchers import Launcher, TrainingFailed, run_name
from pipelines.training.objectives import METHODS, Method, method_of
from pipelines.training.run_spec import (
    PLANTED_FILE,
    RESULT_FILE,
    SPEC_FILE,
    RunResult,
    RunSpec,
    default_steps,
    timed_name,
)
from schemas import DATASET_VERSIONS, TRAINING_EXAMPLES, TRAINING_RUNS, TRIGGER_DECISIONS, Table

JOB = "train"
LEAST_SAVE_STEPS, CHECKPOINTS_A_RUN = 20, 10
CARRIER_CHATS = 4_000
CARRIER_SEED = 20260101
Figures = dict[str, Any]
Progress = Callable[[int, int], None]


def train_lake(
    settings: Settings,
    *,
    dataset: str = "latest",
    options: TrainOptions = TrainOptions(),  # noqa: B008 - frozen
    trial: TrialOptions | None = None,
    decision_id: str | None = None,
    progress: Progress | None = None,
    recipe: TinyRecipe | None = None,
) -> Figures:
    """Fine-tune ``options.base`` on a dataset version that passed the gate, try the model, and return the figures.

    ``decision_id`` is the decision that the run answers and its key: asked again with the same key, the run that is
    there goes on or is told, and no second one starts. A model version exists only for a run that succeeded; a failed
    one leaves its sentence in ``training_runs`` and raises ``UserError``. ``progress`` is told (step, steps).
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill train")
    key = decision_id or timed_name("manual", dt.datetime.now(dt.UTC), secrets.token_hex(4))
    launcher = choose_launcher(options.launcher, options.launcher_file)
    trial = trial or TrialOptions()
    if trial.judge is not None:
        # A judge that cannot be asked would be told only after the run.
        HttpJudge(trial.judge).probe()
    with one_driver(lake, JOB):
        _settle_abandoned(spark, lake, launcher, run_name(key))
        options = replace(options, nodes=nodes_of(options, launcher))
        spec = _prepared(spark, lake, run_name(key), dataset, options, recipe, progress)
        row = _recorded(spark, lake, spec, key, launcher.name)
        _tell_decision(spark, lake, decision_id, spec.run_id)
        result = _launched(spark, lake, spec, row, launcher, progress)
        figures = _finished(spark, lake, spec, row, result, trial)
    if options.mlflow:
        tags = {f"turnmill.{name}": str(figures[name]) for name in ("model_version", "dataset_version", "verdict")}
        record_run(options.mlflow, spec.run_id, asdict(spec), result.metrics, tags)
    return figures


def _prepared(
    spark: SparkSession,
    lake: Lake,
    run_id: str,
    dataset: str,
    options: TrainOptions,
    recipe: TinyRecipe | None,
    progress: Progress | None,
) -> RunSpec:
    """Return the specification of the run: the one in its folder, or a new one, written there with its canaries."""
    folder = lake.run(run_id)
    if (folder / SPEC_FILE).is_file():
        spec = RunSpec.read(folder / SPEC_FILE)
        if not (folder / RESULT_FILE).is_file():
            # What was withdrawn or changed since the run began is not trained on any further.
            passed_version(spark, lake, spec.dataset_version)
        return spec
    version = passed_version(spark, lake, dataset)
    base = resolve_base(options.base, cache_folder(), _carrier, recipe=recipe, progress=progress)
    spec = _spec(run_id, lake, version, base, options)
    folder.mkdir(parents=True, exist_ok=True)
    if options.canaries and spec.method == "sft":
        canaries = plan_canaries(version["n_train"], secrets.SystemRandom())
        (folder / CANARIES_FILE).write_bytes(orjson.dumps([canary.told() for canary in canaries]))
        write_rows(planted_rows(canaries), folder / PLANTED_FILE)
    spec.write(folder)
    return spec


def _recorded(spark: SparkSession, lake: Lake, spec: RunSpec, key: str, launcher: str) -> Figures:
    """Write the run's row before anything is launched, once; a run that is asked for again is running again."""
    rows = delta.read(spark, lake, TRAINING_RUNS).where(F.col("run_id") == spec.run_id).collect()
    row: Figures = rows[0].asDict() if rows else {
        "run_id": spec.run_id,
        "trigger_key": key,
        "dataset_version": spec.dataset_version,
        "base": spec.base_label,
        "method": spec.method,
        "spec_digest": spec.digest,
        "launcher": launcher,
        "metrics": {},
        "started_at": dt.datetime.now(dt.UTC),
    }  # fmt: skip
    if row.get("state") != "succeeded":
        row |= {"state": "running", "failure": None, "ended_at": None}
        _write(spark, lake, TRAINING_RUNS, row)
    return row


def _finished(
    spark: SparkSession, lake: Lake, spec: RunSpec, row: Figures, result: RunResult, trial: TrialOptions
) -> Figures:
    """Register the model of a finished run, then call the run succeeded; a repeat after a crash changes nothing."""
    name, _, fingerprint = spec.base_label.rpartition("@")
    model = register_model(spark, lake, spec, BaseModel(name, Path(spec.base), fingerprint), result.metrics, trial)
    if row["state"] != "succeeded":
        ended = dt.datetime.now(dt.UTC)
        _write(spark, lake, TRAINING_RUNS, {**row, "state": "succeeded", "metrics": result.metrics, "ended_at": ended})
    told = {"verdict": model["verdict"], "verdict_reason": model["verdict_reason"], "alias": model["alias"]}
    return {"job": JOB, "run_id": spec.run_id, "model_version": model["model_version"],
            "dataset_version": spec.dataset_version, "base": spec.base_label, **told, **result.metrics}  # fmt: skip


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


def nodes_of(options: TrainOptions, launcher: Launcher) -> str:
    """Return the machines of the run: those of the cluster's file, else those asked for.

    Raises ``UserError`` for several machines that have no place to meet.
    """
    cluster = getattr(launcher, "cluster", None)
    if cluster is not None:
        return str(cluster.nodes)
    if options.node_range[1] > 1 and launcher.name == "local-torchrun" and not options.rdzv_endpoint:
        raise UserError(
            f"wanted --rdzv-endpoint HOST:PORT where {options.nodes} machines meet, found none", Exit.WRONG_USE
        )
    return options.nodes


def _carrier() -> Any:
    return carrier_texts(CARRIER_CHATS, CARRIER_SEED)


def _spec(run_id: str, lake: Lake, version: Mapping[str, Any], base: BaseModel, options: TrainOptions) -> RunSpec:
    least, nodes = options.node_range
    method = _method(lake, version, options)
    if method == "kto" and (options.adaptive_shares or options.compression != "none"):
        raise UserError(
            "kto: wanted --equal-shares and --compression none, found others; its loss compares the answers that one "
            "process has at a time"
        )
    steps = default_steps(version["n_train"], options.batch_size * options.nproc * nodes)
    steps = options.max_steps or (min(steps, TINY_STEPS) if base.name == TINY else steps)
    return RunSpec(
        run_id=run_id,
        dataset_version=version["dataset_version"],
        dataset=str(lake.dataset(version["dataset_version"])),
        dataset_hash=version["content_hash"],
        method=method,
        base=str(base.path),
        base_label=base.label,
        max_steps=steps,
        nproc=options.nproc,
        nodes=nodes,
        least_nodes=least,
        rendezvous=options.rdzv_endpoint or "",
        micro_batch=options.micro_batch or 0,
        adaptive_shares=options.adaptive_shares,
        parallel=options.parallel,
        compression=options.compression,
        powersgd_rank=options.powersgd_rank,
        batch_size=options.batch_size,
        learning_rate=options.learning_rate or (TINY_RATE if base.name == TINY else USUAL_RATE),
        max_length=options.max_length,
        lora_rank=options.lora_rank,
        lora_alpha=2 * options.lora_rank,
        train_embeddings=base.name == TINY and options.parallel == "data",
        save_steps=max(LEAST_SAVE_STEPS, steps // CHECKPOINTS_A_RUN) if options.parallel == "data" else 0,
        max_restarts=options.max_restarts,
    )


def _method(lake: Lake, version: Mapping[str, Any], options: TrainOptions) -> Method:
    """Return the method asked for, else the one that the rows of the dataset are for."""
    if options.method in METHODS:
        return options.method
    first = next(read_jsonl(lake.dataset(version["dataset_version"]) / "train.jsonl"), {})
    return method_of(first)


def _launched(
    spark: SparkSession, lake: Lake, spec: RunSpec, row: Figures, launcher: Launcher, progress: Progress | None
) -> RunResult:
    """Launch the run, or follow the one that is there; however it fails, the run's row says so."""
    try:
        launcher.launch(spec, lake.run(spec.run_id))
        return follow(launcher, lake.run(spec.run_id), progress)
    except BaseException as error:
        failure = (
            str(error) if isinstance(error, TrainingFailed) else f"The launcher ended with {type(error).__name__}."
        )
        ended = dt.datetime.now(dt.UTC)
        _write(spark, lake, TRAINING_RUNS, {**row, "state": "failed", "failure": failure, "ended_at": ended})
        if isinstance(error, TrainingFailed):
            raise UserError(f"{spec.run_id} failed: {failure} ({lake.run(spec.run_id)})") from error
        raise


def _settle_abandoned(spark: SparkSession, lake: Lake, launcher: Launcher, ours: str) -> None:
    """Close the runs that an earlier driver left: finish those with a result, fail those that stopped.

    One whose processes live keeps the lake's training to itself. This process holds the only lease for it.
    """
    for run in delta.read(spark, lake, TRAINING_RUNS).where("state = 'running'").collect():
        row, folder = run.asDict(), lake.run(run.run_id)
        status = launcher.status(folder)
        if run.run_id == ours:
            continue
        # Of a run elsewhere only the result can be told from here; without one it counts as alive.
        is_elsewhere = run.launcher != launcher.name
        if status.state == "succeeded":
            spec = RunSpec.read(folder / SPEC_FILE)
            _finished(spark, lake, spec, row, RunResult.read(folder), TrialOptions())
        elif status.state == "running" or is_elsewhere:
            raise UserError(
                f"wanted to be the only training on the lake, found {run.run_id} at step {status.step} of "
                f"{status.steps} by {run.launcher}; follow it: turnmill train --decision {run.trigger_key}, or end it: "
                f"turnmill runs cancel {run.run_id}"
            )
        else:
            told = {"state": "failed", "failure": "It ended without a result.", "ended_at": dt.datetime.now(dt.UTC)}
            _write(spark, lake, TRAINING_RUNS, {**row, **told})


def _tell_decision(spark: SparkSession, lake: Lake, decision_id: str | None, run_id: str) -> None:
    if decision_id is None:
        return
    decisions = delta.read(spark, lake, TRIGGER_DECISIONS).where(F.col("decision_id") == decision_id)
    delta.merge(decisions.withColumn("run_id", F.lit(run_id)), lake, TRIGGER_DECISIONS, update=True)


def _write(spark: SparkSession, lake: Lake, table: Table, row: Mapping[str, Any]) -> None:
    delta.merge(spark.createDataFrame([dict(row)], table.spark_schema), lake, table, update=True)


@turnmill_command(JOB, help="Fine-tune on a dataset version; try, promote, hold or reject the model.")
@click.option("--dataset", default="latest", show_default=True, metavar="VERSION", help="A dataset version, or latest.")
@click.option("--decision", "decision_id", default=None, metavar="KEY",
              help="Decision that the run answers; asked again, the same run goes on.")  # fmt: skip
@with_train_flags
def command(
    settings: Settings, dataset: str, decision_id: str | None, options: TrainOptions, trial: TrialOptions
) -> None:
    """Train once and tell the figures."""
    figures = train_told(settings, dataset, options, trial, decision_id)
    if settings.json:
        settings.emit(figures)


def train_told(
    settings: Settings, dataset: str, options: TrainOptions, trial: TrialOptions, decision_id: str | None = None
) -> Figures:
    """Train with a progress bar on a terminal, and tell what came out in two lines."""
    from rich.progress import Progress as Bar

    begun = time.monotonic()
    with Bar(console=settings.console, disable=settings.json or not settings.console.is_terminal) as bar:
        task = bar.add_task("train", total=None)
        figures = train_lake(
            settings,
            dataset=dataset,
            options=options,
            trial=trial,
            decision_id=decision_id,
            progress=lambda step, steps: bar.update(task, completed=step, total=steps),
        )
    if not settings.json:
        settings.console.print(
            f"{figures['run_id']}: held-out loss {figures['loss_before']:.3f} -> {figures['loss_after']:.3f} in "
            f"{figures['steps']:.0f} steps; {figures['model_version']} after {time.monotonic() - begun:.0f} s"
        )
        settings.console.print(f"{figures['verdict']}: {figures['verdict_reason']}", markup=False, highlight=False)
    return figures


if __name__ == "__main__":
    command()
