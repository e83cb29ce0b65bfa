"""``turnmill dead-letters replay``: send what could not be used to Kafka again, after a fix."""

from __future__ import annotations

import datetime as dt
from typing import Any

import click

from jobs.letter_records import AT, WHEN, coordinates, landed_within, raw_record
from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from schemas import DEAD_LETTERS
from schemas.records import ATTEMPT_HEADER, DeadReason

COLUMNS = ", ".join(f'"{name}"' for name in (*AT, "attempts", "payload_encrypted", "payload_key_id"))


@turnmill_command("replay", help="Send dead letters to Kafka again, after a fix; each record once.")
@click.option(
    "--reason", type=click.Choice([r.value for r in DeadReason]), default=None, help="Only letters of this reason."
)
@click.option("--at", default=None, metavar="TOPIC:PARTITION:OFFSET", help="Only the letters of this record.")
@click.option("--since", type=WHEN, metavar="TIME", help="Only letters that landed at this time (UTC) or later.")
@click.option("--until", type=WHEN, metavar="TIME", help="Only letters that landed before this time (UTC).")
@click.option("--again", is_flag=True, help="Also letters that have been replayed before.")
def replay_letters(
    settings: Settings,
    reason: str | None,
    at: str | None,
    since: dt.datetime | None,
    until: dt.datetime | None,
    again: bool,
) -> None:
    """Send the raw records under a raised attempt number and note what each became."""
    from jobs.kafka_bootstrap import bootstrap_for
    from pipelines.adapters.kafka_replay import send_and_locate

    if not (reason or at or since or until):
        raise click.UsageError("say which: --reason REASON, --at TOPIC:PARTITION:OFFSET, --since or --until TIME.")
    lake = existing_lake(settings)
    letters = wanted_letters(lake, reason, at, since, until, again=again)
    by_record = {tuple(letter[name] for name in AT[:3]): letter for letter in letters if letter["payload_encrypted"]}
    expired = len({tuple(letter[name] for name in AT[:3]) for letter in letters} - by_record.keys())
    records = []
    for letter in by_record.values():
        value, headers = raw_record(letter, settings)
        records.append((letter["topic"], value, {**headers, ATTEMPT_HEADER: str(letter["attempts"] + 1).encode()}))
    places = send_and_locate(records, bootstrap_for(settings)) if records else []
    replayed = {at: place for at, place in zip(by_record, places, strict=True) if place is not None}
    if replayed:
        note_replays(lake, replayed)
    settings.console.print(f"{len(replayed)} of {len(by_record)} records sent again.")
    if expired:
        settings.console.print(f"{expired} more cannot be: their payload has expired.")
    if settings.json:
        settings.emit({"records": len(by_record), "replayed": len(replayed), "expired": expired})
    if len(replayed) < len(by_record):
        raise UserError(
            f"{len(by_record) - len(replayed)} records were not acknowledged by Kafka; run the replay again."
        )


def wanted_letters(
    lake: Lake,
    reason: str | None = None,
    at: str | None = None,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
    *,
    again: bool = False,
) -> list[dict[str, Any]]:
    """Return the letters that all given conditions choose, without those replayed before unless ``again``."""
    within, times = landed_within(since, until)
    wanted = [within, "TRUE" if again else "replayed_as IS NULL"]
    parameters: list[Any] = [*times]
    if reason:
        wanted.append("reason = ?")
        parameters.append(reason)
    if at:
        wanted.append('topic = ? AND "partition" = ? AND "offset" = ?')
        parameters += list(coordinates(at)[:3])
    query = f"SELECT {COLUMNS} FROM dead_letters WHERE {' AND '.join(wanted)}"  # noqa: S608 - own names, bound values
    cursor = connect(lake).execute(query, parameters)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def note_replays(lake: Lake, replayed: dict[tuple[str, int, int], tuple[str, int, int]]) -> None:
    """Write into the letters of each record the coordinates of the record that the replay made of it."""
    from delta.tables import DeltaTable

    from pipelines.adapters.spark_session import spark_session

    spark = spark_session("turnmill dead-letters")
    rows = [(*old, {"topic": new[0], "partition": new[1], "offset": new[2]}) for old, new in replayed.items()]
    replayed_as = DEAD_LETTERS.spark_schema["replayed_as"].dataType.simpleString()
    frame = spark.createDataFrame(rows, f"topic string, partition int, offset bigint, replayed_as {replayed_as}")
    target = DeltaTable.forPath(spark, str(lake.table(DEAD_LETTERS.name))).alias("old")
    condition = " AND ".join(f"old.{name} = new.{name}" for name in AT[:3])
    target.merge(frame.alias("new"), condition).whenMatchedUpdate(set={"replayed_as": "new.replayed_as"}).execute()
