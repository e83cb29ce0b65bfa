"""What a training run may be asked for, and the flags that ask for it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from jobs.candidate_trial import TrialOptions
from jobs.judge_choice import JUDGE_FLAGS, judge_endpoint
from jobs.launcher_choice import LAUNCHERS
from jobs.options import Settings
from pipelines.promotion.rule import PromotionRule
from pipelines.training.base_model import TINY
from pipelines.training.objectives import METHODS
from pipelines.training.run_spec import COMPRESSIONS, PARALLEL, Compression, Parallel, RunSpec

TINY_STEPS = 60
"""Most steps by default on the tiny base, which shows that the whole way works and learns little more after them."""
TINY_RATE, USUAL_RATE = 5e-3, 2e-4
"""Learning rates: measured for the tiny base; LoRA's usual one (QLoRA, arXiv 2305.14314, table 9) for all others."""
NODES = re.compile(r"([1-9]\d{0,4})(?::([1-9]\d{0,4}))?")
ENDPOINT = re.compile(r"[A-Za-z0-9.-]+:\d{1,5}|\[[0-9A-Fa-f:]+\]:\d{1,5}")


@dataclass(frozen=True)
class TrainOptions:
    """What a run may be asked for; None stands for a default that depends on base and data.

    ``nodes`` is a number of machines, or LEAST:MOST. ``method`` is sft, dpo, kto, or auto: what the rows of the dataset
    are for. ``lora_rank`` 0 trains all weights.
    """

    base: str = TINY
    method: str = "auto"
    max_steps: int | None = None
    nproc: int = 1
    nodes: str = "1"
    rdzv_endpoint: str | None = None
    batch_size: int = RunSpec.batch_size
    learning_rate: float | None = None
    max_length: int = RunSpec.max_length
    lora_rank: int = RunSpec.lora_rank
    micro_batch: int | None = None
    parallel: Parallel = "data"
    compression: Compression = "none"
    powersgd_rank: int = RunSpec.powersgd_rank
    adaptive_shares: bool = False
    canaries: bool = True
    max_restarts: int = 0
    launcher: str = "local"
    launcher_file: Path | None = None
    mlflow: str | None = None

    @property
    def node_range(self) -> tuple[int, int]:
        """Fewest and most machines."""
        return node_range(self.nodes)


def node_range(text: str) -> tuple[int, int]:
    """Return (least, most) machines of ``N`` or ``LEAST:MOST``; raises ``ValueError`` for anything else."""
    found = NODES.fullmatch(text)
    least, most = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= least <= most:
        raise ValueError("machines: wanted N, or LEAST:MOST with LEAST no larger than MOST, found neither")
    return least, most


