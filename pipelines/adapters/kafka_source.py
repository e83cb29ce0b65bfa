"""Kafka topics as a stream or a batch of records.

Failure contract: offsets live in the query's checkpoint, not in a consumer group. Records that Kafka has dropped
before they were read stop the query (``failOnDataLoss=true``); nothing is skipped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_OFFSETS_PER_TRIGGER = 50_000


def records_stream(
    spark: SparkSession,
    bootstrap: str,
    topics: Sequence[str],
    *,
    max_offsets_per_trigger: int = MAX_OFFSETS_PER_TRIGGER,
) -> DataFrame:
    """Read topics from their earliest offset: columns topic, partition, offset, timestamp, value, headers and key.

    Without a limit a restart after an outage would take the whole backlog in one batch.
    """
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", ",".join(topics))
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", max_offsets_per_trigger)
        .option("includeHeaders", "true")
        .option("failOnDataLoss", "true")
        .option("groupIdPrefix", "turnmill")
        .option("kafka.isolation.level", "read_committed")
        .load()
    )
