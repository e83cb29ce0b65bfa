"""``turnmill generate``: write chat logs with planted personal data, and the truth about them."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table

from jobs.options import Exit, Settings, UserError, turnmill_command
from pipelines.synthetic.log_files import PLANTED, ForeignFolder, Totals, load_groups, write_logs
from pipelines.synthetic.log_formats import GENERATED
from pipelines.synthetic.log_records import Mix
from schemas.records import CONSENT_HEADER


@turnmill_command("generate")
@click.option(
    "--conversations", type=click.IntRange(min=0), default=400, show_default=True, help="How many talks to write."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds give equal files.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("turnmill-logs"),
    show_default=True,
    help="Folder to write into; an earlier result in it is replaced.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["all", *GENERATED]),
    metavar="NAME",
    help=f"Write this format, as often as the others named; give it again for more: all, {', '.join(GENERATED)}. "
    "[default: seven formats in the shares of a busy gateway]",
)
def command(settings: Settings, conversations: int, seed: int, out: Path, formats: tuple[str, ...]) -> None:
    """Write invented chat logs, with planted personal values, ratings and broken records.

    All values are invented; planted.json lists them, so that a scan of the lake can prove that none is left.
    """
    try:
        with settings.console.status("Writing logs"):
            totals = write_logs(out, conversations, seed, mix=_mix(formats))
    except ForeignFolder as foreign:
        raise UserError(str(foreign), Exit.WRONG_USE) from foreign
    if settings.json:
        settings.emit({"out": str(out), **asdict(totals)})
    else:
        _tell(settings, totals, out)


def _mix(formats: tuple[str, ...]) -> Mix:
    named = GENERATED if "all" in formats else formats
    return Mix(formats=dict.fromkeys(named, 1)) if named else Mix()


def _tell(settings: Settings, totals: Totals, out: Path) -> None:
    table = Table("planted", "values", "of them in kept fields", title=f"{totals.conversations:,} conversations")
    for kind, count in totals.planted.items():
        table.add_row(kind, f"{count:,}", f"{totals.kept.get(kind, 0):,}")
    settings.console.print(table)
    records = ", ".join(f"{count:,} {kind}" for kind, count in totals.records.items())
    settings.console.print(f"Records: {records}; {totals.bytes / 1e6:,.1f} MB in {out}. The truth: {out / PLANTED}")
    settings.console.print("Next, one line for each kind of record:")
    for group in load_groups(out):
        consent = group.headers.get(CONSENT_HEADER)
        options = f"--topic {group.topic}" + (f" --consent {consent}" if consent else "")
        settings.console.print(f"  turnmill load {options} {shlex.join(map(str, group.files))}", soft_wrap=True)


if __name__ == "__main__":
    command()
