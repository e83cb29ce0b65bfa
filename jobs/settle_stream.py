"""``landing`` -> ``turns``, ``feedback``, ``dead_letters``: three native queries.

spark-submit $(turnmill spark-args) jobs/settle_stream.py --lake LAKE --available-now
"""

from __future__ import annotations

from jobs.lake_queries import SETTLED, settle_query
from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.adapters.streams import Watch
from pipelines.conversations.settle import settle_dead_letters, settle_feedback, settle_turns
from schemas import LANDING, TURNS

STAGES = tuple(zip(SETTLED, (settle_turns, settle_feedback, settle_dead_letters), strict=True))


def settle(settings: Settings, schedule: Schedule, *, watch: Watch | None = None) -> dict:
    """Run the three queries until they have drained ``landing`` or are told to stop; return their figures."""
    lake = Lake(settings.lake)
    with StreamJob(spark_session("turnmill settle"), lake, schedule) as job:
        start_settle(job)
        job.run(watch=watch)
    return {"query": "settle", **{f"{t.name}_version": delta.version(lake, t.name) for t, _ in STAGES}}


def start_settle(job: StreamJob, *, others_every: float = 0.0) -> None:
    """Start the three queries among those of ``job``, feedback and dead letters at least ``others_every`` apart."""
    for table, stage in STAGES:
        # State drops rows behind its watermark, so the first snapshot is read in the order of arrival.
        landing = delta.read_stream(job.spark, job.lake, LANDING, withEventTimeOrder=table is TURNS)
        job.start(settle_query(table), stage(landing), table, least_every=0.0 if table is TURNS else others_every)


@turnmill_command("settle", help="landing -> turns, feedback, dead_letters.")
@stream_schedule
def command(settings: Settings, schedule: Schedule) -> None:
    """Run the queries as flags say."""
    figures = settle(settings, schedule)
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
