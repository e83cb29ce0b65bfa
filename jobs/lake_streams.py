"""Kafka -> ``landing`` -> ``turns``, ``feedback``, ``dead_letters`` -> ``turn_signals``: five queries in one driver.

What ``turnmill up`` runs. One Spark application and not three: each would hold a gigabyte and compile the same plans,
and these queries run no model and no code that can hang. Embedding does, so it is an application of its own.
"""

from __future__ import annotations

from typing import Any

import click

from jobs import filter_stream, ingest_stream
from jobs.filter_stream import start_filter, wanted_rules
from jobs.ingest_stream import intake_of, of_this_start, start_ingest
from jobs.kafka_bootstrap import bootstrap_for
from jobs.options import Settings, turnmill_command
from jobs.settle_stream import start_settle
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters.kafka_topics import ensure_topics
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.intake.landing import Intake
from pipelines.quality.rules import DEFAULT_RULES, Rules

OTHERS_EVERY, FILTER_EVERY = 10.0, 5.0
"""A micro-batch costs about a core second however few its rows: what ``turns`` does not wait for comes less often."""


def run_streams(
    settings: Settings, schedule: Schedule, intake: Intake, rules: Rules = DEFAULT_RULES, **flags: Any
) -> None:
    """Run the queries until they are drained or told to stop; ``flags`` are the others of ``start_ingest``."""
    bootstrap, intake = bootstrap_for(settings), of_this_start(intake)
    ensure_topics(bootstrap)
    with StreamJob(spark_session("turnmill streams"), Lake(settings.lake), schedule) as job:
        start_ingest(job, bootstrap, intake, **flags)
        start_settle(job, others_every=OTHERS_EVERY)
        start_filter(job, rules, least_every=FILTER_EVERY)
        job.run()


@turnmill_command("streams", help="Kafka -> landing -> turns -> turn_signals in one application.")
@stream_schedule
def command(settings: Settings, schedule: Schedule) -> None:
    """Run the queries; what the flags of ingest and filter say is told by environment, as for those commands."""
    asked = _flags(ingest_stream.command)
    intake, rules = intake_of(settings, **asked), wanted_rules(_flags(filter_stream.command)["languages"])
    run_streams(settings, schedule, intake, rules, topics=asked["topics"], max_offsets=asked["max_offsets"])


def _flags(of: click.Command) -> dict[str, Any]:
    """Return what the environment and the defaults give for the flags of a command."""
    return of.make_context(of.name, []).params


if __name__ == "__main__":
    command()
