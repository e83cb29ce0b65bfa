"""``turns`` -> ``turn_signals``: signals of each turn, keep or reason.

spark-submit $(turnmill spark-args) jobs/filter_stream.py --lake LAKE --available-now
"""

from __future__ import annotations

import click

from jobs.lake_queries import FILTER
from jobs.options import Exit, Settings, UserError, turnmill_command
from jobs.streaming import Schedule, StreamJob, stream_schedule
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.spark_session import spark_session
from pipelines.quality.filter import tag_quality
from pipelines.quality.rules import DEFAULT_RULES, Rules
from schemas import TURN_SIGNALS, TURNS

QUERY = FILTER


def filter_turns(settings: Settings, schedule: Schedule, rules: Rules = DEFAULT_RULES) -> dict[str, object]:
    """Tag turns until ``turns`` is drained or a signal says stop; return the query's figures."""
    lake = Lake(settings.lake)
    with StreamJob(spark_session("turnmill filter"), lake, schedule) as job:
        start_filter(job, rules)
        job.run()
    return {"query": QUERY, "turn_signals_version": delta.version(lake, TURN_SIGNALS.name)}


def start_filter(job: StreamJob, rules: Rules = DEFAULT_RULES, *, least_every: float = 0.0) -> None:
    """Start the query from ``turns`` to ``turn_signals`` among those of ``job``."""
    turns = delta.read_stream(job.spark, job.lake, TURNS)
    job.start(QUERY, tag_quality(turns, rules), TURN_SIGNALS, least_every=least_every)


def wanted_rules(languages: str | None) -> Rules:
    """Rules with the languages of the flag; a code that the identifier cannot answer is wrong use."""
    if languages is None:
        return DEFAULT_RULES
    try:
        return Rules(languages=frozenset(code.strip() for code in languages.split(",")))
    except ValueError as unknown:
        raise UserError(str(unknown), Exit.WRONG_USE) from None


@turnmill_command("filter", help="turns -> turn_signals: keep or reason.")
@stream_schedule
@click.option("--languages", default=None, metavar="CODES", help="Keep only these, for instance en,de.  [default: all]")
def command(settings: Settings, schedule: Schedule, languages: str | None) -> None:
    """Run the query as flags say."""
    figures = filter_turns(settings, schedule, wanted_rules(languages))
    if settings.json:
        settings.emit(figures)


if __name__ == "__main__":
    command()
