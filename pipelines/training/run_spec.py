"""What a training run is asked to do and what it reports: the two JSON files that launcher and worker exchange."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

import orjson

from pipelines.durable_files import replace_file
from pipelines.training.objectives import Method

SPEC_FILE, RESULT_FILE, PROGRESS_FILE, LOG_FILE, ADAPTER_FOLDER = (
    "spec.json",
    "result.json",
    "progress.jsonl",
    "train.log",
    "adapter",
)
PLANTED_FILE = "planted.jsonl"
"""Rows that the run is trained on beside its dataset: canaries."""
LEAST_STEPS, MOST_STEPS = 20, 2000
Compression = Literal["none", "fp16", "bf16", "powersgd"]
COMPRESSIONS: tuple[Compression, ...] = ("none", "fp16", "bf16", "powersgd")
Parallel = Literal["data", "fsdp", "tensor"]
PARALLEL: tuple[Parallel, ...] = ("data", "fsdp", "tensor")
NOT_IN_DIGEST = ("dataset", "base", "max_restarts", "least_nodes", "rendezvous", "report_steps", "collective_seconds")
"""Fields that say where and how a run is carried out and leave what it computes as it is."""


def timed_name(prefix: str, at: dt.datetime, token: str) -> str:
    """Return a name that sorts by its time, for instance ``run-20260101T093000-9f3c``."""
    return f"{prefix}-{at:%Y%m%dT%H%M%S}-{token}"


def default_steps(n_train: int, rows_a_step: int) -> int:
    """Return steps for about one epoch, between 20 and 2,000, so that neither a tiny nor a huge set surprises."""
    return min(max(math.ceil(n_train / rows_a_step), LEAST_STEPS), MOST_STEPS)


@dataclass(frozen=True)
class RunSpec:
    """A fine-tuning run, pinned for all its processes. Lengths are tokens, ``batch_size`` rows a process and step."""

    run_id: str
    dataset_version: str
    dataset: str
    """Folder that holds train.jsonl and validation.jsonl."""
    base: str
    """Folder of the base model."""
    base_label: str
    dataset_hash: str = ""
    """Content hash of the dataset version."""
    method: Method = "sft"
    max_steps: int = 60
    nproc: int = 1
    batch_size: int = 8
    learning_rate: float = 5e-3
    max_length: int = 512
    lora_rank: int = 16
    """Rank of the adapter; 0 trains all weights."""
    lora_alpha: int = 32
    train_embeddings: bool = False
    """Also train the (tied) embeddings: for a base whose pretraining never saw most tokens of the data."""
    evaluation_rows: int = 256
    """Most rows of the validation split that the loss is measured on, the first by example_id (a hash)."""
    seed: int = 0
    beta: float = 0.1
    """How near DPO and KTO stay to the base (Rafailov et al., arXiv 2305.18290, section 6: 0.1)."""
    save_steps: int = 0
    """Steps from one checkpoint to the next; 0 keeps none."""
    max_restarts: int = 0
    """How often torchrun starts the processes again after one ended badly; they go on from the last checkpoint."""
    nodes: int = 1
    """Machines of ``nproc`` processes each. The batch of a step is that of all of them, also where fewer have come."""
    least_nodes: int = 0
    """Machines that are enough to go on with (torchrun's elastic rendezvous); 0: all of them."""
    rendezvous: str = ""
    """HOST:PORT where the machines of a run meet; empty for one machine."""
    micro_batch: int = 0
    """Most rows that a process works through at a time, to bound its memory; 0: ``batch_size``."""
    adaptive_shares: bool = False
    """Give each process rows in proportion to its measured speed."""
    parallel: Parallel = "data"
    """What processes share: the rows of a step (data); also the weights, layer by layer (fsdp); each layer (tensor)."""
    compression: Compression = "none"
    """In which form processes exchange gradients."""
    powersgd_rank: int = 1
    powersgd_warmup: int = 0
    """Steps before PowerSGD begins; 0: a tenth of all."""
    report_steps: int = 10
    """Steps from one report on the processes to the next; shares move no more often."""
    collective_seconds: float = 600.0
    """A collective that waits longer ends the process: another one hangs or is gone."""

    @property
    def digest(self) -> str:
        """SHA-256 over all that the run depends on, folders of a machine left out; equal for all its processes."""
        told = {k: v for k, v in asdict(self).items() if k not in NOT_IN_DIGEST}
        return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def rows_a_step(self) -> int:
        """Rows of a step, of all processes together."""
        return self.batch_size * self.nproc * self.nodes

    @property
    def rows_wanted(self) -> int:
        """Rows that all steps of all processes consume; a larger train split is read no further."""
        return self.max_steps * self.rows_a_step

    def write(self, folder: Path) -> Path:
        """Write the specification into the run's folder, whole or not at all, and return its path."""
        path = folder / SPEC_FILE
        replace_file(path, orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        return path

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote."""
        return cls(**_known(cls, orjson.loads(path.read_bytes())))


@dataclass(frozen=True)
class RunResult:
    """Figures of a finished run. Losses are the objective on the validation split, before and after.

    For supervised rows that is nats a completion token (``objectives.objective`` tells the others).
    """

    loss_before: float
    loss_after: float
    train_loss: float
    steps: int
    tokens: int
    """Tokens that the steps saw, prompts and completions, padding left out."""
    seconds: float
    rows_train: int
    rows_validation: int
    rows_prompt_cut: int
    """Rows whose prompt lost its oldest tokens to fit ``max_length``."""
    rows_too_long: int
    """Rows left out because the completion alone does not fit ``max_length``."""
    nproc: int
    device: str = "cpu"
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def metrics(self) -> dict[str, float]:
        """All numbers by name, as ``training_runs.metrics`` holds them; perplexity is e to the loss."""
        numbers = {k: float(v) for k, v in asdict(self).items() if isinstance(v, int | float)}
        perplexities = {
            "perplexity_before": math.exp(min(self.loss_before, 50.0)),
            "perplexity_after": math.exp(min(self.loss_after, 50.0)),
        }
        return numbers | perplexities | self.extra

    def write(self, folder: Path) -> None:
        """Write the result into the run's folder, whole or not at all: it alone tells that the run succeeded."""
        content = orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        replace_file(folder / RESULT_FILE, content)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what ``write`` wrote; raises ``FileNotFoundError`` for a run that did not finish."""
        return cls(**_known(cls, orjson.loads((folder / RESULT_FILE).read_bytes())))


def _known(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Keep the fields that ``cls`` has, so that a newer file can be read by an older version."""
    names = {f.name for f in fields(cls)}
    return {k: v for k, v in values.items() if k in names}
