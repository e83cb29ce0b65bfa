"""The newest dataset version, the last runs, drift and feedback -> ``trigger_decisions``: start or hold, and why.

spark-submit $(turnmill spark-args) jobs/trigger_batch.py --lake LAKE --policy trigger.toml --start
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import orjson
from pyspark.sql import functions as F

from jobs.candidate_trial import TrialOptions
from jobs.options import Settings, UserError, turnmill_command
from jobs.secret_files import read_secret
from jobs.streaming import Schedule, batch_schedule, one_driver, repeatedly
from jobs.train_batch import train_told
from jobs.train_options import TrainOptions, with_train_flags
from jobs.trigger_inputs import look
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.outbound_http import checked_target, post_json
from pipelines.adapters.spark_session import spark_session
from pipelines.training.run_spec import timed_name
from pipelines.training.trigger import decide as decide_by
from pipelines.training.trigger_policy import TriggerPolicy, read_policy
from schemas import TRIGGER_DECISIONS

JOB = "trigger"
AT_LEAST = 1_000
Figures = dict[str, Any]


@dataclass(frozen=True)
class Announce:
    """Where a decision is told: the topic of events of the cluster, and a webhook with the file of its secret."""

    events: bool = False
    webhook: str | None = None
    secret_file: Path | None = None
    allow_private: bool = False


def decide(
    settings: Settings,
    *,
    at_least: int = AT_LEAST,
    tenant: str | None = None,
    policy: TriggerPolicy | None = None,
    asked: str | None = None,
    event: str | None = None,
    dry_run: bool = False,
) -> Figures:
    """Decide for ``tenant`` (by default the one of the newest dataset version), and write the decision down.

    ``policy`` counts, else one that wants ``at_least`` new examples. An event that was decided on before is told again
    and not decided anew. ``dry_run`` writes nothing. Returns decision_id, verdict, reason, dataset_version and the
    figures looked at.
    """
    lake = Lake(settings.lake)
    spark = spark_session("turnmill trigger")
    policy = policy or TriggerPolicy(new_examples=at_least)
    with one_driver(lake, JOB):
        decisions = delta.read(spark, lake, TRIGGER_DECISIONS)
        if event is not None:
            known = decisions.where(F.col("event_id") == event).limit(1).collect()
            if known:
                return _told(known[0].asDict(), dict(known[0].inputs), repeated=True)
        now = dt.datetime.now(dt.UTC)
        inputs = replace(look(spark, lake, tenant, policy, now), asked=asked, event=event)
        decision = decide_by(inputs, policy, now)
        row = {
            "decision_id": timed_name("decision", now, secrets.token_hex(4)),
            "at": now,
            "policy": decision.policy,
            "inputs": {**inputs.numbers, **policy.numbers},
            "verdict": decision.verdict,
            "reason": decision.reason,
            "dataset_version": inputs.dataset_version,
            "event_id": event,
            "run_id": None,
        }
        if not dry_run:
            told = spark.createDataFrame([row], TRIGGER_DECISIONS.spark_schema)
            delta.merge(told, lake, TRIGGER_DECISIONS, update=False)
    return _told(row, inputs.numbers)


def _told(row: Figures, numbers: dict[str, float], *, repeated: bool = False) -> Figures:
    names = ("decision_id", "verdict", "policy", "reason", "dataset_version", "event_id", "run_id")
    return {"job": JOB, **{name: row[name] for name in names}, "repeated": repeated, **numbers}


def announce(settings: Settings, figures: Figures, where: Announce) -> None:
    """Tell a decision to Kafka and to the webhook; raises ``UserError`` where a secret file is missing."""
    event = {**figures, "id": figures["decision_id"], "type": "training.decided", "source": "turnmill"}
    if where.events:
        from pipelines.adapters.kafka_events import publish

        publish(_cluster(settings), event)
    if where.webhook is not None:
        if where.secret_file is None:
            raise UserError("wanted --webhook-secret-file beside --webhook: what is sent is signed")
        target = checked_target(where.webhook, allow_private=where.allow_private)
        body = orjson.dumps(event, default=str)
        post_json(target, body, secret=read_secret(where.secret_file), idempotency_key=figures["decision_id"])


def _cluster(settings: Settings) -> str:
    if settings.bootstrap is None:
        raise UserError("wanted --bootstrap HOST:PORT for events, found none")
    return settings.bootstrap


@turnmill_command(JOB, help="Decide whether a training run starts, and say why.")
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    metavar="TOML",
    help="When a run is wanted, and what holds it back.",
)
@click.option(
    "--at-least",
    type=click.IntRange(min=1),
    default=AT_LEAST,
    show_default=True,
    help="New examples since the last run that start one; a policy says its own.",
)
@click.option("--tenant", default=None, help="Decide for this tenant.  [default: that of the newest dataset version]")
@click.option("--manual", "asked", default=None, metavar="WHO", help="Ask for a run by hand.")
@click.option(
    "--events/--no-events",
    default=False,
    show_default=True,
    help="Hear requests on turnmill.events of --bootstrap, and tell decisions there.",
)
@click.option("--webhook", default=None, metavar="URL", help="Tell decisions to this address, signed.")
@click.option(
    "--webhook-secret-file",
    "secret_file",
    default=None,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Secret that signs them.",
)
@click.option("--webhook-private", "allow_private", is_flag=True, help="The webhook may be a private address.")
@click.option("--dry-run", is_flag=True, help="Decide and tell, write nothing, start nothing.")
@click.option("--start/--no-start", default=False, show_default=True, help="Train at once when the verdict is start.")
@with_train_flags
@batch_schedule
def command(
    settings: Settings,
    schedule: Schedule,
    policy_file: Path | None,
    at_least: int,
    tenant: str | None,
    asked: str | None,
    dry_run: bool,
    start: bool,
    options: TrainOptions,
    trial: TrialOptions,
    **where: Any,
) -> None:
    """Decide once, or again and again, and say why; with --start, train on it."""
    policy = read_policy(policy_file) if policy_file else TriggerPolicy(new_examples=at_least)
    told = Announce(**where)

    def turn() -> Figures:
        with _request(settings, told.events and not dry_run) as request:
            figures = decide(
                settings,
                tenant=tenant or (request.tenant if request else None),
                policy=policy,
                asked=asked,
                event=request.event_id if request else None,
                dry_run=dry_run,
            )
        return _acted(settings, figures, None if dry_run else told, options if start and not dry_run else None, trial)

    repeatedly(schedule, JOB, turn)


@contextmanager
def _request(settings: Settings, listens: bool) -> Iterator[Any]:
    if not listens:
        yield None
        return
    from pipelines.adapters.kafka_events import next_request

    with next_request(_cluster(settings)) as request:
        yield request


def _acted(
    settings: Settings, figures: Figures, told: Announce | None, options: TrainOptions | None, trial: TrialOptions
) -> Figures:
    """Tell the decision, and train where the verdict is start and ``options`` are given."""
    if not settings.json:
        settings.console.print(f"{figures['verdict']}: {figures['reason']}", markup=False, highlight=False)
    if told is not None:
        announce(settings, figures, told)
    if options is not None and figures["verdict"] == "start":
        run = train_told(settings, figures["dataset_version"], options, trial, figures["decision_id"])
        names = ("run_id", "model_version", "loss_before", "loss_after", "verdict", "verdict_reason", "alias")
        figures |= {"promotion" if name == "verdict" else name: run[name] for name in names}
    if settings.json:
        settings.emit(figures)
    return figures


if __name__ == "__main__":
    command()
