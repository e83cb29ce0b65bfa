"""What a decision looks at, read from the lake: the newest dataset, past runs, drift and feedback."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.conversations.feedback import feedback_current
from pipelines.training.signals import is_good, mean_drift
from pipelines.training.trigger import PastRun, TriggerInputs
from pipelines.training.trigger_policy import TriggerPolicy
from schemas import DATASET_VERSIONS, EMBEDDINGS, FEEDBACK, TRAINING_EXAMPLES, TRAINING_RUNS, TURNS

MOST_VECTORS = 2_000
"""Examples of a version that drift is told from, the first by example_id (a hash)."""
Row = tuple[str, str, int, dt.datetime]


def look(spark: SparkSession, lake: Lake, tenant: str | None, policy: TriggerPolicy, now: dt.datetime) -> TriggerInputs:
    """Read what ``policy`` looks at for ``tenant``, or for the one of the newest version that passed the gate.

    Drift and feedback are read only where the policy asks for them.
    """
    examples = delta.read(spark, lake, TRAINING_EXAMPLES).select("tenant", "dataset_version", "example_id", "turn_ids")
    owners = examples.select("tenant", "dataset_version").distinct()
    newest = _newest(spark, lake, owners, tenant)
    if newest is None:
        return TriggerInputs(None)
    version, owner, n_examples, at = newest
    ours = owners.where(F.col("tenant") == owner).select("dataset_version")
    runs = delta.read(spark, lake, TRAINING_RUNS).join(ours, "dataset_version", how="left_semi")
    past = (
        runs.orderBy(F.desc("started_at"), "run_id")
        .select("run_id", "started_at", "state", "dataset_version")
        .collect()
    )
    last = next((run for run in past if run.state in ("succeeded", "running")), None)
    new = examples.where(F.col("dataset_version") == version)
    if last is not None:
        seen = examples.where(F.col("dataset_version") == last.dataset_version).select("example_id")
        new = new.join(seen, "example_id", how="left_anti")
    drift = None
    if policy.drift is not None and last is not None:
        drift = mean_drift(*(_vectors(spark, lake, examples, name) for name in (last.dataset_version, version)))
    good, good_before, n_ratings = _ratings(spark, lake, owner, policy, now)
    return TriggerInputs(
        dataset_version=version,
        n_examples=n_examples,
        n_new=new.count(),
        last_run_id=last.run_id if last else None,
        dataset_at=_utc(at),
        drift=drift,
        feedback=good,
        feedback_before=good_before,
        n_ratings=n_ratings,
        runs=tuple(PastRun(run.run_id, _utc(run.started_at), run.state) for run in past),
    )


def _newest(spark: SparkSession, lake: Lake, owners: DataFrame, tenant: str | None) -> Row | None:
    if tenant is not None:
        owners = owners.where(F.col("tenant") == tenant)
    versions = delta.read(spark, lake, DATASET_VERSIONS).where("withdrawn_at IS NULL AND gate = 'passed'")
    found = (
        versions.join(owners, "dataset_version")
        .orderBy(F.desc("created_at"), F.desc("n_examples"), "dataset_version")
        .select("dataset_version", "tenant", "n_examples", "created_at")
        .limit(1)
        .collect()
    )
    return tuple(found[0]) if found else None


def _vectors(spark: SparkSession, lake: Lake, examples: DataFrame, version: str) -> NDArray[np.float32]:
    """Return embeddings of the answers of a dataset version, all of one model."""
    answers = (
        examples.where(F.col("dataset_version") == version)
        .orderBy("example_id")
        .limit(MOST_VECTORS)
        .select("tenant", F.element_at("turn_ids", -1).alias("turn_id"))
    )
    texts = delta.read(spark, lake, TURNS).select("tenant", "turn_id", "text_hash")
    vectors = delta.read(spark, lake, EMBEDDINGS)
    newest = vectors.groupBy("model_fingerprint").count().orderBy(F.desc("count"), "model_fingerprint").limit(1)
    one_model = vectors.join(newest.select("model_fingerprint"), "model_fingerprint", how="left_semi")
    hashes = answers.join(texts, ["tenant", "turn_id"]).select("tenant", "text_hash").distinct()
    rows = hashes.join(one_model.select("tenant", "text_hash", "vector"), ["tenant", "text_hash"]).collect()
    return np.array([row.vector for row in rows], dtype=np.float32)


def _ratings(
    spark: SparkSession, lake: Lake, tenant: str, policy: TriggerPolicy, now: dt.datetime
) -> tuple[float | None, float | None, int]:
    """Return the share of good ratings in the window, before it, and how many there are in the window."""
    if policy.feedback_drop is None:
        return None, None, 0
    start = now - dt.timedelta(days=policy.feedback_days)
    ratings = delta.read(spark, lake, FEEDBACK).where(F.col("tenant") == tenant).transform(feedback_current)
    at = F.coalesce("created_at", "kafka_at")
    counted = (
        ratings.where("is_newest")
        .withColumn("recent", at >= F.lit(start))
        .groupBy("kind", "value", "recent")
        .count()
        .collect()
    )
    told = [(is_good(row.kind, row.value), row.recent, row["count"]) for row in counted]
    recent = [(good, n) for good, is_recent, n in told if good is not None and is_recent]
    before = [(good, n) for good, is_recent, n in told if good is not None and not is_recent]
    return _share(recent), _share(before), sum(n for _, n in recent)


def _share(ratings: Sequence[tuple[bool, int]]) -> float | None:
    total = sum(n for _, n in ratings)
    return sum(n for good, n in ratings if good) / total if total else None


def _utc(at: dt.datetime) -> dt.datetime:
    """Spark collects times without a zone, in that of the session."""
    return at.astimezone(dt.UTC) if at.tzinfo else at.replace(tzinfo=dt.UTC)
