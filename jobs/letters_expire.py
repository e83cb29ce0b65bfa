"""``turnmill dead-letters expire``: let go of the payloads of old letters; the fact that they were there stays."""

from __future__ import annotations

import datetime as dt
import re

import click

from jobs.options import Settings, existing_lake, turnmill_command
from pipelines.adapters.payload_expiry import count_payloads, expire_payloads

_AGE = re.compile(r"([0-9]{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Age(click.ParamType):
    """A time span such as 30d, 12h or 2w."""

    name = "AGE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> dt.timedelta:
        """Return the span; fails as wrong use."""
        found = _AGE.fullmatch(value)
        if found is None:
            self.fail("wanted a number of hours, days or weeks, for instance 12h, 30d or 2w", param, ctx)
        return dt.timedelta(hours=int(found[1]) * _HOURS[found[2]])


@turnmill_command("expire")
@click.option("--older-than", type=Age(), required=True, help="Age of the landing, for instance 30d.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def expire_letters(settings: Settings, older_than: dt.timedelta, yes: bool) -> None:
    """Remove the encrypted payloads of letters that landed longer ago than a time span.

    Reason, detail and coordinates stay, so that every record is still accounted for; show and replay are no longer
    possible. Old files of the tables hold the payloads until they are vacuumed.
    """
    lake = existing_lake(settings)
    before = dt.datetime.now(dt.UTC) - older_than
    found = count_payloads(lake, before)
    if found and not yes:
        asked = f"{found:,} payloads that landed before {before:%Y-%m-%d %H:%M} UTC can then never be replayed. Go on?"
        click.confirm(asked, abort=True, err=True)
    expired = expire_payloads(lake, before) if found else {}
    settings.console.print(f"{found:,} payloads expired.")
    if settings.json:
        settings.emit({"expired": found, "before": before.isoformat(), "rows": expired})
