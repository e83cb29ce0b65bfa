"""Conversations -> ``drops`` and one gated dataset version a tenant.

spark-submit $(turnmill spark-args) jobs/curate_batch.py --lake LAKE
"""

from __future__ import annotations

import datetime as dt
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.options import Exit, Settings, UserError, turnmill_command
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from pipelines.adapters import delta
from pipelines.adapters.expectations import GateResult, run_gate
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.conversations.current import turns_current
from pipelines.datasets.curate import Curated, curate
from pipelines.datasets.gate import PROMISES, GateRows
from pipelines.datasets.rules import CurationPolicy
from pipelines.datasets.splits import KeyedBuckets
from pipelines.datasets.version import MANIFEST, WrittenVersion, key_epochs, publish, sorted_batches, write_version
from pipelines.privacy.keys import KeyFolder
from schemas import CONVERSATIONS, DATASET_VERSIONS, DROPS, TRAINING_EXAMPLES, TURN_SIGNALS, TURNS

JOB = "curate"
SOURCES = (CONVERSATIONS, TURNS, TURN_SIGNALS)
Figures = dict[str, Any]


def curate_lake(
    settings: Settings,
    *,
    tenant: str | None = None,
    policy: CurationPolicy = CurationPolicy(),  # noqa: B008
) -> Figures:
    """Cut a dataset version for ``tenant``, or for each; tenants never share one, since models stay inside a tenant.

    Returns the figures of the largest version that passed the gate, and of all under ``versions``. Raises ``UserError``
    with exit code 4 when none passed; what was held is in ``dataset_versions`` all the same.
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill curate")
    begun = time.monotonic()
    with one_driver(lake, JOB), _staging(lake) as staging, _held() as hold:
        versions, frames = {}, []
        for table in SOURCES:
            delta.create_table(lake, table)
            versions[table.name] = delta.version(lake, table.name)
            frame = delta.read(spark, lake, table, version=versions[table.name])
            frames.append(frame if tenant is None else frame.where(F.col("tenant") == tenant))
        conversations, turns, signals = frames
        buckets = KeyedBuckets(KeyFolder(settings.keys).open())
        curated = curate(conversations, turns_current(turns), signals, buckets, policy, hold=hold)
        tenants = (
            [tenant] if tenant else sorted(row.tenant for row in conversations.select("tenant").distinct().collect())
        )
        cut = _Cut(spark, lake, staging, versions, policy, dt.datetime.now(dt.UTC))
        cuts = [cut.version_of(name, curated) for name in tenants]
    if not cuts:
        raise UserError("wanted conversations to cut examples from, found none; run `turnmill assemble` first")
    best = max(cuts, key=lambda figures: (figures["gate"] == "passed", figures["examples"], figures["tenant"]))
    if best["gate"] == "held":
        raise UserError(held_message(cuts), Exit.GATE_HELD)
    return {"job": JOB, **best, "versions": cuts, "seconds": round(time.monotonic() - begun, 2)}


def held_message(cuts: list[Figures]) -> str:
    """Say which expectations failed and by how much, for every version that was held."""
    held = [figures for figures in cuts if figures["gate"] == "held"]
    return "\n".join(
        f"the gate held {figures['dataset_version']} of tenant {figures['tenant']}: {'; '.join(figures['failed'])}"
        for figures in held
    )


class _Cut:
    """One cut of the lake at pinned versions; writes files, then rows, the row of the version last."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        staging: Path,
        versions: dict[str, int],
        policy: CurationPolicy,
        at: dt.datetime,
    ) -> None:
        self.spark, self.lake, self.staging = spark, lake, staging
        self.versions, self.policy, self.at = versions, policy, at

    def version_of(self, tenant: str, curated: Curated) -> Figures:
        """Write the version of one tenant, gate it, publish it and return its figures."""
        place = self.staging / uuid.uuid4().hex
        ours = F.col("tenant") == tenant
        curated.examples.where(ours).orderBy("example_id").write.parquet(str(place / "sorted"))
        curated.drops.where(ours).write.parquet(str(place / "drops"))
        gate_rows = GateRows()
        files = sorted((place / "sorted").glob("part-*.parquet"))
        written = write_version(sorted_batches(files), place / "version", gate_rows.add)
        gate = run_gate(gate_rows.frame(written.dataset_version), TRAINING_EXAMPLES, PROMISES, id_column="example_id")
        examples, drops = (self.spark.read.parquet(str(place / name)) for name in ("sorted", "drops"))
        counts = {row.rule: row["count"] for row in drops.groupBy("rule").count().orderBy("rule").collect()}
        manifest = self.manifest(tenant, written, gate, counts, key_epochs(files))
        self.write(written, gate, manifest, place / "version", examples, drops)
        return {
            "tenant": tenant,
            "dataset_version": written.dataset_version,
            "examples": written.n_examples,
            **written.split_counts,
            "drops": counts,
            "gate": manifest["gate"]["verdict"],
            "failed": manifest["gate"]["failed"],
            "gate_seconds": round(gate.seconds, 2),
        }

    def manifest(
        self, tenant: str, written: WrittenVersion, gate: GateResult, drop_counts: dict[str, int], epochs: list[int]
    ) -> Figures:
        """Describe the version: all that it rests on, without a clock, so that equal cuts are equal bytes."""
        return {
            "dataset_version": written.dataset_version,
            "content_hash": written.content_hash,
            "tenant": tenant,
            "kind": "sft",
            "form": "TRL conversational prompt-completion",
            "split_counts": dict(written.split_counts),
            "drop_counts": drop_counts,
            "source_versions": self.versions,
            "policy": asdict(self.policy),
            "key_epochs": epochs,
            "gate": {
                "verdict": "passed" if gate.passed else "held",
                "n_expectations": gate.n_expectations,
                "failed": [str(failed) for failed in gate.failed],
                "example_ids": {failed.name: list(failed.ids) for failed in gate.failed},
            },
            "sha256": dict(written.sha256) if gate.passed else {},
        }

    def write(
        self,
        written: WrittenVersion,
        gate: GateResult,
        manifest: Figures,
        folder: Path,
        examples: DataFrame,
        drops: DataFrame,
    ) -> None:
        """Publish files and write rows; a repeat after a crash at any point ends in the same state."""
        name = written.dataset_version
        target = self.lake.dataset(name if gate.passed else f"{name}.held")
        if not gate.passed:
            for file in written.sha256:
                (folder / file).unlink()
        publish(folder, target, manifest)
        drops = drops.withColumn("dataset_version", F.lit(name))
        known = self.is_known(name)
        if gate.passed:
            rows = examples.withColumn("dataset_version", F.lit(name))
            delta.append(rows, self.lake, TRAINING_EXAMPLES, txn=(f"turnmill-curate-{name}", 1))
        if known:
            # The same examples can come from a lake that dropped more since.
            delta.merge(drops, self.lake, DROPS, update=False)
        else:
            delta.append(drops, self.lake, DROPS, txn=(f"turnmill-curate-{name}", 1))
        row = {
            "dataset_version": name,
            "content_hash": written.content_hash,
            "n_examples": written.n_examples,
            "n_train": written.split_counts["train"],
            "n_validation": written.split_counts["validation"],
            "source_versions": self.versions,
            "drop_counts": manifest["drop_counts"],
            "gate": manifest["gate"]["verdict"],
            "failed_expectations": manifest["gate"]["failed"],
            "manifest_path": str((target / MANIFEST).relative_to(self.lake.path)),
            "created_at": self.at,
            "withdrawn_at": None,
        }
        told = self.spark.createDataFrame([row], DATASET_VERSIONS.spark_schema)
        if known:
            delta.merge(told, self.lake, DATASET_VERSIONS, update=True, update_when="old.gate <> new.gate")
        else:
            delta.append(told, self.lake, DATASET_VERSIONS, txn=(f"turnmill-curate-{name}", 1))

    def is_known(self, name: str) -> bool:
        """Tell whether the version has its row, the last thing that a cut writes."""
        versions = delta.read(self.spark, self.lake, DATASET_VERSIONS)
        return not versions.where(F.col("dataset_version") == name).isEmpty()


