"""The newest dataset version and the last run -> ``trigger_decisions``: start or hold, and why.

spark-submit $(turnmill spark-args) jobs/trigger_batch.py --lake LAKE --at-least 1000 --start
"""

from __future__ import annotations

import datetime as dt
import secrets
from typing import Any

import click
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, batch_schedule, repeatedly
from jobs.train_batch import TrainOptions, train_told, with_train_flags
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.training.run_spec import timed_name
from pipelines.training.trigger import NewExamples, TriggerInputs
from schemas import DATASET_VERSIONS, TRAINING_EXAMPLES, TRAINING_RUNS, TRIGGER_DECISIONS

JOB = "trigger"
AT_LEAST = 1_000
Figures = dict[str, Any]


def decide(settings: Settings, *, at_least: int = AT_LEAST, tenant: str | None = None) -> Figures:
    """Decide for ``tenant`` (by default the one of the newest dataset version), and write the decision down.

    Returns decision_id, verdict, reason, dataset_version and the counts that the policy looked at.
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill trigger")
    policy = NewExamples(at_least)
    inputs = look(spark, lake, tenant)
    decision = policy.decide(inputs)
    at = dt.datetime.now(dt.UTC)
    row = {
        "decision_id": timed_name("decision", at, secrets.token_hex(4)),
        "at": at,
        "policy": policy.name,
        "inputs": {**inputs.numbers, "at_least": float(at_least)},
        "verdict": decision.verdict,
        "reason": decision.reason,
        "dataset_version": inputs.dataset_version,
        "run_id": None,
    }
    delta.merge(spark.createDataFrame([row], TRIGGER_DECISIONS.spark_schema), lake, TRIGGER_DECISIONS, update=False)
    told = ("decision_id", "verdict", "reason", "dataset_version", "run_id")
    return {"job": JOB, **{name: row[name] for name in told}, **inputs.numbers}


def look(spark: SparkSession, lake: Lake, tenant: str | None) -> TriggerInputs:
    """Read what the policy looks at: the newest version that passed, and what the last run has not seen of it."""
    examples = delta.read(spark, lake, TRAINING_EXAMPLES).select("tenant", "dataset_version", "example_id")
    owners = examples.select("tenant", "dataset_version").distinct()
    if tenant is not None:
        owners = owners.where(F.col("tenant") == tenant)
    versions = delta.read(spark, lake, DATASET_VERSIONS).where("withdrawn_at IS NULL AND gate = 'passed'")
    newest = (
        versions.join(owners, "dataset_version")
        .orderBy(F.desc("created_at"), F.desc("n_examples"), "dataset_version")
        .select("dataset_version", "tenant", "n_examples")
        .limit(1)
        .collect()
    )
    if not newest:
        return TriggerInputs(None)
    version, owner, n_examples = newest[0]
    runs = delta.read(spark, lake, TRAINING_RUNS).where("state IN ('succeeded', 'running')")
    ours = owners.where(F.col("tenant") == owner).select("dataset_version")
    last = (
        runs.join(ours, "dataset_version", how="left_semi").orderBy(F.desc("started_at"), "run_id").limit(1).collect()
    )
    new = examples.where(F.col("dataset_version") == version)
    if last:
        seen = examples.where(F.col("dataset_version") == last[0].dataset_version).select("example_id")
        new = new.join(seen, "example_id", how="left_anti")
    return TriggerInputs(version, n_examples, new.count(), last[0].run_id if last else None)


@turnmill_command(JOB, help="Decide whether a training run starts, and say why.")
@click.option("--at-least", type=click.IntRange(min=1), default=AT_LEAST, show_default=True,
              help="New examples since the last run that start one.")  # fmt: skip
@click.option("--tenant", default=None, help="Decide for this tenant.  [default: that of the newest dataset version]")
@click.option("--start/--no-start", default=False, show_default=True, help="Train at once when the verdict is start.")
@with_train_flags
@batch_schedule
def command(
    settings: Settings, schedule: Schedule, at_least: int, tenant: str | None, start: bool, **flags: Any
) -> None:
    """Decide once, or again and again, and say why; with --start, train on it."""
    options = TrainOptions(**flags)
    repeatedly(schedule, lambda: decide_and_start(settings, at_least, tenant, options if start else None))


def decide_and_start(settings: Settings, at_least: int, tenant: str | None, options: TrainOptions | None) -> Figures:
    """Decide, tell, and train where the verdict is start and ``options`` are given."""
    figures = decide(settings, at_least=at_least, tenant=tenant)
    if not settings.json:
        settings.console.print(f"{figures['verdict']}: {figures['reason']}", markup=False, highlight=False)
    if options is not None and figures["verdict"] == "start":
        run = train_told(settings, figures["dataset_version"], options, figures["decision_id"])
        figures |= {name: run[name] for name in ("run_id", "model_version", "loss_before", "loss_after")}
    if settings.json:
        settings.emit(figures)
    return figures


if __name__ == "__main__":
    command()
