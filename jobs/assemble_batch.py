"""Touched turns -> ``conversations``: an incremental batch over the change feeds.

spark-submit $(turnmill spark-args) jobs/assemble_batch.py --lake LAKE --available-now
"""

from __future__ import annotations

import datetime as dt

import click
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.lake_queries import ASSEMBLE
from jobs.options import Settings, turnmill_command
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.progress import Progress
from pipelines.adapters.spark_session import spark_session
from pipelines.conversations import assemble as stages
from pipelines.conversations.current import turns_current
from schemas import CONVERSATIONS, FEEDBACK, TURN_SIGNALS, TURNS, Table

JOB = ASSEMBLE
IDLE_MINUTES = 30
SOURCES = (TURNS, TURN_SIGNALS, FEEDBACK)


def assemble(settings: Settings, *, idle_minutes: float | None = IDLE_MINUTES) -> dict:
    """Assemble what changed since the last run; without ``idle_minutes`` every conversation counts as complete."""
    lake = Lake(settings.lake)
    spark = spark_session("turnmill assemble")
    with one_driver(lake, JOB):
        for table in (*SOURCES, CONVERSATIONS):
            delta.create_table(lake, table)
        progress = Progress(lake, JOB)
        until = {table.name: delta.version(lake, table.name) for table in SOURCES}
        # A table that was taken away to be made anew has no rows for what came before.
        done = progress.versions if delta.version(lake, CONVERSATIONS.name) > 0 else {}
        touched = 0
        if done != until:
            touched = _assemble_changes(spark, lake, done, until, closed_before(idle_minutes))
            progress.advance(until)
        _complete_idle(spark, lake, closed_before(idle_minutes))
        return {"job": JOB, "conversations_touched": touched, "versions": until}


def closed_before(idle_minutes: float | None) -> dt.datetime | None:
    """Return the time before which a conversation's last turn closes it; None closes all."""
    return None if idle_minutes is None else dt.datetime.now(dt.UTC) - dt.timedelta(minutes=idle_minutes)


def _changed(spark: SparkSession, lake: Lake, table: Table, after: int, until: int) -> DataFrame:
    if after < 0:
        return delta.read(spark, lake, table, version=until)
    if after >= until:
        return delta.read(spark, lake, table, version=until).limit(0)
    return delta.changes(spark, lake, table, after=after, until=until).where(F.col("_change_type") != "delete")


def _assemble_changes(spark: SparkSession, lake: Lake, after: dict, until: dict, closed: dt.datetime | None) -> int:
    new_turns, new_signals, new_feedback = (
        _changed(spark, lake, t, after.get(t.name, -1), until[t.name]) for t in SOURCES
    )
    turns, signals, feedback = (delta.read(spark, lake, t, version=until[t.name]) for t in SOURCES)
    turns = stages.without_text(turns)
    touched = stages.touched_turns(new_turns, new_signals)
    if not new_feedback.isEmpty():
        touched = touched.unionByName(stages.judged_turns(new_feedback, turns)).distinct()
    # Checkpoints cut the plan: planned as one piece it costs ten times what it runs.
    touched = touched.localCheckpoint()
    known = spark.createDataFrame([], stages.KNOWN_SCHEMA)
    wanted = stages.turns_of_roots(touched, turns)
    anonymous = touched.where(~F.col("is_logged"))
    if not anonymous.isEmpty():
        anonymous = anonymous.unionByName(stages.chained_turns(anonymous, turns)).distinct().localCheckpoint()
        known = stages.known_conversations(anonymous, delta.read(spark, lake, CONVERSATIONS)).localCheckpoint()
        wanted = wanted.unionByName(stages.turns_of_paths(anonymous, known, turns))
    nodes = stages.with_signals(turns_current(wanted).localCheckpoint(), signals)
    if not feedback.isEmpty():
        nodes = stages.with_feedback(nodes.localCheckpoint(), feedback)
    nodes, known = stages.in_trees(nodes.localCheckpoint(), known, lambda frame: frame.localCheckpoint())
    assembled = (
        stages.assemble_conversations(nodes, known).withColumn("complete", is_complete(closed)).localCheckpoint()
    )
    count = assembled.count()
    if count:
        delta.merge(
            assembled,
            lake,
            CONVERSATIONS,
            update=True,
            update_when="old.fingerprint <> new.fingerprint",
            update_set={"revision": "old.revision + 1"},
        )
        _retire(spark, lake, stages.retired(known, assembled))
    return count


def _retire(spark: SparkSession, lake: Lake, retired: DataFrame) -> None:
    if retired.isEmpty():
        return
    from delta.tables import DeltaTable

    target = DeltaTable.forPath(spark, str(lake.table(CONVERSATIONS.name))).alias("old")
    same = "old.tenant = gone.tenant AND old.conversation_id = gone.conversation_id"
    delta.undisturbed(lambda: target.merge(retired.alias("gone"), same).whenMatchedDelete().execute())


def is_complete(closed: dt.datetime | None) -> F.Column:
    """Return the column that tells whether a conversation has been idle long enough."""
    return F.lit(True) if closed is None else F.col("last_at") < F.lit(closed)


def _complete_idle(spark: SparkSession, lake: Lake, closed: dt.datetime | None) -> None:
    open_and_idle = delta.read(spark, lake, CONVERSATIONS).where(~F.col("complete") & is_complete(closed))
    if open_and_idle.isEmpty():
        return
    from delta.tables import DeltaTable

    target = DeltaTable.forPath(spark, str(lake.table(CONVERSATIONS.name)))
    delta.undisturbed(lambda: target.update(~F.col("complete") & is_complete(closed), {"complete": F.lit(True)}))


@turnmill_command(JOB, help="Touched turns -> conversations.")
@batch_schedule
@click.option(
    "--idle-minutes",
    type=float,
    default=IDLE_MINUTES,
    show_default=True,
    help="A conversation without a turn for so long is complete; --available-now completes all.",
)
def command(settings: Settings, schedule: Schedule, idle_minutes: float) -> None:
    """Run once or again and again, as flags say."""
    idle = None if schedule.available_now else idle_minutes
    figures = repeatedly(schedule, JOB, lambda: assemble(settings, idle_minutes=idle))
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