@contextmanager
def _staging(lake: Lake) -> Iterator[Path]:
    """Give an empty folder inside the lake; what a crash left there before is taken away."""
    folder = lake.path / "datasets" / ".staging"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held() -> Iterator[Any]:
    """Give a function that persists frames until the block ends."""
    frames: list[DataFrame] = []

    def hold(frame: DataFrame) -> DataFrame:
        frames.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return frames[-1]

    try:
        yield hold
    finally:
        for frame in frames:
            frame.unpersist()


@turnmill_command(JOB, help="Conversations -> drops, examples and a gated dataset version.")
@click.option("--tenant", default=None, help="Only this tenant.  [default: a version for each]")
@click.option(
    "--validation-percent",
    type=click.IntRange(0, 100),
    default=CurationPolicy.validation_percent,
    show_default=True,
    help="Share of users (without one: of conversations) whose examples are held out.",
)
@batch_schedule
def command(settings: Settings, schedule: Schedule, tenant: str | None, validation_percent: int) -> None:
    """Cut once, or again and again, and tell what came out; exit with 4 when the gate held a version."""
    policy = CurationPolicy(validation_percent=validation_percent)
    figures = repeatedly(schedule, lambda: curate_lake(settings, tenant=tenant, policy=policy))
    if settings.json:
        settings.emit(figures)
    else:
        for cut in figures["versions"]:
            settings.console.print(
                f"{cut['dataset_version']} ({cut['tenant']}): {cut['examples']:,} examples, "
                f"{cut['train']:,} train and {cut['validation']:,} validation; "
                f"{sum(cut['drops'].values()):,} dropped; gate {cut['gate']}"
            )
    if any(cut["gate"] == "held" for cut in figures["versions"]):
        raise UserError(held_message(figures["versions"]), Exit.GATE_HELD)


if __name__ == "__main__":
    command()
