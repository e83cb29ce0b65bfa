"""``turnmill report``: what is in the lake, on one HTML page that needs no network."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import click
import orjson

from jobs.options import Settings, UserError, existing_lake, turnmill_command
from pipelines.adapters.delta import check_profile
from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.durable_files import replace_file
from pipelines.reporting.figures import Figures, Row, read_figures
from pipelines.reporting.page import THEMES, render_page
from pipelines.reporting.report import report_charts, report_numbers
from pipelines.training.run_spec import PROGRESS_FILE
from schemas import TABLES


def figures_of(lake: Lake) -> Figures:
    """Return the figures of the lake as it stands, with the losses of the runs whose folders are here."""
    for table in TABLES:
        if lake.exists(table.name):
            check_profile(lake, table)
    told = {path.parent.name: told_steps(path) for path in lake.path.glob(f"runs/*/{PROGRESS_FILE}")}
    with connect(lake, ready_views=True) as connection:
        return read_figures(connection, told)


def told_steps(path: Path) -> list[Row]:
    """Return what a run wrote of its steps, in order; a step that was done again counts once, half a line never."""
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
    steps = {step["step"]: step for step in map(orjson.loads, lines)}
    return [steps[number] for number in sorted(steps)]


@turnmill_command("report", help="Write what is in the lake as one HTML page with plots; it needs no network.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("turnmill-report.html"),
              show_default=True, help="Page to write; one that is there is replaced.")  # fmt: skip
@click.option("--theme", type=click.Choice(THEMES), default="auto", show_default=True,
              help="Light or dark; auto is as the reader's system is.")  # fmt: skip
@click.option("--title", default="Turnmill report", show_default=True, help="Title of the page.")
def command(settings: Settings, out: Path, theme: str, title: str) -> None:
    """Ask the figures, draw the charts, write the page."""
    lake = existing_lake(settings)
    if not out.absolute().parent.is_dir():
        raise UserError(f"wanted a folder to write {out.name} to, found none at {out.parent}; make it first.")
    figures = figures_of(lake)
    charts = report_charts(figures)
    page = render_page(title, dt.datetime.now(dt.UTC), report_numbers(figures), charts, theme=theme)
    replace_file(out, page.encode())
    told = {"file": str(out), "bytes": out.stat().st_size, "charts": len(charts)}
    told["empty_charts"] = sum(not chart.traces for chart in charts)
    if settings.json:
        settings.emit(told)
    else:
        settings.console.print(
            f"{out}: {told['charts']} charts, {told['empty_charts']} of them without data", markup=False
        )


if __name__ == "__main__":
    command()
