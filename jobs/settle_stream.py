"""``landing`` -> ``turns``, ``feedback``, ``dead_letters``: three native queries.

spark-submit $(turnmill spark-args) jobs/settle_stream.py --lake LAKE --available-now
"""

from __future__ import annotations

from contextlib import ExitStack

from pyspark.sql.streaming.query import StreamingQuery

from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, one_driver, stream_schedule
from pipelines.adapters import delta, streams
from pipelines.adapters.batch_log import BatchLog
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.adapters.streams import Watch, unwatched
from pipelines.conversations.settle import settle_dead_letters, settle_feedback, settle_turns
from schemas import DEAD_LETTERS, FEEDBACK, LANDING, TURNS

STAGES = ((TURNS, settle_turns), (FEEDBACK, settle_feedback), (DEAD_LETTERS, settle_dead_letters))


def settle(settings: Settings, schedule: Schedule, *, watch: Watch = unwatched) -> dict:
    """Run the three queries until they have drained ``landing`` or are told to stop; return their figures."""
    lake = Lake(settings.lake)
    spark = spark_session("turnmill settle")
    with ExitStack() as leases, streams.stop_on_signals() as stop:
        queries: list[StreamingQuery] = []
        logs = []
        for table, stage in STAGES:
            name = f"settle_{table.name}"
            leases.enter_context(one_driver(lake, name))
            delta.create_table(lake, table)
            # State drops rows behind its watermark, so the first snapshot is read in the order of arrival.
            landing = delta.read_stream(spark, lake, LANDING, withEventTimeOrder=table is TURNS)
            writer = stage(landing).writeStream.format("delta").outputMode("append").queryName(name)
            writer = schedule.trigger.apply(writer.option("checkpointLocation", str(lake.checkpoint(name))))
            queries.append(writer.start(str(lake.table(table.name))))
            logs.append(BatchLog(spark, lake, name, table))

        def keep_log() -> None:
            for log, query in zip(logs, queries, strict=True):
                log.observe(query)
                log.write()

        streams.run(queries, stop, on_progress=keep_log, progress_seconds=schedule.log_seconds, watch=watch)
        return {"query": "settle", **{f"{t.name}_version": delta.version(lake, t.name) for t, _ in STAGES}}


@turnmill_command("settle", help="landing -> turns, feedback, dead_letters.")
@stream_schedule
def command(settings: Settings, schedule: Schedule) -> None:
    """Run the queries as flags say."""
    figures = settle(settings, schedule)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
