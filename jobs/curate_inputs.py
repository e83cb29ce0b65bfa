"""What a cut reads: tables of the lake at pinned versions, and what looks for repeats and benchmarks in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.embedding_model import named_encoder
from jobs.options import Exit, UserError
from pipelines.adapters import delta
from pipelines.adapters.benchmark_files import find_benchmark_files, read_benchmark
from pipelines.conversations.current import turns_current
from pipelines.datasets.candidates import Hold
from pipelines.datasets.curate import Curated, Finders, curate
from pipelines.datasets.decontaminate import flag_leaks
from pipelines.datasets.exchange_sides import both_sides_alike
from pipelines.datasets.near_duplicates import find_near_duplicates
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.splits import KeyedBuckets
from pipelines.decontamination.check import LeakCheck, leak_check
from pipelines.decontamination.items import BenchmarkError
from pipelines.privacy.keys import KeyFolder
from schemas import (
    CONSENT_WITHDRAWALS,
    CONVERSATIONS,
    DUPLICATE_SIGNATURES,
    EMBEDDINGS,
    FEEDBACK,
    TURN_SIGNALS,
    TURNS,
    Table,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jobs.options import Settings
    from pipelines.adapters.lake import Lake

JUDGED_KINDS = ("preference", "unpaired")
SOURCES = (CONVERSATIONS, TURNS, TURN_SIGNALS)
NOTHING_TO_CUT = "wanted conversations to cut examples from, found none; run `turnmill assemble` first"


@dataclass(frozen=True)
class CurationInputs:
    """Tables at pinned versions, of one tenant or of all, and the keyed split."""

    frames: dict[str, DataFrame]
    versions: dict[str, int]
    buckets: KeyedBuckets
    checks: Mapping[str, LeakCheck] = field(default_factory=dict)
    """What examples are held against, by the name of the embedding model that a policy wants for it."""
    benchmarks: tuple[dict[str, Any], ...] = ()
    """Name, items and hash of each benchmark that examples are held against."""

    def tenants(self) -> list[str]:
        """Return the tenants that have conversations, in order."""
        return sorted(row.tenant for row in self.frames[CONVERSATIONS.name].select("tenant").distinct().collect())

    def curate(self, policy: CurationPolicy, hold: Hold) -> Curated:
        """Cut by ``policy``; the same inputs and policy give the same rows."""
        conversations, turns, signals = (self.frames[table.name] for table in SOURCES)
        current = turns_current(turns)
        check = self.checks.get(policy.contamination.model)
        finders = Finders(
            near_duplicates=partial(self.near_duplicates, hold=hold),
            benchmarks=None if check is None else partial(flag_leaks, check=check),
            embeddings=self.frames.get(EMBEDDINGS.name),
        )
        withdrawals = self.frames.get(CONSENT_WITHDRAWALS.name)
        return curate(
            conversations,
            current,
            signals,
            self.buckets,
            policy,
            feedback=self.frames.get(FEEDBACK.name),
            withdrawals=withdrawals,
            finders=finders,
            hold=hold,
        )

    def near_duplicates(self, exchanges: DataFrame, threshold: float, *, hold: Hold) -> DataFrame:
        """Compare the exchanges with each other alone: a cut that looked at earlier ones could not be repeated.

        Where rows tell question and answer apart, each must be alike.
        """
        none = exchanges.sparkSession.createDataFrame([], DUPLICATE_SIGNATURES.spark_schema)
        if "question" not in exchanges.columns:
            return find_near_duplicates(exchanges, none, threshold, hold=hold)
        agreeing = partial(both_sides_alike, exchanges=exchanges, threshold=threshold)
        return find_near_duplicates(exchanges, none, threshold, agreeing=agreeing, hold=hold)


def pinned_inputs(
    spark: SparkSession,
    lake: Lake,
    settings: Settings,
    policies: Sequence[CurationPolicy],
    tenant: str | None,
    benchmarks: Sequence[Path] = (),
) -> CurationInputs:
    """Pin the tables that ``policies`` read, without writing; raises ``UserError`` where one is not there yet."""
    tables: tuple[Table, ...] = SOURCES
    tables = (*tables, *(table for table in (FEEDBACK, CONSENT_WITHDRAWALS) if lake.exists(table.name)))
    if FEEDBACK not in tables and any(policy.kind in JUDGED_KINDS for policy in policies):
        raise UserError(
            "wanted the table feedback for examples that people judged, found none; run `turnmill settle` first"
        )
    if any(policy.reads_embeddings for policy in policies) and lake.exists(EMBEDDINGS.name):
        tables = (*tables, EMBEDDINGS)
    for table, command in zip(SOURCES, ("assemble", "settle", "filter"), strict=True):
        if not lake.exists(table.name):
            raise UserError(f"wanted the table {table.name}, found none; run `turnmill {command}` first")
    versions, frames = {}, {}
    for table in tables:
        versions[table.name] = delta.version(lake, table.name)
        frame = delta.read(spark, lake, table, version=versions[table.name])
        frames[table.name] = frame if tenant is None else frame.where(frame["tenant"] == tenant)
    checks, told = benchmark_checks(benchmarks, {policy.contamination.model for policy in policies})
    return CurationInputs(frames, versions, KeyedBuckets(KeyFolder(settings.keys).open()), checks, told)


def benchmark_checks(
    places: Sequence[Path], models: Iterable[str]
) -> tuple[dict[str, LeakCheck], tuple[dict[str, Any], ...]]:
    """Return the check for the items in files and folders with each of ``models``, and what the manifest tells of each.

    Nothing where no places are named; the model "" compares words and figures alone. Items of few words are counted as
    ``short_items``: they are found only as a whole message, line or sentence.
    """
    if not places:
        return {}, ()
    try:
        read = [read_benchmark(path) for path in find_benchmark_files(places)]
        items = [item for file in read for item in file.items]
        checks = {name: leak_check(items, encoder=named_encoder(name) if name else None) for name in sorted(models)}
    except BenchmarkError as error:
        raise UserError(str(error), Exit.WRONG_USE) from None
    short = Counter(ref.benchmark for ref in next(iter(checks.values())).index.too_short())
    told = [
        {
            "name": file.name,
            "licence": file.known.licence if file.known else None,
            "records": file.n_records,
            "items": len(file.items),
            "short_items": short[file.name],
            "sha256": file.sha256,
        }
        for file in read
    ]
    return checks, tuple(sorted(told, key=lambda one: (one["name"], one["sha256"])))


def held(frame: DataFrame) -> DataFrame:
    """Compute a frame once and go on from its rows alone.

    A frame that is merely persisted keeps its plan, and each plan that is built on it holds all plans before: after
    half a dozen of them Spark spends more time on planning than on some ten thousand rows. The rows lie with the
    executors, in memory or on disk, until nothing refers to them; if one is lost, the cut fails and is made again.
    """
    return frame.localCheckpoint(eager=True)