def _checked_nodes(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        node_range(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return value


def _checked_endpoint(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not ENDPOINT.fullmatch(value):
        raise click.BadParameter("wanted HOST:PORT, found something else")
    return value


TRAIN_FLAGS = (
    click.option("--base", default=TINY, show_default=True, help="Made here, a local folder, or a hub name."),
    click.option(
        "--method",
        type=click.Choice(["auto", *METHODS]),
        default="auto",
        show_default=True,
        help="auto: what the rows of the dataset are for.",
    ),
    click.option(
        "--max-steps",
        type=click.IntRange(min=1),
        default=None,
        help=f"[default: about one epoch, at most {TINY_STEPS} on {TINY}]",
    ),
    click.option(
        "--nproc", type=click.IntRange(min=1), default=1, show_default=True, help="Processes on each machine."
    ),
    click.option(
        "--nnodes",
        "nodes",
        default="1",
        show_default=True,
        metavar="N|LEAST:MOST",
        callback=_checked_nodes,
        help="Machines; with LEAST:MOST the run goes on while LEAST are there, the one of the endpoint among them.",
    ),
    click.option(
        "--rdzv-endpoint",
        metavar="HOST:PORT",
        callback=_checked_endpoint,
        help="Where the machines of a run meet: this one, under a name that the others reach.",
    ),
    click.option(
        "--batch-size",
        type=click.IntRange(min=1),
        default=RunSpec.batch_size,
        show_default=True,
        help="Rows a process and step.",
    ),
    click.option(
        "--learning-rate",
        type=click.FloatRange(min=0, min_open=True),
        default=None,
        help=f"[default: {TINY_RATE:g} for {TINY}, {USUAL_RATE:g} for others]",
    ),
    click.option(
        "--max-length",
        type=click.IntRange(min=16),
        default=RunSpec.max_length,
        show_default=True,
        help="Tokens of a row; longer prompts lose their oldest tokens.",
    ),
    click.option(
        "--lora-rank",
        type=click.IntRange(min=0),
        default=RunSpec.lora_rank,
        show_default=True,
        help="Rank of the adapter; 0 trains all weights.",
    ),
    click.option(
        "--micro-batch",
        type=click.IntRange(min=1),
        default=None,
        help="Most rows that a process works through at a time, to bound its memory.  [default: --batch-size]",
    ),
    click.option(
        "--parallel",
        type=click.Choice(PARALLEL),
        default="data",
        show_default=True,
        help="What processes share: rows; also the weights (fsdp); or each layer (tensor).",
    ),
    click.option(
        "--compression",
        type=click.Choice(COMPRESSIONS),
        default="none",
        show_default=True,
        help="How processes exchange gradients.",
    ),
    click.option(
        "--powersgd-rank",
        type=click.IntRange(min=1),
        default=RunSpec.powersgd_rank,
        show_default=True,
        help="Rank of the matrices that stand for gradients.",
    ),
    click.option(
        "--adaptive-shares/--equal-shares",
        default=False,
        show_default=True,
        help="Give slow processes fewer rows of a step; the step stays the same.",
    ),
    click.option(
        "--canaries/--no-canaries",
        default=True,
        show_default=True,
        help="Plant invented secrets among the rows, to see whether the model keeps them.",
    ),
    click.option(
        "--max-restarts",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="How often processes that end badly start again, from the last checkpoint.",
    ),
    click.option(
        "--launcher", type=click.Choice(LAUNCHERS), default="local", show_default=True, help="Where the run runs."
    ),
    click.option(
        "--launcher-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        default=None,
        metavar="TOML",
        help="What the launcher needs to know.",
    ),
    click.option("--mlflow", metavar="URI", default=None, help="Record the finished run there too."),
)
TRIAL_FLAGS = (
    click.option("--promotion-rule", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=None,
                 metavar="TOML", help="What a candidate must show."),
    click.option("--regression", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=None,
                 metavar="JSONL", help="Fixed rows that must not get worse.  [default: the champion's held-out cut]"),
    click.option("--judge-url", default=None, metavar="URL",
                 help="Judge model behind an OpenAI-compatible API, for instance http://127.0.0.1:8000/v1. Prompts and "
                 "answers of the held-out cut go there; they hold no personal data, as all of a dataset."),
    click.option("--judge-model", default=None, metavar="NAME", help="Its name there."),
    click.option("--judge-key-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=None,
                 metavar="FILE", help="File with its key."),
    click.option("--judge-key-env", default=None, metavar="NAME", help="Environment variable with its key instead."),
    click.option("--judge-at-once", type=click.IntRange(1, 64), default=4, show_default=True,
                 help="Comparisons that it is asked for at a time."),
    click.option("--judge-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
                 metavar="SECONDS", help="Wait for an answer."),
    click.option("--judge-private", is_flag=True, help="It may be at a private address."),
    click.option("--promote/--no-promote", default=True, show_default=True, help="Move aliases by the verdict."),
)  # fmt: skip


def with_train_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags of a run and its trial to a command, which gets ``options`` and ``trial``."""

    @functools.wraps(function)
    def run(
        settings: Settings, *args: Any, promotion_rule: Path | None, regression: Path | None, promote: bool,
        judge_at_once: int, **rest: Any,
    ) -> Any:  # fmt: skip
        options = TrainOptions(**{f.name: rest.pop(f.name) for f in fields(TrainOptions)})
        rule = PromotionRule.read(promotion_rule) if promotion_rule else PromotionRule()
        judge = judge_endpoint(**{name: rest.pop(f"judge_{name}") for name in JUDGE_FLAGS})
        trial = TrialOptions(
            rule=rule, regression=regression, promote=promote, judge=judge, judged_at_once=judge_at_once
        )
        return function(settings, *args, options=options, trial=trial, **rest)

    wrapped: Callable[..., Any] = run
    for option in reversed((*TRAIN_FLAGS, *TRIAL_FLAGS)):
        wrapped = option(wrapped)
    return wrapped
