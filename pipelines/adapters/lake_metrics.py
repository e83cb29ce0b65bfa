"""The state of a lake as Prometheus metrics, read at each scrape from logs, checkpoints and the broker's offsets.

Names and units follow Prometheus' naming practices. No label holds a value of a user: tables, queries, jobs, reasons
and rules are all names of ours, so their number is bounded.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from deltalake import DeltaTable
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pipelines.adapters import delta
from pipelines.adapters.added_rows import AddedRows, newest_ages
from pipelines.adapters.child_process import tree_memory
from pipelines.adapters.kafka_settings import RETENTION_MS
from pipelines.adapters.lake import Lake
from pipelines.adapters.stream_lag import StreamLag
from pipelines.index.by_model import active_choice
from pipelines.index.standing import read_standing
from pipelines.supervision.states import Deployment, Phase
from schemas import (
    DATASET_VERSIONS,
    DEAD_LETTERS,
    EMBEDDING_FAILURES,
    EMBEDDINGS,
    LANDING,
    TABLES,
    TRAINING_RUNS,
    TRIGGER_DECISIONS,
    TURN_SIGNALS,
    TURNS,
)

Lags = Callable[[], dict[str, StreamLag]]
FRESHNESS = ((LANDING, "landing"), (TURNS, "turns"))
QUANTILES = (0.5, 0.99)
NONE = "none"


class LakeCollector(Collector):
    """Collects the metrics of one lake. ``lags`` tells where queries stand, ``deployment`` how their jobs do."""

    def __init__(self, lake: Lake, lags: Lags, deployment: Callable[[], Deployment | None]) -> None:
        self.lake, self.lags, self.deployment = lake, lags, deployment
        self._outcomes = self._by(LANDING.name, "outcome")
        self._letters = self._by(DEAD_LETTERS.name, "reason")
        self._verdicts = self._by(TURN_SIGNALS.name, "keep", "reason")
        self._runs = self._by(TRAINING_RUNS.name, "state")
        self._decisions = self._by(TRIGGER_DECISIONS.name, "verdict")
        self._sizes: dict[str, tuple[int, int, int, int]] = {}

    def _by(self, table: str, *columns: str) -> AddedRows:
        return AddedRows(self.lake.table(table), columns)

    def describe(self) -> Iterable[Metric]:
        """Return nothing: reading the lake when the collector is registered would only cost."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics; a part that cannot be read is left out, and told by ``turnmill_scrape_failures``."""
        failures = 0
        for part in (self._tables, self._rows, self._queries, self._freshness, self._index, self._training, self._jobs):
            try:
                yield from list(part())
            except Exception as error:  # a scrape between two commits of maintenance must not hide the other parts
                logging.getLogger("turnmill.metrics").info("%s: %s", part.__name__, type(error).__name__)
                failures += 1
        yield gauge("turnmill_scrape_failures", "Parts of this scrape that could not be read.", [], [((), failures)])

    def _tables(self) -> Iterator[Metric]:
        sizes = {table.name: self._size(table.name) for table in TABLES if self.lake.exists(table.name)}
        kinds = (("version", "Newest version."), ("files", "Files of the newest version."),
                 ("bytes", "Bytes of these files."), ("rows", "Rows of the newest version."))  # fmt: skip
        for nth, (kind, told) in enumerate(kinds):
            values = [((name,), size[nth]) for name, size in sizes.items()]
            yield gauge(f"turnmill_table_{kind}", told, ["table"], values)

    def _size(self, name: str) -> tuple[int, int, int, int]:
        version = delta.version(self.lake, name)
        known = self._sizes.get(name)
        if known is None or known[0] != version:
            actions = DeltaTable(str(self.lake.table(name))).get_add_actions(flatten=True)
            rows = sum(count or 0 for count in actions.column("num_records").to_pylist())
            known = (version, actions.num_rows, sum(actions.column("size_bytes").to_pylist()), rows)
            self._sizes[name] = known
        return known

    def _rows(self) -> Iterator[Metric]:
        yield counter("turnmill_items", "Items that ingest decided on.", ["outcome"], self._outcomes.counted())
        yield counter("turnmill_dead_letters", "Items that could not be used.", ["reason"], self._letters.counted())
        verdicts = self._verdicts.counted()
        kept = sum(count for (keep, _), count in verdicts.items() if keep)
        dropped: Counter[tuple[object, ...]] = Counter()
        for (keep, reason), count in verdicts.items():
            if not keep:
                dropped[(reason,)] += count
        yield counter("turnmill_turns_kept", "Turns that the filter kept.", [], Counter({(): kept}))
        yield counter("turnmill_turns_dropped", "Turns that the filter dropped.", ["reason"], dropped)
        called = self._size(EMBEDDINGS.name)[3] + self._size(EMBEDDING_FAILURES.name)[3]
        ratio = max(1 - called / kept, 0.0) if kept else 0.0
        told = "Share of kept turns whose text cost no call of the embedding model."
        yield gauge("turnmill_embedding_cache_hit_ratio", told, [], [((), ratio)])

    def _queries(self) -> Iterator[Metric]:
        lags = self.lags().values()
        for unit in ("records", "commits"):
            values = [((lag.query,), lag.behind) for lag in lags if lag.unit == unit and lag.behind is not None]
            told = f"{unit.capitalize()} of its source that no committed batch of a query holds."
            yield gauge(f"turnmill_lag_{unit}", told, ["query"], values)
        waiting = [((lag.query,), lag.seconds) for lag in lags if lag.seconds is not None]
        yield gauge("turnmill_lag_seconds", "How long the oldest commit not read has waited.", ["query"], waiting)
        batches = [((lag.query,), lag.batch_id + 1) for lag in lags if lag.batch_id is not None]
        yield gauge("turnmill_batches", "Batches that a query has committed.", ["query"], batches)
        ends = [((lag.query,), lag.committed_at) for lag in lags if lag.committed_at is not None]
        told = "When a query committed its newest batch."
        yield gauge("turnmill_batch_committed_timestamp_seconds", told, ["query"], ends)

    def _freshness(self) -> Iterator[Metric]:
        values = []
        for table, stage in FRESHNESS:
            if ages := sorted(newest_ages(self.lake.table(table.name), "kafka_at")):
                values += [((stage, str(q)), ages[min(int(q * len(ages)), len(ages) - 1)]) for q in QUANTILES]
        told = "From an event's time in Kafka to its commit, over the newest commit of a stage."
        yield gauge("turnmill_freshness_seconds", told, ["stage", "quantile"], values)

    def _index(self) -> Iterator[Metric]:
        choice = active_choice(self.lake.index)
        standing = read_standing(self.lake.index / choice.name) if choice else None
        rows = [((), standing.rows)] if standing else []
        yield gauge("turnmill_index_rows", "Rows of the index that searches use.", [], rows)

    def _training(self) -> Iterator[Metric]:
        runs = [(state, count) for state, count in self._runs.counted().items()]
        yield gauge("turnmill_training_runs", "Training runs by state.", ["state"], runs)
        decisions = list(self._decisions.counted().items())
        yield gauge("turnmill_trigger_decisions", "Decisions on training runs.", ["verdict"], decisions)
        if self.lake.exists(DATASET_VERSIONS.name):
            versions = DeltaTable(str(self.lake.table(DATASET_VERSIONS.name))).to_pyarrow_table(
                columns=["gate", "created_at", "drop_counts"]
            )
            gates = Counter((gate,) for gate in versions["gate"].to_pylist())
            yield gauge("turnmill_dataset_versions", "Dataset versions by the gate's verdict.", ["gate"], gates.items())
            newest = max(versions.to_pylist(), key=lambda row: row["created_at"], default=None)
            drops = [((rule,), count) for rule, count in (newest["drop_counts"] if newest else ())]
            told = "Examples that the newest dataset version dropped."
            yield gauge("turnmill_dataset_drops", told, ["rule"], drops)

    def _jobs(self) -> Iterator[Metric]:
        yield gauge("turnmill_raw_retention_seconds", "How long raw topics of ours keep text.", [],
                    [((), RETENTION_MS / 1000)])  # fmt: skip
        deployment = self.deployment()
        if deployment is None:
            return
        troubles, now = deployment.troubles(), time.time()
        yield gauge("turnmill_ready", "1 where every job does what it should.", [], [((), int(not troubles))])
        jobs = deployment.jobs
        up = [((job.name,), int(job.name not in troubles)) for job in jobs]
        yield gauge("turnmill_job_up", "1 where a job runs and does what it should.", ["job"], up)
        phases = itertools.product(jobs, Phase)
        states = [((job.name, phase.value), int(job.phase is phase)) for job, phase in phases]
        yield gauge("turnmill_job_state", "1 for the state that a job is in.", ["job", "state"], states)
        starts: Counter[tuple[object, ...]] = Counter({(job.name,): job.starts for job in jobs})
        yield counter("turnmill_job_starts", "How often a job was started.", ["job"], starts)
        memory = [((job.name,), tree_memory(job.pid)) for job in jobs if job.pid]
        yield gauge("turnmill_job_memory_bytes", "Resident memory of a job and its children.", ["job"], memory)
        reports = [report for job in jobs for report in job.reports.values()]
        seconds = [((report.name,), report.seconds) for report in reports if report.seconds is not None]
        yield gauge("turnmill_batch_seconds", "How long the newest batch took.", ["query"], seconds)
        ages = [((report.name,), now - report.at) for report in reports]
        yield gauge("turnmill_report_age_seconds", "Since a query or batch was last heard of.", ["query"], ages)


Values = Iterable[tuple[tuple[object, ...], float | None]]


def gauge(name: str, told: str, labels: list[str], values: Values) -> Metric:
    """Return a gauge with a value for each tuple of labels."""
    family = GaugeMetricFamily(name, told, labels=labels)
    for key, value in values:
        family.add_metric([_text(part) for part in key], float(value or 0))
    return family


def counter(name: str, told: str, labels: list[str], values: Counter[tuple[object, ...]]) -> Metric:
    """Return a counter, whose samples are named ``name_total``."""
    family = CounterMetricFamily(name, told, labels=labels)
    for key, value in values.items():
        family.add_metric([_text(part) for part in key], value)
    return family


def _text(value: object) -> str:
    return NONE if value is None else str(value)
