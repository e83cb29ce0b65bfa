"""Turns per second of the ingest, and of the bare Kafka -> from_json -> Delta path in the same run.

    uv run python tests/benchmarks/ingest.py [--records 200000] [--repeats 3]

Each record carries one turn; one in ten texts holds an e-mail address or a phone number. Both paths read the same
topic with the same session, batches and table properties; each repeat starts a new checkpoint and a new table; the
first pair warms up and never counts (DESIGN.md, section 5). Prints one line of JSON; rates are turns a second.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.adapters import delta
from pipelines.adapters.kafka_broker import running_broker
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.kafka_source import records_stream
from pipelines.adapters.kafka_topics import ensure_topics
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.intake.landing import Intake, to_landing
from pipelines.privacy.keys import KeyFolder
from schemas import LANDING

TOPIC = "benchmark-ingest"
PARTITIONS = 2
SENTENCE = (
    "please explain how the billing export works when a project has many owners and the report must be split by month "
    "since our finance team reads it on the first day and asks why some rows are missing or show another currency"
)
WORDS = SENTENCE.split()
ENTRY = "struct<messages:array<struct<role:string,content:string>>,conversation_id:string,user:string,created:bigint>"


def records(n: int, seed: int = 1) -> Iterator[tuple[bytes, dict[str, str]]]:
    """Yield single-turn chat records of about 400 bytes."""
    choice = random.Random(seed)  # noqa: S311 - reproducible, not secret
    for i in range(n):
        text = " ".join(choice.choices(WORDS, k=48))
        if i % 20 == 0:
            text += f" write to owner{i}@korvane-labs.com"
        elif i % 20 == 10:
            text += f" call +44 20 7946 {choice.randrange(1000):04d}"
        entry = {
            "messages": [{"role": "user", "content": text}],
            "conversation_id": f"conversation-{i}",
            "user": f"user-{i % 5000:05d}",
            "created": 1_767_225_600 + i,
        }
        yield orjson.dumps(entry), {}


def bare(stream: DataFrame) -> DataFrame:
    """Parse with from_json and keep what a plain pipeline would: coordinates, times, role, text, ids."""
    entry = F.from_json(F.col("value").cast("string"), ENTRY).alias("entry")
    message = F.col("entry.messages")[0]
    return stream.select("topic", "partition", "offset", "timestamp", entry).select(
        "topic",
        "partition",
        "offset",
        F.col("timestamp").alias("kafka_at"),
        message["role"].alias("role"),
        message["content"].alias("text"),
        "entry.conversation_id",
        "entry.user",
        "entry.created",
    )


def drain(
    spark: SparkSession, bootstrap: str, stage: Callable[[DataFrame], DataFrame], lake: Lake, batch: int
) -> float:
    """Run the stage over the whole topic into a new table and return the seconds that the query took."""
    stream = stage(records_stream(spark, bootstrap, [TOPIC], max_offsets_per_trigger=batch))
    writer = stream.writeStream.format("delta").option("checkpointLocation", str(lake.checkpoint("benchmark")))
    started = time.perf_counter()
    query = writer.trigger(availableNow=True).start(str(lake.table(LANDING.name)))
    query.awaitTermination()
    return time.perf_counter() - started


def create_bare(spark: SparkSession, lake: Lake) -> None:
    """Create the bare table with the properties of ``landing``."""
    from delta.tables import DeltaTable

    columns = "topic string, partition int, offset bigint, kafka_at timestamp, role string, text string, "
    columns += "conversation_id string, user string, created bigint"
    builder = DeltaTable.create(spark).location(str(lake.table(LANDING.name)))
    for column in columns.split(", "):
        builder = builder.addColumn(*column.split(" "))
    properties = LANDING.delta_properties() | {"delta.dataSkippingStatsColumns": "topic,partition,offset,kafka_at"}
    for key, value in properties.items():
        builder = builder.property(key, value)
    builder.execute()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=100_000, help="records a micro-batch")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_broker(Path(folder) / "kafka") as bootstrap:
        ensure_topics(bootstrap, partitions=PARTITIONS, topics=(TOPIC,))
        loaded = load_records(records(options.records), bootstrap, topic=TOPIC)
        if not loaded.all_acknowledged:
            raise SystemExit(f"only {loaded.acknowledged} of {options.records} records were acknowledged")
        keys = KeyFolder(Path(folder) / "keys").open_or_create()
        intake = Intake(keys.path)
        spark = spark_session("turnmill benchmark", cores=options.cores)
        rates: dict[str, list[float]] = {"bare": [], "ingest": []}
        for repeat in range(options.repeats + 1):
            for name, stage in (("bare", bare), ("ingest", lambda stream: to_landing(stream, intake))):
                lake = Lake(Path(folder) / f"{name}-{repeat}")
                if name == "bare":
                    create_bare(spark, lake)
                else:
                    delta.create_table(lake, LANDING)
                seconds = drain(spark, bootstrap, stage, lake, options.batch)
                rows = spark.read.format("delta").load(str(lake.table(LANDING.name))).count()
                if rows != options.records:
                    raise SystemExit(f"{name}: wanted {options.records} rows, found {rows}")
                shutil.rmtree(lake.path)
                if repeat:
                    rates[name].append(options.records / seconds)
        ratios = [mine / other for mine, other in zip(rates["ingest"], rates["bare"], strict=True)]
        figures = {
            "records": options.records,
            "bytes_a_record": round(loaded.bytes / options.records),
            "cores": options.cores,
            "bare_turns_per_second": [round(rate) for rate in rates["bare"]],
            "ingest_turns_per_second": [round(rate) for rate in rates["ingest"]],
            "ratio": [round(ratio, 3) for ratio in ratios],
            "median_ratio": round(statistics.median(ratios), 3),
        }
        spark.stop()
    print(orjson.dumps(figures).decode())


if __name__ == "__main__":
    main()
