"""The periodic batches in one driver, one after the other: join fragments, assemble, curate, trigger.

What ``turnmill up`` runs. They share the lake's cores with the streams, so two at once would only make both late, and
one Spark application serves all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import click

from jobs import assemble_batch, curate_batch, fragments_join, trigger_batch
from jobs.lake_queries import ASSEMBLE_EVERY, CURATE_EVERY, TRIGGER_EVERY
from jobs.options import Exit, Settings, turnmill_command
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.streams import stop_on_signals
from pipelines.adapters.supervised import report
from pipelines.supervision.restart import RestartPolicy, ending
from schemas import CONVERSATIONS, DATASET_VERSIONS, LANDING, TURNS

POLL_SECONDS = 0.5
LOOK_SECONDS = 5.0
"""How often a batch that is due, and has nothing new to do, looks again."""


@dataclass
class Batch:
    """A command that runs every so many seconds where the version of ``source`` has changed since.

    ``always`` runs it also without a change: time alone closes conversations and lifts what holds a run back.
    """

    name: str
    command: click.Command
    every: float
    source: str
    always: bool = False
    due_at: float = 0.0
    seen: int = -1
    failed_at: list[float] = field(default_factory=list)

    def is_due(self, lake: Lake, now: float) -> bool:
        """Tell whether it is time, and there is something new."""
        if now < self.due_at:
            return False
        version = delta.version(lake, self.source)
        if version < 1 or (version == self.seen and not self.always and not self.failed_at):
            self.due_at = now + LOOK_SECONDS
            return False
        return True

    def run(self, settings: Settings, policy: RestartPolicy) -> Exit:
        """Run the command; report how it went, and put the next run off where it failed."""
        begun, version = time.monotonic(), delta.version(Lake(settings.lake), self.source)
        code, error = outcome(self.command, [*settings.arguments, "--json"])
        seconds = round(time.monotonic() - begun, 3)
        if code in (Exit.DONE, Exit.GATE_HELD):
            self.seen, self.due_at = version, time.monotonic() + self.every
            self.failed_at.clear()
            report(self.name, state="held" if code else "done", seconds=seconds)
        else:
            self.failed_at.append(time.monotonic())
            wait = policy.wait(ending(code), self.failed_at)
            self.due_at = time.monotonic() + max(self.every, wait or 0.0)
            report(self.name, state="failed", seconds=seconds, error=error)
        return code


def batches(every: Mapping[str, float], *, with_trigger: bool) -> list[Batch]:
    """Return the batches in the order of the flow, with their intervals in seconds by name."""
    begun = time.monotonic()
    wanted = [
        Batch("join_fragments", fragments_join.command, every["assemble"], LANDING.name),
        Batch("assemble", assemble_batch.command, every["assemble"], TURNS.name, always=True),
        # The first cut waits for its interval: right after a start the talks are still being caught up with.
        Batch("curate", curate_batch.command, every["curate"], CONVERSATIONS.name, due_at=begun + every["curate"]),
    ]
    if with_trigger:
        wanted.append(Batch("trigger", trigger_batch.command, every["trigger"], DATASET_VERSIONS.name, always=True))
    return wanted


def outcome(command: click.Command, given: list[str]) -> tuple[Exit, str | None]:
    """Run a command in this process; return its exit code, and the error that it told."""
    try:
        command.main(given, standalone_mode=False)
    except click.ClickException as error:
        return Exit(error.exit_code), error.format_message()
    except SystemExit as ended:
        code = Exit(ended.code) if isinstance(ended.code, int) else Exit.FAILED
        return code, None if code is Exit.DONE else "it failed; its log names the kind of error"
    return Exit.DONE, None


def run_batches(settings: Settings, wanted: list[Batch], stop: threading.Event, alive: Callable[[], bool]) -> None:
    """Run what is due, one after the other, until ``stop`` is set; end with an error once Spark is gone."""
    lake, policy = Lake(settings.lake), RestartPolicy()
    for batch in wanted:
        report(batch.name, state="waiting")
    while not stop.wait(POLL_SECONDS):
        for batch in wanted:
            if stop.is_set():
                return
            if not batch.is_due(lake, time.monotonic()):
                continue
            if batch.run(settings, policy) is Exit.FAILED and not alive():
                raise SparkGoneError("the batches' Spark application is gone; they start again with a new one")


class SparkGoneError(RuntimeError):
    """The driver's JVM no longer answers."""

    safe_to_show = True


def spark_answers() -> bool:
    """Tell whether the JVM of this process's session still answers."""
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.getActiveSession()
        return session is None or bool(session.version)
    except Exception:  # whatever py4j raises when its other end is gone
        return False


INTERVAL = click.FloatRange(min=0.1)


@turnmill_command("batches", help="Join fragments, assemble, curate and trigger, again and again.")
@click.option("--assemble-every", type=INTERVAL, default=ASSEMBLE_EVERY, show_default=True, metavar="SECONDS")
@click.option("--curate-every", type=INTERVAL, default=CURATE_EVERY, show_default=True, metavar="SECONDS")
@click.option("--trigger-every", type=INTERVAL, default=TRIGGER_EVERY, show_default=True, metavar="SECONDS")
@click.option("--trigger/--no-trigger", default=True, show_default=True, help="Decide on training runs here.")
def command(
    settings: Settings, assemble_every: float, curate_every: float, trigger_every: float, *, trigger: bool
) -> None:
    """Run until SIGTERM; what the flags of the batches say is told by environment, as for those commands."""
    every = {"assemble": assemble_every, "curate": curate_every, "trigger": trigger_every}
    with stop_on_signals() as stop:
        run_batches(settings, batches(every, with_trigger=trigger), stop, spark_answers)


if __name__ == "__main__":
    command()
