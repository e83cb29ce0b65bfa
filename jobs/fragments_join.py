"""``turnmill dead-letters join``: pieces of streamed answers that came as records of their own -> turns.

spark-submit $(turnmill spark-args) jobs/fragments_join.py --lake LAKE
"""

from __future__ import annotations

import datetime as dt

import click

from jobs.options import Settings, existing_lake, turnmill_command
from jobs.pipe_anonymize import policy_option
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from pipelines.adapters import delta
from pipelines.adapters.spark_session import spark_session
from pipelines.intake.fragments import join_fragments, pending_fragments
from pipelines.intake.landing import Intake
from pipelines.privacy.policy import Policy
from schemas import LANDING

JOB = "join_fragments"
WAIT_MINUTES = 15.0
"""How long an answer without its end waits for more pieces: longer than any model takes for one answer."""


def join(settings: Settings, policy: Policy | None = None, *, wait_minutes: float = WAIT_MINUTES) -> dict:
    """Append to ``landing`` what whole answers, and those that have waited long enough, are made of."""
    lake = existing_lake(settings)
    spark = spark_session("turnmill join fragments")
    with one_driver(lake, JOB):
        until = delta.version(lake, LANDING.name)
        landing = delta.read(spark, lake, LANDING, version=until)
        closed_before = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=wait_minutes)
        intake = Intake(settings.keys, policy or Policy())
        pending = pending_fragments(landing).localCheckpoint()
        joined = join_fragments(pending, intake, closed_before).localCheckpoint()
        pieces, items = pending.count(), joined.count()
        if items:
            delta.append(joined, lake, LANDING, txn=(JOB, until))
        used = sum(len(row.joined_from) for row in joined.select("joined_from").dropna().toLocalIterator())
        return {"job": JOB, "joined": used, "items": items, "pending": pieces - used}


@turnmill_command("join", help="Join pieces of streamed answers that came as records of their own.")
@batch_schedule
@click.option(
    "--wait-minutes",
    type=click.FloatRange(min=0),
    default=WAIT_MINUTES,
    show_default=True,
    help="An answer without its end is joined as it is after so long without a new piece; --available-now waits not.",
)
@policy_option
def command(settings: Settings, schedule: Schedule, wait_minutes: float, policy: Policy) -> None:
    """Run once or again and again, as flags say."""
    wait = 0.0 if schedule.available_now else wait_minutes
    figures = repeatedly(schedule, JOB, lambda: join(settings, policy, wait_minutes=wait))
    if settings.json:
        settings.emit(figures)
    else:
        settings.console.print(f"{figures['joined']} pieces joined, {figures['pending']} wait for more.")


if __name__ == "__main__":
    command()
