"""How far each streaming query is behind its source: records of Kafka, or commits of a Delta table.

Read from the checkpoint's committed batches, the broker's end offsets and the tables' logs; no Spark, no data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from pipelines.adapters import delta
from pipelines.adapters.batch_log import source_offsets
from pipelines.adapters.kafka_clients import client_settings
from pipelines.adapters.lake import Lake
from pipelines.index.feeds import commit_time

ANSWER_SECONDS = 3.0


@dataclass(frozen=True)
class StreamLag:
    """Where a query stands. ``behind`` counts records (Kafka) or commits (Delta) that no committed batch holds.

    None where it cannot be told: no batch yet, or no broker that answers. ``batch_id`` and ``committed_at`` (seconds
    since 1970) are of the newest committed batch; ``seconds`` is how long the oldest unread commit has waited.
    """

    query: str
    source: str
    unit: str
    behind: int | None
    batch_id: int | None = None
    committed_at: float | None = None
    seconds: float | None = None


def kafka_lag(lake: Lake, query: str, bootstrap: str | None) -> StreamLag:
    """Compare the stored offsets of ``query`` with the ends of its topics."""
    batch_id, at, sources = committed(lake.checkpoint(query))
    read = {
        (topic, int(partition)): int(offset)
        for source in sources
        for topic, offsets in source.items()
        for partition, offset in offsets.items()
    }
    ends = end_offsets(bootstrap, sorted({topic for topic, _ in read})) if bootstrap and read else {}
    behind = sum(max(end - read.get(partition, 0), 0) for partition, end in ends.items()) if ends else None
    return StreamLag(query, "kafka", "records", behind, batch_id, at)


def delta_lag(lake: Lake, query: str, source: str) -> StreamLag:
    """Compare where ``query`` stands with the newest version of the table ``source``."""
    batch_id, at, sources = committed(lake.checkpoint(query))
    newest = delta.version(lake, source)
    read = max((next_version(one) for one in sources if "reservoirVersion" in one), default=0)
    behind = max(newest + 1 - read, 0)
    waiting = commit_time(lake.table(source), read) if behind else None
    seconds = max(time.time() - waiting, 0.0) if waiting else 0.0
    return StreamLag(query, source, "commits", behind, batch_id, at, round(seconds, 1))


def next_version(offset: Mapping[str, int]) -> int:
    """Return the first version of its source that a Delta offset does not hold.

    A stream that has read a version whole stands before the first file of the next (index -1), or after the last
    file of this one.
    """
    return offset["reservoirVersion"] + (0 if offset["index"] < 0 else 1)


def committed(checkpoint: Path) -> tuple[int | None, float | None, list[Mapping]]:  # type: ignore[type-arg]
    """Return number, commit time and source offsets of the newest committed batch of a checkpoint."""
    numbered = [int(path.name) for path in (checkpoint / "commits").glob("[0-9]*") if path.name.isdigit()]
    if not numbered:
        return None, None, []
    newest = max(numbered)
    try:
        at = (checkpoint / "commits" / str(newest)).stat().st_mtime
        offsets = source_offsets(checkpoint / "offsets" / str(newest))
    except FileNotFoundError:  # cleaned up meanwhile
        return newest, None, []
    return newest, at, [source for source in offsets if source]


def end_offsets(bootstrap: str, topics: Sequence[str]) -> dict[tuple[str, int], int]:
    """Return the end offset of each partition; empty where no broker answers within ``ANSWER_SECONDS``."""
    admin = AdminClient(client_settings(bootstrap))
    try:
        known = admin.list_topics(timeout=ANSWER_SECONDS).topics
        partitions = [(name, number) for name in topics if name in known for number in known[name].partitions]
        wanted = {TopicPartition(*partition): OffsetSpec.latest() for partition in partitions}
        asked = admin.list_offsets(wanted, request_timeout=ANSWER_SECONDS)
        return {(at.topic, at.partition): future.result(ANSWER_SECONDS).offset for at, future in asked.items()}
    except (KafkaException, TimeoutError):
        return {}
