"""``turnmill dead-letters list|show|replay``: what could not be used, why, and how to try it again."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table as RichTable

from jobs.kafka_bootstrap import bootstrap_for
from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.intake.payload_record import unpack_record
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import decrypt_payload
from schemas import DEAD_LETTERS
from schemas.records import ATTEMPT_HEADER, DEAD_REASONS, DeadReason

AT = ("topic", "partition", "offset", "entry", "position")
COLUMNS = ", ".join(f'"{name}"' for name in (*AT, "attempts", "payload_encrypted", "payload_key_id"))


@turnmill_command("list", help="Count dead letters by reason, first and last landing of each.")
def list_letters(settings: Settings) -> None:
    """Show one row a reason; replayed letters are counted apart."""
    rows = connect(existing_lake(settings)).sql(
        "SELECT reason, count(*) AS n, count(replayed_as) AS replayed, "
        "min(landed_at) AS first_at, max(landed_at) AS last_at "
        "FROM dead_letters GROUP BY reason ORDER BY n DESC, reason"
    )
    found = [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]
    if settings.json:
        settings.emit({"dead_letters": sum(row["n"] for row in found), "reasons": found})
        return
    shown = RichTable("reason", "letters", "replayed", "first", "last", "what it means")
    for row in found:
        words = DEAD_REASONS.get(DeadReason(row["reason"]), "")
        times = (f"{row[at]:%Y-%m-%d %H:%M}" for at in ("first_at", "last_at"))
        shown.add_row(row["reason"], str(row["n"]), str(row["replayed"]), *times, words)
    settings.console.print(shown if found else "No dead letters.")


@turnmill_command("show", help="Decrypt one dead letter and print it: AT is TOPIC:PARTITION:OFFSET[:ENTRY:POSITION].")
@click.argument("at")
@click.option("--yes", is_flag=True, help="Do not ask before raw content is shown.")
def show_letter(settings: Settings, at: str, yes: bool) -> None:
    """Print reason, detail and the raw record."""
    row = one_letter(settings, at)
    if not yes:
        click.confirm("This shows raw content, which may hold personal data. Go on?", abort=True, err=True)
    value, headers = raw_record(row, settings)
    names = {name: content.decode("utf-8", "replace") for name, content in headers.items()}
    if settings.json:
        settings.emit({"reason": row["reason"], "detail": row["detail"], "headers": names,
                       "value": value.decode("utf-8", "backslashreplace")})  # fmt: skip
        return
    settings.console.print(f"{row['reason']}: {row['detail'] or DEAD_REASONS[DeadReason(row['reason'])]}", markup=False)
    settings.console.print(f"headers: {names}", markup=False)
    click.echo(value)


@turnmill_command("replay", help="Send dead letters to Kafka again, after a fix; each record once.")
@click.option(
    "--reason", type=click.Choice([r.value for r in DeadReason]), default=None, help="Only letters of this reason."
)
@click.option("--at", default=None, metavar="TOPIC:PARTITION:OFFSET", help="Only the letters of this record.")
@click.option("--again", is_flag=True, help="Also letters that have been replayed before.")
def replay_letters(settings: Settings, reason: str | None, at: str | None, again: bool) -> None:
    """Send the raw records under a raised attempt number and note what each became."""
    from pipelines.adapters.kafka_replay import send_and_locate

    if not (reason or at):
        raise click.UsageError("say which: --reason REASON or --at TOPIC:PARTITION:OFFSET.")
    lake = existing_lake(settings)
    wanted = "TRUE" if again else "replayed_as IS NULL"
    parameters: list[Any] = []
    if reason:
        wanted, parameters = f"{wanted} AND reason = ?", [reason]
    if at:
        wanted += ' AND topic = ? AND "partition" = ? AND "offset" = ?'
        parameters += list(coordinates(at)[:3])
    query = f"SELECT {COLUMNS} FROM dead_letters WHERE {wanted}"  # noqa: S608 - names of this module, values bound
    cursor = connect(lake).execute(query, parameters)
    names = [column[0] for column in cursor.description]
    letters = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    by_record = {tuple(letter[name] for name in AT[:3]): letter for letter in letters}
    records = []
    for letter in by_record.values():
        value, headers = raw_record(letter, settings)
        records.append((letter["topic"], value, {**headers, ATTEMPT_HEADER: str(letter["attempts"] + 1).encode()}))
    places = send_and_locate(records, bootstrap_for(settings)) if records else []
    replayed = {at: place for at, place in zip(by_record, places, strict=True) if place is not None}
    if replayed:
        note_replays(lake, replayed)
    settings.console.print(f"{len(replayed)} of {len(by_record)} records sent again.")
    if settings.json:
        settings.emit({"records": len(by_record), "replayed": len(replayed)})
    if len(replayed) < len(by_record):
        raise UserError(
            f"{len(by_record) - len(replayed)} records were not acknowledged by Kafka; run the replay again."
        )


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


def coordinates(at: str) -> tuple[str, int, int, int, int]:
    """Parse TOPIC:PARTITION:OFFSET[:ENTRY:POSITION]."""
    parts = at.split(":")
    if len(parts) not in (3, 5) or not all(part.isdigit() for part in parts[1:]):
        raise click.UsageError(f"wanted TOPIC:PARTITION:OFFSET or TOPIC:PARTITION:OFFSET:ENTRY:POSITION, found {at!r}.")
    partition, offset, entry, position = [*map(int, parts[1:]), 0, 0][:4]
    return parts[0], partition, offset, entry, position


def one_letter(settings: Settings, at: str) -> dict[str, Any]:
    """Return the dead letter at the coordinates."""
    cursor = connect(existing_lake(settings)).execute(
        'SELECT * FROM dead_letters WHERE (topic, "partition", "offset", entry, position) = (?, ?, ?, ?, ?)',
        list(coordinates(at)),
    )
    row = cursor.fetchone()
    if row is None:
        raise UserError(f"no dead letter at {at}; look up coordinates with `turnmill sql` in the table dead_letters.")
    return dict(zip([column[0] for column in cursor.description], row, strict=True))


def raw_record(row: dict[str, Any], settings: Settings) -> tuple[bytes, dict[str, bytes]]:
    """Decrypt a dead letter's record."""
    at = tuple(row[name] for name in AT)
    payload = decrypt_payload(
        bytes(row["payload_encrypted"]), at, row["payload_key_id"], KeyFolder(settings.keys).open()
    )
    return unpack_record(payload)


command = click.Group(
    "dead-letters",
    commands=[list_letters, show_letter, replay_letters],
    help="List, show and replay what could not be used.",
)
