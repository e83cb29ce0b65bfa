"""``turnmill spark-args``: what spark-submit needs to run a job, on one line that no shell changes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from jobs.download_progress import download_progress
from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.jars import classpath
from pipelines.adapters.spark_session import SPARK_SETTINGS, driver_memory

UNPACKED = "environment"
"""Folder of a packed environment beside an executor's other files."""


def spark_arguments(jars: list[str], master: str | None = None, environment: Path | None = None) -> list[str]:
    """Return the arguments for spark-submit: jars, settings of the session, and the master when one is given.

    The driver runs in the interpreter that runs this; executors in that of the packed ``environment`` when one is
    given, which Spark hands to them. Errors: ``UserError`` when an argument holds white space, at
    which a shell would split it, or the path of a jar a comma, at which Spark would.
    """
    arguments = ["--master", master] if master else []
    arguments += ["--jars", ",".join(jars), "--driver-memory", driver_memory()]
    settings = {**SPARK_SETTINGS, "spark.pyspark.driver.python": sys.executable}
    if environment is not None:
        arguments += ["--archives", f"{environment}#{UNPACKED}"]
        settings["spark.pyspark.python"] = f"./{UNPACKED}/bin/python"
    for key, value in settings.items():
        arguments += ["--conf", f"{key}={value}"]
    unfit = [jar for jar in jars if "," in jar] + [one for one in arguments if re.search(r"\s", one)]
    if unfit:
        raise UserError(
            f"{unfit[0]!r} cannot stand in an unquoted command line; set TURNMILL_CACHE to a folder without spaces "
            "and commas, and install turnmill in such a folder."
        )
    return arguments


@turnmill_command("spark-args")
@click.option("--master", help="Master to name, for instance 'local[*]'.  [default: none, spark-submit's own]")
@click.option(
    "--environment",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Packed environment for the executors (docker/pack_environment.sh).  [default: the driver's]",
)
def command(settings: Settings, master: str | None, environment: Path | None) -> None:
    """Print the arguments that spark-submit needs: spark-submit $(turnmill spark-args) jobs/NAME.py …."""
    with download_progress(settings, "Spark's jars") as progress:
        jars = [str(path) for path in classpath("spark", progress)]
    arguments = spark_arguments(jars, master, environment and environment.absolute())
    if settings.json:
        settings.emit({"arguments": arguments})
    else:
        click.echo(" ".join(arguments))
