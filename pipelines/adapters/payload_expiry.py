"""Payloads of old dead letters are let go, in ``dead_letters`` and in ``landing``; the rows and their reasons stay.

Failure contract: each table is one commit, and a repeat does what is left. Rows stay where they are accounted for: a
stream on ``landing`` skips commits that change rows, and a letter that is still to be settled then settles either way.
"""

from __future__ import annotations

import datetime as dt

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from schemas import DEAD_LETTERS, LANDING
from schemas.records import Outcome

COMMIT_TRIES = 5
"""Commits of the ingest come every few seconds and may touch the same files' versions; each try reads anew."""

_LETTERS = {
    DEAD_LETTERS.name: ("payload_encrypted IS NOT NULL", ("payload_encrypted", "payload_key_id")),
    # Without its payload a dead row holds nothing under a key of its epoch, which may then go.
    LANDING.name: (
        f"payload_encrypted IS NOT NULL AND outcome = '{Outcome.DEAD.value}'",
        ("payload_encrypted", "payload_key_id", "key_epoch"),
    ),
}
"""Which rows of a table hold the payload of a dead letter, and the columns that go with it."""


class ExpiryError(RuntimeError):
    """Other writers were faster each time."""

    safe_to_show = True


def count_payloads(lake: Lake, before: dt.datetime) -> int:
    """Return how many letters that landed before the time still have a payload, in either table."""
    condition = _LETTERS[LANDING.name][0]
    at = 'topic, "partition", "offset", entry, position'
    query = (
        f"SELECT count(*) FROM (SELECT {at} FROM landing WHERE {condition} AND landed_at < ? "  # noqa: S608
        f"UNION SELECT {at} FROM dead_letters WHERE {_LETTERS[DEAD_LETTERS.name][0]} AND landed_at < ?)"
    )
    row = connect(lake).execute(query, [before, before]).fetchone()
    return int(row[0]) if row else 0


def expire_payloads(lake: Lake, before: dt.datetime) -> dict[str, int]:
    """Set the payloads that landed before the time (aware) to null; return the rows changed in each table.

    Raises ExpiryError when other writers win every try.
    """
    return {name: _clear(lake, name, before) for name in _LETTERS if lake.exists(name)}


def _clear(lake: Lake, name: str, before: dt.datetime) -> int:
    condition, columns = _LETTERS[name]
    microseconds = int(before.timestamp() * 1_000_000)
    predicate = f"{condition} AND landed_at < arrow_cast({microseconds}, 'Timestamp(Microsecond, Some(\"UTC\"))')"
    for _ in range(COMMIT_TRIES):
        try:
            done = DeltaTable(str(lake.table(name))).update({column: "NULL" for column in columns}, predicate=predicate)
        except CommitFailedError:
            continue
        return int(done["num_updated_rows"])
    raise ExpiryError(f"{name} was being written at each of {COMMIT_TRIES} tries; run the command again")
