"""``turnmill spark-args``: what spark-submit needs to run a job, on one line that no shell changes."""

from __future__ import annotations

import re
import sys

import click

from jobs.download_progress import download_progress
from jobs.options import Settings, UserError, turnmill_command
from pipelines.adapters.jars import classpath
from pipelines.adapters.spark_session import SPARK_SETTINGS, driver_memory


def spark_arguments(jars: list[str], master: str | None = None) -> list[str]:
    """Return the arguments for spark-submit: jars, settings of the session, and the master when one is given.

    The driver runs in the interpreter that runs this. Errors: ``UserError`` when an argument holds white space, at
    which a shell would split it, or the path of a jar a comma, at which Spark would.
    """
    arguments = ["--master", master] if master else []
    arguments += ["--jars", ",".join(jars), "--driver-memory", driver_memory()]
    for key, value in {**SPARK_SETTINGS, "spark.pyspark.driver.python": sys.executable}.items():
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
def command(settings: Settings, master: str | None) -> None:
    """Print the arguments that spark-submit needs: spark-submit $(turnmill spark-args) jobs/NAME.py …."""
    with download_progress(settings, "Spark's jars") as progress:
        jars = [str(path) for path in classpath("spark", progress)]
    arguments = spark_arguments(jars, master)
    if settings.json:
        settings.emit({"arguments": arguments})
    else:
        click.echo(" ".join(arguments))
