"""``turnmill models watch``: take the alias from a champion that people like less than the model before it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import click
import orjson

from jobs.candidate_trial import DEFAULT_TENANT, PROMOTION_LEASE, write_models
from jobs.models_list import models_of
from jobs.options import Exit, Settings, UserError, existing_lake, turnmill_command
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from jobs.watch_inputs import Watched, ratings, watched
from pipelines.adapters.lake import Lake
from pipelines.durable_files import replace_file
from pipelines.promotion.aliases import champion_of, rolled_back
from pipelines.promotion.live_feedback import WatchDecision, WatchRule, judge_feedback
from schemas import MODEL_VERSIONS

JOB = "watch"
FEEDBACK_FILE = "feedback.json"
"""The last decision, beside the weights that it is about."""
ROLLED_BACK = "model.rolled_back"
RULE = WatchRule()
Figures = dict[str, Any]


def _served_as(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for pair in given:
        model, sign, name = pair.partition("=")
        if not (model and sign and name):
            raise click.BadParameter("wanted MODEL=NAME, the name of a model here and its name in the logs")
        names.setdefault(model, []).append(name)
    return names


@turnmill_command(JOB, help="Roll the champion back where people like its answers less than those of the model before.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Tenant whose champion is watched.")
@click.option(
    "--most-drop",
    type=click.FloatRange(0, 1, max_open=True),
    default=RULE.most_drop,
    show_default=True,
    help="Fall of the share of good ratings that is allowed.",
)
@click.option(
    "--least-ratings",
    type=click.IntRange(min=2),
    default=RULE.least_ratings,
    show_default=True,
    help="Ratings that either model must have.",
)
@click.option(
    "--least-owners",
    type=click.IntRange(min=2),
    default=RULE.least_owners,
    show_default=True,
    help="People that they must be of.",
)
@click.option(
    "--days",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Days before the promotion from which answers of the model before count.",
)
@click.option(
    "--served-as",
    multiple=True,
    metavar="MODEL=NAME",
    callback=_served_as,
    help="Name of a model in the logs where it is not its own; may be given again.",
)
@click.option(
    "--events/--no-events", default=False, show_default=True, help="Tell a roll-back on turnmill.events of --bootstrap."
)
@click.option("--dry-run", is_flag=True, help="Decide and tell, write nothing, move nothing.")
@batch_schedule
def command(
    settings: Settings,
    schedule: Schedule,
    tenant: str,
    days: float,
    served_as: dict[str, list[str]],
    events: bool,
    dry_run: bool,
    **rule: Any,
) -> None:
    """Decide once, or again and again with --every. Exit code 4 says that the champion is worse and goes."""
    if events and settings.bootstrap is None:
        raise UserError("wanted --bootstrap HOST:PORT for events, found none", Exit.WRONG_USE)
    lake = existing_lake(settings)

    def turn() -> Figures:
        figures = decide(lake, tenant, WatchRule(**rule), days, served_as, dry_run=dry_run)
        if events and figures["rolled_back"]:
            from pipelines.adapters.kafka_events import publish

            name = f"{figures['model_version']}-rolled-back"
            publish(str(settings.bootstrap), {**figures, "id": name, "type": ROLLED_BACK, "source": "turnmill"})
        if settings.json:
            settings.emit(figures)
        else:
            settings.console.print(f"{figures['verdict']}: {figures['reason']}", markup=False, highlight=False)
        return figures

    figures = repeatedly(schedule, JOB, turn)
    if figures["verdict"] == "roll_back":
        raise SystemExit(Exit.GATE_HELD)


def decide(
    lake: Lake, tenant: str, rule: WatchRule, days: float, served_as: dict[str, list[str]], *, dry_run: bool = False
) -> Figures:
    """Judge the tenant's champion by its ratings and, unless ``dry_run``, act on it; return the decision as figures.

    Every decision is written beside the model's weights; a roll-back also into ``model_versions``, with its figures and
    reason, in the commit that moves the aliases.
    """
    champion = champion_of(models_of(lake), tenant)
    if champion is None:
        reason = f"Tenant {tenant} has no champion: there is nothing to watch."
        return _told(tenant, None, None, WatchDecision("wait", reason, {}), moved=False)
    seen = watched(champion, served_as)
    decision = judge_feedback(*ratings(lake, tenant, seen, days), (seen.champion, seen.before), rule)
    moved = False
    if not dry_run:
        moved = decision.verdict == "roll_back" and _roll_back(lake, tenant, seen, decision)
        _keep(lake, champion, seen, decision, moved=moved)
    return _told(tenant, seen.champion, seen.before, decision, moved=moved)


def _roll_back(lake: Lake, tenant: str, seen: Watched, decision: WatchDecision) -> bool:
    """Move the aliases unless somebody was faster; tell whether they moved."""
    from pipelines.adapters import delta
    from pipelines.adapters.spark_session import spark_session

    spark = spark_session("turnmill models", short_lived=True)
    with one_driver(lake, PROMOTION_LEASE):
        models = [row.asDict() for row in delta.read(spark, lake, MODEL_VERSIONS).collect()]
        now = champion_of(models, tenant)
        if now is None or now["model_version"] != seen.champion:
            return False
        rows = rolled_back(models, tenant, dt.datetime.now(dt.UTC), decision.reason)
        for row in rows:
            if row["model_version"] == seen.champion:
                row["evaluation"] = {**(row["evaluation"] or {}), **decision.numbers}
        write_models(spark, lake, rows)
    return True


def _keep(lake: Lake, champion: dict[str, Any], seen: Watched, decision: WatchDecision, *, moved: bool) -> None:
    folder = lake.path / champion["path"]
    if folder.is_dir():
        told = _told(champion["tenant"], seen.champion, seen.before, decision, moved=moved)
        told |= {"at": dt.datetime.now(dt.UTC)}
        replace_file(folder / FEEDBACK_FILE, orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def _told(tenant: str, champion: str | None, before: str | None, decision: WatchDecision, *, moved: bool) -> Figures:
    return {
        "job": JOB,
        "tenant": tenant,
        "model_version": champion,
        "compared_with": before,
        "verdict": decision.verdict,
        "reason": decision.reason,
        "rolled_back": moved,
        **decision.numbers,
    }


if __name__ == "__main__":
    command()
