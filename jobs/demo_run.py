"""``turnmill demo``: from a chat log in Kafka to a fine-tuned model, here, in a lake of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import orjson
from rich.table import Table as RichTable
from rich.text import Text

from jobs.options import Exit, Settings, UserError, beside, turnmill_command
from jobs.stage_progress import Advance, Stages
from jobs.streaming import Schedule
from pipelines.adapters.lake import Lake

DEMO_LAKE = Path("turnmill-demo")
MARKER = ".turnmill-demo"
CONVERSATIONS = 200
NEW_EXAMPLES = 50
TRAINING_STEPS = 40
SHOWN_CHARACTERS = 80
ONCE = Schedule(None)

Figures = dict[str, Any]


def emptied(settings: Settings) -> Lake:
    """Empty the demo's folders; a folder that is there and not a demo's is refused, whatever it holds."""
    lake = Lake(settings.lake)
    if lake.path.exists() and not (lake.path / MARKER).is_file():
        raise UserError(
            f"wanted a new folder or an earlier demo's at {lake.path}, found another folder; "
            "it stays as it is. Give the demo another --lake.",
            Exit.WRONG_USE,
        )
    for folder in (lake.path, settings.kafka_folder):
        shutil.rmtree(folder, ignore_errors=True)
    lake.path.mkdir(parents=True)
    (lake.path / MARKER).write_text("A lake of `turnmill demo`: emptied at the start of the next one.\n")
    return lake


class Demo:
    """The stages in order; each adds its figures."""

    def __init__(
        self, settings: Settings, stages: Stages, inputs: Sequence[Path], conversations: int, seed: int
    ) -> None:
        self.settings, self.stages, self.inputs = settings, stages, list(inputs)
        self.conversations, self.seed = conversations, seed
        self.given_cluster = settings.bootstrap is not None
        self.lake = emptied(settings)
        self.logs = beside(settings.lake, "logs")
        self.figures: Figures = {}

    def run(self) -> Figures:
        """Run all stages and return the figures that ``--json`` prints."""
        from jobs.demo_search import asking

        started = time.monotonic()
        with ExitStack() as running:
            self.write_logs()
            bootstrap = self.start_kafka(running)
            self.settings = replace(self.settings, bootstrap=bootstrap)
            self.load(bootstrap)
            self.mill()
        if not self.given_cluster:
            # Raw text lives in Kafka alone; a demo leaves none behind.
            shutil.rmtree(self.settings.kafka_folder, ignore_errors=True)
        with asking(self.settings) as answer:
            self.train()
            self.look(answer)
        self.check()
        self.figures["seconds"] = round(time.monotonic() - started, 1)
        self.figures["stage_seconds"] = self.stages.seconds
        return self.figures

    def write_logs(self) -> None:
        """Write logs with planted personal values, unless files were given."""
        if self.inputs:
            return
        from pipelines.synthetic.log_files import write_logs

        with self.stages.stage("generate", "writing chat logs with planted personal values") as advance:
            totals = write_logs(self.logs, self.conversations, self.seed, told=lambda n: advance(note=f"{n:,} records"))
            planted = sum(totals.planted.values())
            advance(note=f"{sum(totals.records.values()):,} records, {planted:,} personal values planted")

    def start_kafka(self, running: ExitStack) -> str:
        """Start the embedded broker for the demo, or take the cluster that was given."""
        from pipelines.adapters import jars
        from pipelines.adapters.kafka_broker import running_broker
        from pipelines.adapters.kafka_topics import ensure_topics

        with self.stages.stage("kafka", "a real broker, on loopback only") as advance:
            for jar_set in ("spark", "broker"):
                jars.jars_folder(jar_set, lambda done, total, name: advance(done, total, f"downloading {name}"))
            bootstrap = self.settings.bootstrap or running.enter_context(running_broker(self.settings.kafka_folder))
            ensure_topics(bootstrap, partitions=2)
            advance(note=f"broker at {bootstrap}")
        return bootstrap

    def load(self, bootstrap: str) -> None:
        """Send the logs; every record must be acknowledged."""
        from pipelines.adapters.kafka_producer import load_files
        from pipelines.synthetic.log_files import LoadGroup, load_groups
        from schemas.records import LOGS_TOPIC

        groups = [LoadGroup(LOGS_TOPIC, {}, tuple(self.inputs))] if self.inputs else load_groups(self.logs)
        total = sum(path.stat().st_size for group in groups for path in group.files)
        acknowledged = done = 0
        with self.stages.stage("load") as advance:
            for group in groups:
                before = done
                report = load_files(
                    group.files,
                    bootstrap,
                    topic=group.topic,
                    headers=group.headers,
                    progress=partial(self.loading, advance, before, total),
                )
                if not report.all_acknowledged:
                    raise UserError(
                        f"wanted all records acknowledged by Kafka, found {report.failed} failed and {report.unknown} "
                        f"unknown of {report.sent}{': ' + report.error if report.error else ''}"
                    )
                acknowledged += report.acknowledged
                done += sum(path.stat().st_size for path in group.files)
            advance(note=f"{acknowledged:,} records acknowledged")
        self.figures["records_acked"] = acknowledged

    def loading(self, advance: Advance, before: int, total: int, read: int, _sent: int) -> None:
        """Move the bar by the bytes of the files read."""
        advance(before + read, total)

    def mill(self) -> None:
        """Run the jobs from Kafka to the dataset version."""
        from jobs.assemble_batch import assemble
        from jobs.embed_stream import embed_turns
        from jobs.filter_stream import filter_turns
        from jobs.ingest_stream import ingest
        from jobs.settle_stream import settle
        from pipelines.adapters.spark_session import spark_session
        from pipelines.intake.landing import Intake

        settings = self.settings
        with self.stages.stage("spark", "starting"):
            spark_session("turnmill demo", short_lived=True)
        with self.stages.stage("ingest", "parse, identify, anonymise") as advance:
            ingest(settings, ONCE, Intake(settings.keys), watch=self.counting(advance, self.figures["records_acked"]))
            advance(note=f"{self.count('landing'):,} items landed")
        with self.stages.stage("settle") as advance:
            settle(settings, ONCE, watch=self.counting(advance))
            self.figures |= {name: self.count(name) for name in ("turns", "feedback", "dead_letters")}
            advance(
                note=", ".join(f"{self.figures[name]:,} {name.replace('_', ' ')}" for name in ("turns", "dead_letters"))
            )
        with self.stages.stage("filter", "quality signals: keep or reason") as advance:
            filter_turns(settings, ONCE)
            self.figures["kept_turns"] = self.count("turn_signals WHERE keep")
            advance(note=f"{self.figures['kept_turns']:,} turns kept")
        with self.stages.stage("assemble") as advance:
            assemble(settings, idle_minutes=None)
            self.figures["conversations"] = self.count("conversations")
            advance(note=f"{self.figures['conversations']:,} conversations")
        with self.stages.stage("embed", "each distinct text once") as advance:
            embed_turns(settings, ONCE)
            self.figures["embeddings"] = self.count("embeddings")
            advance(note=f"{self.figures['embeddings']:,} vectors")
        with self.stages.stage("index") as advance:
            self.figures["index_rows"] = self.in_own_process("jobs.index_stream", "--available-now")["rows"]
            advance(note=f"{self.figures['index_rows']:,} rows")

    def in_own_process(self, module: str, *flags: str) -> Figures:
        """Run a job in a process of its own and return its figures: Lance must not share one that forks."""
        command = [sys.executable, "-m", module, "--lake", str(self.lake.path), "--keys", str(self.settings.keys)]
        done = subprocess.run([*command, *flags, "--json"], stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise UserError(f"{module} ended with exit code {done.returncode}")
        return dict(orjson.loads(done.stdout.splitlines()[-1]))

    def train(self) -> None:
        """Curate, gate, decide and fine-tune."""
        from jobs.candidate_trial import TrialOptions
        from jobs.curate_batch import curate_lake
        from jobs.train_batch import train_lake
        from jobs.train_options import TrainOptions
        from jobs.trigger_batch import decide
        from pipelines.promotion.measure import Plan

        with self.stages.stage("curate", "rules, consent, duplicates, split, gate") as advance:
            curated = curate_lake(self.settings)
            self.figures |= {"examples": curated["examples"], "dataset_version": curated["dataset_version"]}
            advance(note=f"{curated['examples']:,} examples in {curated['dataset_version']}")
        with self.stages.stage("trigger") as advance:
            decision = decide(self.settings, at_least=NEW_EXAMPLES)
            advance(note=decision["reason"])
        self.figures |= {
            "run_id": None,
            "loss_before": None,
            "loss_after": None,
            "verdict": None,
            "trigger": decision["reason"],
        }
        if decision["verdict"] != "start":
            return
        with self.stages.stage("train", "LoRA on a small model made here") as advance:
            run = train_lake(
                self.settings,
                dataset=curated["dataset_version"],
                options=TrainOptions(max_steps=TRAINING_STEPS),
                trial=TrialOptions(plan=Plan(rows=64, answers=8, new_tokens=24, canary_alternatives=31)),
                decision_id=decision["decision_id"],
                progress=lambda step, steps: advance(step, steps),
            )
            self.figures |= {name: run[name] for name in ("run_id", "loss_before", "loss_after", "verdict")}
            advance(note=f"held-out loss {run['loss_before']:.3f} -> {run['loss_after']:.3f}: {run['verdict']}")

    def look(self, answer: Callable[[], Figures | None]) -> None:
        """Tell the answer of a search, and the drift from the first half of the logs to the second."""
        from jobs.demo_search import drift_of_halves

        with self.stages.stage("search", "a question, and drift within the logs") as advance:
            found, drifted = answer(), drift_of_halves(self.lake)
            self.figures["search"] = found
            self.figures["drift"] = asdict(drifted) if drifted else None
            told = f"{found['score']:.2f} for “{found['question']}”" if found else "no turn fits"
            advance(note=f"{told}; drift {drifted.score:.3f}, p = {drifted.p_value:.2f}" if drifted else told)

    def check(self) -> None:
        """Account for every record, and look for every planted value in all that the lake holds, decoded."""
        from pipelines.adapters.duck import connect
        from pipelines.conversations.accounting import accounts
        from pipelines.privacy.lake_scanner import scan
        from pipelines.synthetic.log_files import read_planted

        with self.stages.stage("check", "accounts, and a decoding scan for planted values") as advance:
            found = accounts(connect(self.lake))
            self.figures |= {"repeats": found.repeats, "accounts": found.figures()}
            planted = [] if self.inputs else read_planted(self.logs)
            report = scan(self.lake.path, [one.value for one in planted], types=[one.type for one in planted])
            self.figures["planted_personal_values"] = len(planted) if not self.inputs else None
            self.figures["left_personal_values"] = len(report.found) if not self.inputs else None
            self.figures["left_by_type"] = report.found_by_type
            self.figures["files_not_understood"] = len(report.not_understood)
            advance(note=f"{found.records:,} records accounted for; {len(planted):,} planted, {len(report.found)} left")
        if not found.balanced or found.records != self.figures["records_acked"]:
            raise UserError(f"the accounts do not add up: {found.figures()}", Exit.DATA_GAP)
        if report.found or report.not_understood:
            raise UserError(
                f"the scan of the lake found {len(report.found)} planted values ({report.found_by_type}) "
                f"and {len(report.not_understood)} files that it could not read; see --json",
            )

    def counting(self, advance: Advance, total: int | None = None) -> Any:
        """Return a watch that moves the bar by the rows read."""
        return lambda rows: advance(rows if total else None, total, f"{rows:,} rows")

    def count(self, what: str) -> int:
        """Count rows of a table of the lake."""
        from pipelines.adapters.duck import connect

        return int(connect(self.lake).sql(f"SELECT count(*) FROM {what}").fetchall()[0][0])  # noqa: S608


def tell(settings: Settings, figures: Figures, inputs: Sequence[Path]) -> None:
    """Show what came out and what to try next."""
    shown = RichTable("what came out", "", title="From a chat log to a fine-tuned model", show_header=False)
    accounts = figures["accounts"]
    rows: list[tuple[str, Any]] = [
        ("records acknowledged by Kafka", figures["records_acked"]),
        ("items: turns / repeats / feedback / dead letters",
         f"{accounts['turns']:,} / {accounts['repeats']:,} / {accounts['feedback']:,} / {accounts['dead_letters']:,}"),
        ("conversations", figures["conversations"]),
        ("embeddings / index rows", f"{figures['embeddings']:,} / {figures['index_rows']:,}"),
        ("training examples", f"{figures['examples']:,} in {figures['dataset_version']}"),
    ]  # fmt: skip
    if figures["run_id"]:
        rows.append(
            ("held-out loss", f"{figures['loss_before']:.3f} -> {figures['loss_after']:.3f} ({figures['run_id']})")
        )
    if not inputs:
        planted, left = figures["planted_personal_values"], figures["left_personal_values"]
        rows.append(("personal values", f"{planted:,} planted, {left} left in the lake"))
    if figures["drift"]:
        score, p_value = figures["drift"]["score"], figures["drift"]["p_value"]
        rows.append(("drift, first half of the logs to second", f"{score:.3f} (p = {p_value:.2f})"))
    if figures["search"]:
        rows.append((f"nearest to “{figures['search']['question']}”", figures["search"]["text"][:SHOWN_CHARACTERS]))
    rows.append(("seconds", figures["seconds"]))
    for name, value in rows:
        shown.add_row(Text(name), Text(f"{value:,}" if isinstance(value, int) else str(value)))
    settings.console.print(shown)
    where = settings.lake.name if settings.lake.parent == Path.cwd() else str(settings.lake)
    settings.console.print("Next:")
    for line in (
        f'turnmill search "how do I get a refund" --lake {where}',
        'turnmill sql "select rule, count(*) from drops group by rule" --lake ' + where,  # noqa: S608 - shown, not run
        f"turnmill dead-letters list --lake {where}",
        "turnmill demo --input YOUR-LOGS.jsonl",
    ):
        settings.console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


@turnmill_command(
    "demo", lake_default=DEMO_LAKE, help="Run all of it here: from a chat log in Kafka to a fine-tuned model."
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILES…",
    help="Your own log files instead of generated ones.",
)
@click.argument("more", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="")
@click.option(
    "--conversations",
    type=click.IntRange(min=1),
    default=CONVERSATIONS,
    show_default=True,
    help="How many conversations to generate.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the generated logs.")
def command(
    settings: Settings, inputs: tuple[Path, ...], more: tuple[Path, ...], conversations: int, seed: int
) -> None:
    """Run the demo and show its figures."""
    if more and not inputs:
        raise click.UsageError(f"unexpected argument {more[0].name}: give your own logs as --input FILES")
    files = [path.absolute() for path in (*inputs, *more)]
    with Stages(settings.console, quiet=settings.json) as stages:
        figures = Demo(settings, stages, files, conversations, seed).run()
    if settings.json:
        settings.emit(figures)
    else:
        tell(settings, figures, files)


if __name__ == "__main__":
    command()
