"""Writes what a cut made: files, then rows, the row of the version last."""

from __future__ import annotations

import datetime as dt
import hashlib
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.curate_checks import contaminated_ids, findings, source_offsets, version_before
from jobs.curate_inputs import CurationInputs
from pipelines.adapters import delta
from pipelines.adapters.expectations import GateResult, run_gate
from pipelines.adapters.lake import Lake
from pipelines.conversations.current import turns_current
from pipelines.datasets.contamination import EVIDENCE
from pipelines.datasets.curate import Curated
from pipelines.datasets.gate import GateRows, promises
from pipelines.datasets.gate_page import PAGE, gate_page
from pipelines.datasets.near_duplicates import giant_clusters
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.rules import NEAR_DUPLICATE
from pipelines.datasets.version import MANIFEST, WrittenVersion, key_epochs, publish, sorted_batches, write_version
from schemas import CONSENT_WITHDRAWALS, DATASET_VERSIONS, DROPS, FEEDBACK, TRAINING_EXAMPLES, TURNS

FORMS = {
    "sft": "TRL conversational prompt-completion",
    "conversation": "TRL conversational prompt-completion, with loss_mask of the completion's messages",
    "preference": "TRL conversational preference, explicit prompt",
    "unpaired": "TRL conversational unpaired preference",
}
CONSENT_RULE = (
    "Each turn, system message, conversation and judgement allows training, and no user of them was withdrawn."
)
Figures = dict[str, Any]


class DatasetCut:
    """One cut of the lake at pinned versions; writes files, then rows, the row of the version last."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        staging: Path,
        inputs: CurationInputs,
        policy: CurationPolicy,
        at: dt.datetime,
    ) -> None:
        self.spark, self.lake, self.staging = spark, lake, staging
        self.inputs, self.policy, self.at = inputs, policy, at

    def version_of(self, tenant: str, curated: Curated) -> Figures:
        """Write the version of one tenant, gate it, publish it and return its figures."""
        place = self.staging / uuid.uuid4().hex
        ours = F.col("tenant") == tenant
        curated.examples.where(ours).orderBy("example_id").write.parquet(str(place / "sorted"))
        curated.drops.where(ours).write.parquet(str(place / "drops"))
        files = sorted((place / "sorted").glob("part-*.parquet"))
        rows = GateRows()
        written = write_version(sorted_batches(files), place / "version", rows.add)
        examples, drops = (self.spark.read.parquet(str(place / name)) for name in ("sorted", "drops"))
        counts = {row.rule: row["count"] for row in drops.groupBy("rule").count().orderBy("rule").collect()}
        before = version_before(self.spark, self.lake, tenant, self.policy.kind, written.dataset_version)
        turns = turns_current(self.inputs.frames[TURNS.name].where(ours))
        found, rescanned = findings(
            examples,
            turns,
            self.inputs.frames.get(FEEDBACK.name),
            contaminated=contaminated_ids(curated.flags, self.policy),
            drop_counts=counts,
            n_examples=written.n_examples,
            before=before,
            policy=self.policy,
            keys=self.inputs.buckets.keys,
        )
        promised = promises(self.policy, found, rows.shape)
        frame = rows.frame(written.dataset_version, self.policy, found)
        gate = run_gate(frame, TRAINING_EXAMPLES, promised, id_column="example_id")
        manifest = self.manifest(tenant, written, gate, counts, key_epochs(files))
        manifest |= {"shape": rows.shape.told(), "source_offsets": source_offsets(turns)}
        manifest["gate"] |= {"compared_with": before and before.name, "rescan": rescanned}
        manifest |= self.findings(curated, ours, drops, written.n_examples)
        page = gate_page(manifest, manifest["gate"]["expectations"])
        (place / "version" / PAGE).write_bytes(page)
        manifest["sha256"] = {**manifest["sha256"], PAGE: hashlib.sha256(page).hexdigest()}
        self.write(written, gate, manifest, place / "version", examples, drops)
        return {
            "tenant": tenant,
            "dataset_version": written.dataset_version,
            "examples": written.n_examples,
            **written.split_counts,
            "drops": counts,
            "gate": manifest["gate"]["verdict"],
            "failed": manifest["gate"]["failed"],
            "giant_clusters": manifest["giant_clusters"],
            "topics": len(manifest["topics"]) if self.policy.topics.wanted else None,
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
            "kind": self.policy.kind,
            "form": FORMS[self.policy.kind],
            "split_counts": dict(written.split_counts),
            "drop_counts": drop_counts,
            "source_versions": self.inputs.versions,
            "policy": self.policy.declared(),
            "policy_hash": self.policy.hash,
            "licence": self.policy.licence or None,
            "consent": {
                "rule": CONSENT_RULE,
                "withdrawals_version": self.inputs.versions.get(CONSENT_WITHDRAWALS.name),
                "note": self.policy.consent_note or None,
            },
            "key_epochs": epochs,
            "gate": {
                "verdict": "passed" if gate.passed else "held",
                "n_expectations": gate.n_expectations,
                "failed": [str(failed) for failed in gate.failed],
                "example_ids": {failed.name: list(failed.ids) for failed in gate.failed},
                "expectations": [asdict(one) for one in gate.checked],
            },
            "sha256": dict(written.sha256) if gate.passed else {},
        }

    def findings(self, curated: Curated, ours: Column, drops: DataFrame, n_examples: int) -> Figures:
        """Tell giant clusters, topics with their sizes, and the evidence of every benchmark item, dropped or not."""
        alike = drops.where(F.col("rule") == NEAR_DUPLICATE)
        giants = giant_clusters(alike, n_examples + alike.count()).orderBy("matched_id").collect()
        found: Figures = {
            "giant_clusters": [{"turn_id": row.matched_id, "near_duplicates": row.rows} for row in giants],
            "benchmarks": self.inputs.benchmarks,
        }
        if curated.flags is not None:
            evidence = curated.flags.where(ours).select(*EVIDENCE).orderBy(*EVIDENCE).collect()
            found["contamination"] = [row.asDict() for row in evidence]
        if self.policy.topics.wanted:
            counts = curated.placed.where(ours & F.col("topic").isNotNull()).groupBy("tenant", "topic").count()
            sizes = {(row.tenant, row.topic): row["count"] for row in counts.collect()}
            found["topics"] = [
                {"topic": topic.topic, "name": topic.name, "examples": sizes[topic.tenant, topic.topic]}
                for topic in curated.topics
                if (topic.tenant, topic.topic) in sizes
            ]
        return found

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
            "source_versions": self.inputs.versions,
            "policy": f"{self.policy.name}@{self.policy.hash[:12]}",
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
def staging_folder(lake: Lake) -> Iterator[Path]:
    """Give an empty folder inside the lake; what a crash left there before is taken away."""
    folder = lake.path / "datasets" / ".staging"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
