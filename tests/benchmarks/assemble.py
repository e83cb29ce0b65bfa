"""What an increment costs when the lake grows: equal increments on lakes of 1x, 5x and 20x the size; JSON out.

The peer is what batch tools do: assembling the whole lake anew, in the same run, on the same lake.

    uv run python tests/benchmarks/assemble.py --talks 5000 --times 1 5 20
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.assemble_batch import assemble
from jobs.options import Settings
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from schemas import CONVERSATIONS, TURN_SIGNALS, TURNS, Table

TURNS_A_TALK = 8
COMMITS = 8


def identity(*parts: object) -> F.Column:
    """Return a made-up id of 32 hex digits."""
    return F.md5(F.concat_ws("-", *(part if isinstance(part, F.Column) else F.lit(str(part)) for part in parts)))


def talk_turns(spark: SparkSession, talks: DataFrame, begin: int, end: int) -> DataFrame:
    """Return turns ``begin`` to ``end`` of talks: every second one has a logged id, the others one root in five."""
    talk, nth = F.col("talk"), F.col("nth")
    is_logged = talk % 2 == 0
    root = F.when(is_logged, identity("r", talk)).otherwise(identity("user", (talk / 10).cast("long")))
    at = F.timestamp_seconds(F.lit(1_767_225_600) + talk * 10 + nth)
    made = {
        "turn_id": identity("t", talk, nth),
        "parent_id": F.when(nth == 0, root).otherwise(identity("t", talk, nth - 1)),
        "root_id": root,
        "content_id": identity("c", talk, nth),
        "conversation_ref": F.when(is_logged, identity("ref", talk)),
        "role": F.when(nth % 2 == 0, "user").otherwise("assistant"),
        "created_at": at,
        "landed_at": at,
        "offset": talk * TURNS_A_TALK + nth,
    }
    rows = talks.select("talk", F.explode(F.sequence(F.lit(begin), F.lit(end - 1))).alias("nth"))
    rows = rows.select(*(column.alias(name) for name, column in made.items()))
    template = spark.createDataFrame([TURNS.row()], TURNS.spark_schema).drop(*made)
    return rows.crossJoin(F.broadcast(template))


def put(turns: DataFrame, lake: Lake) -> None:
    """Append turns and what the filter says of them."""
    delta.append(turns, lake, TURNS)
    shared = [name for name in TURN_SIGNALS.column_names if name in TURNS.column_names]
    rest = turns.sparkSession.createDataFrame([TURN_SIGNALS.row()], TURN_SIGNALS.spark_schema).drop(*shared)
    delta.append(turns.select(*shared).crossJoin(F.broadcast(rest)), lake, TURN_SIGNALS)


def count(spark: SparkSession, lake: Lake, table: Table) -> int:
    """Return the rows of a table."""
    return delta.read(spark, lake, table).count()


def measure(spark: SparkSession, folder: Path, n_talks: int, touched: int, repeats: int) -> dict[str, object]:
    """Fill a lake, assemble it as a whole, then by increments that touch ``touched`` old and as many new talks."""
    lake = Lake(folder / "lake")
    settings = Settings(lake.path, folder / "keys")
    for nth in range(COMMITS):
        part = spark.range(n_talks * nth // COMMITS, n_talks * (nth + 1) // COMMITS).withColumnRenamed("id", "talk")
        put(talk_turns(spark, part, 0, TURNS_A_TALK - 2), lake)
    begun = time.perf_counter()
    assemble(settings, idle_minutes=None)
    whole = time.perf_counter() - begun
    seconds, found = [], []
    for repeat in range(repeats + 1):
        # Old talks of all ages, each touched once, and talks that are new.
        stride = n_talks // touched
        old = spark.range(repeat, touched * stride, stride).withColumnRenamed("id", "talk").where(f"talk < {n_talks}")
        new = spark.range(n_talks + repeat * touched, n_talks + (repeat + 1) * touched).withColumnRenamed("id", "talk")
        more = talk_turns(spark, old, TURNS_A_TALK - 2, TURNS_A_TALK)
        put(more.unionByName(talk_turns(spark, new, 0, TURNS_A_TALK)).coalesce(2), lake)
        begun = time.perf_counter()
        found.append(assemble(settings, idle_minutes=None)["conversations_touched"])
        seconds.append(time.perf_counter() - begun)
    wanted = n_talks + (repeats + 1) * touched
    if (rows := count(spark, lake, CONVERSATIONS)) != wanted:
        raise SystemExit(f"wanted {wanted} conversations, found {rows}")
    return {
        "turns": count(spark, lake, TURNS),
        "conversations": rows,
        "touched_an_increment": found[-1],
        "whole_lake_seconds": round(whole, 2),
        "increment_seconds": [round(one, 2) for one in seconds[1:]],
        "median_increment_seconds": round(statistics.median(seconds[1:]), 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--talks", type=int, default=5_000, help="talks of the lake at 1x")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--touched", type=int, default=500, help="old, and new, talks an increment touches")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    spark = spark_session("turnmill benchmark", cores=options.cores)
    sizes = {}
    for times in [options.times[0], *options.times]:
        # The first lake warms the process and counts only when it is measured again.
        with tempfile.TemporaryDirectory() as folder:
            sizes[f"{times}x"] = measure(spark, Path(folder), options.talks * times, options.touched, options.repeats)
    spark.stop()
    print(json.dumps({"cores": options.cores, "sizes": sizes}, indent=2))  # noqa: T201


if __name__ == "__main__":
    main()
