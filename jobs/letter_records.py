"""Dead letters by their coordinates, and the raw records under their encryption."""

from __future__ import annotations

import datetime as dt
from typing import Any

import click

from jobs.options import Settings, UserError, existing_lake
from pipelines.adapters.duck import connect
from pipelines.intake.payload_record import unpack_record
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import decrypt_payload

AT = ("topic", "partition", "offset", "entry", "position")

WHEN = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"])
"""A time of the command line; it counts as UTC."""


def coordinates(at: str) -> tuple[str, int, int, int, int]:
    """Parse TOPIC:PARTITION:OFFSET[:ENTRY:POSITION]."""
    parts = at.split(":")
    if len(parts) not in (3, 5) or not all(part.isdigit() for part in parts[1:]):
        raise click.UsageError(f"wanted TOPIC:PARTITION:OFFSET or TOPIC:PARTITION:OFFSET:ENTRY:POSITION, found {at!r}.")
    partition, offset, entry, position = [*map(int, parts[1:]), 0, 0][:4]
    return parts[0], partition, offset, entry, position


def landed_within(since: dt.datetime | None, until: dt.datetime | None) -> tuple[str, list[dt.datetime]]:
    """Return the SQL condition on ``landed_at``, ``until`` exclusive, and its parameters; an open end is left out."""
    ends = [(sign, end.replace(tzinfo=dt.UTC)) for sign, end in ((">=", since), ("<", until)) if end is not None]
    return " AND ".join(["TRUE", *(f"landed_at {sign} ?" for sign, _ in ends)]), [end for _, end in ends]


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
    """Decrypt a dead letter's record. Raises UserError where its payload has expired."""
    if row["payload_encrypted"] is None:
        raise UserError("the payload of this letter has expired; only its reason and coordinates are kept.")
    at = tuple(row[name] for name in AT)
    payload = decrypt_payload(
        bytes(row["payload_encrypted"]), at, row["payload_key_id"], KeyFolder(settings.keys).open()
    )
    return unpack_record(payload)
