"""The trainer by itself: three methods, adapter or all weights, resumed from whole checkpoints only."""

import os
import random
import subprocess
import sys
import threading
import time

import orjson
import psutil
import pytest
import torch
from safetensors.torch import load_file

from pipelines.training.base_model import TinyRecipe, resolve_base
from pipelines.training.checkpoints import MANIFEST, latest_complete
from pipelines.training.launch import LocalTorchrun
from pipelines.training.launchers import TrainingFailed
from pipelines.training.polite_threads import polite_threads
from pipelines.training.process_group import ProcessGroup
from pipelines.training.run_spec import RunResult, RunSpec
from pipelines.training.trainers import CHECKPOINTS
from pipelines.training.worker import train

pytestmark = pytest.mark.long

WORDS = ["sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain", "snow", "fire"]
RECIPE = TinyRecipe(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, steps=30, batch_size=8,
                    sequence_length=64)  # fmt: skip


def talks():
    choose = random.Random(7)
    for _ in range(200):
        asked = " ".join(choose.choices(WORDS, k=5))
        yield [{"role": "user", "content": f"Say {asked}."}, {"role": "assistant", "content": f"You said {asked}."}]


def row(method, i):
    asked = random.Random(i).choices(WORDS, k=3)
    prompt = [{"role": "user", "content": f"Turn round: {' '.join(asked)}"}]
    good = [{"role": "assistant", "content": f"Turned: {' '.join(reversed(asked))}!"}]
    bad = [{"role": "assistant", "content": f"No. {asked[0]}?"}]
    if method == "sft":
        return {"prompt": prompt, "completion": good}
    if method == "dpo":
        return {"prompt": prompt, "chosen": good, "rejected": bad}
    return {"prompt": prompt, "completion": good if i % 3 else bad, "label": bool(i % 3)}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return resolve_base("turnmill-tiny", tmp_path_factory.mktemp("cache"), talks, recipe=RECIPE)


def specified(tmp_path, base, method, **changes):
    folder = tmp_path / "ds"
    folder.mkdir(exist_ok=True)
    for split, places in (("train", range(96)), ("validation", range(1000, 1016))):
        (folder / f"{split}.jsonl").write_bytes(b"".join(orjson.dumps(row(method, i)) + b"\n" for i in places))
    run = tmp_path / "run"
    run.mkdir(exist_ok=True)
    defaults = {"max_steps": 24, "batch_size": 8, "max_length": 128, "learning_rate": 5e-3, "train_embeddings": True}
    spec = RunSpec("run-1", "ds-1", str(folder), str(base.path), base.label, method=method, **{**defaults, **changes})
    return spec, run


def train_here(spec, run):
    with polite_threads():
        return train(spec, run, ProcessGroup(0, 1, torch.device("cpu")))


@pytest.mark.parametrize(("method", "rank"), [("dpo", 16), ("dpo", 0), ("kto", 16), ("sft", 0)])
def test_every_method_lowers_its_objective_on_rows_it_never_saw(tmp_path, base, method, rank):
    spec, run = specified(tmp_path, base, method, lora_rank=rank, learning_rate=5e-3 if rank else 1e-3)
    result = train_here(spec, run)
    assert result.steps == 24
    assert result.loss_after < result.loss_before - 0.2
    names = {p.name for p in (run / "adapter").iterdir()}
    assert ("adapter_model.safetensors" in names) == bool(rank)
    assert any(name.endswith(".safetensors") for name in names)


def test_a_row_of_another_form_ends_the_run(tmp_path, base):
    spec, run = specified(tmp_path, base, "dpo")
    (tmp_path / "ds" / "train.jsonl").write_bytes(orjson.dumps(row("sft", 1)) + b"\n")
    with pytest.raises(ValueError, match="wanted all in the form of dpo, found one in that of sft"):
        train_here(spec, run)


def test_a_killed_run_goes_on_from_its_last_whole_checkpoint_and_ends_with_the_same_weights(tmp_path, base):
    spec, whole = specified(tmp_path, base, "sft", max_steps=30, save_steps=5)
    through = train_here(spec, whole)
    killed = tmp_path / "killed"
    progress = killed / "progress.jsonl"

    watcher = threading.Thread(target=_kill_workers, args=(progress, 12), daemon=True)
    watcher.start()
    with pytest.raises(TrainingFailed):
        LocalTorchrun(dict(os.environ)).run(spec, killed)
    watcher.join(30)
    assert not (killed / "result.json").exists()
    sealed = latest_complete(killed / CHECKPOINTS, spec.digest)
    assert sealed is not None
    # A later checkpoint that was being written when the power went: it must not count.
    half = killed / CHECKPOINTS / "checkpoint-25"
    half.mkdir()
    (half / "adapter_model.safetensors").write_bytes(b"half")
    resumed = LocalTorchrun(dict(os.environ)).run(spec, killed)
    assert not half.exists() or (half / MANIFEST).is_file()
    assert resumed.extra["resumed_at_step"] == float(sealed.name.rpartition("-")[2]) >= 5
    assert (resumed.steps, resumed.loss_before) == (through.steps, pytest.approx(through.loss_before, rel=1e-4))
    assert resumed.loss_after == pytest.approx(through.loss_after, rel=0.02)
    for name, tensor in load_file(whole / "adapter" / "adapter_model.safetensors").items():
        other = load_file(killed / "adapter" / "adapter_model.safetensors")[name]
        assert (tensor - other).abs().max() < 0.05


def _kill_workers(progress, step):
    """Kill the workers of the run whose progress file this is, once it has written ``step`` lines."""
    while not (progress.is_file() and len(progress.read_bytes().splitlines()) >= step):
        time.sleep(0.02)
    for process in psutil.Process().children(recursive=True):
        command = process.cmdline()
        if "pipelines.training.worker" in command and "torch.distributed.run" not in command:
            process.kill()


def test_two_processes_with_different_specifications_end_with_a_clear_error(tmp_path):
    script = tmp_path / "join.py"
    script.write_text(
        "import os\nfrom pipelines.training.process_group import joined_processes\n"
        "with joined_processes({'base': 'one', 'specification': os.environ['RANK']}, 60): print('joined')\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode != 0
    assert "rank 1 on" in done.stderr
    assert "has another specification;" in done.stderr
    assert "joined" not in done.stdout


def test_an_unfinished_run_has_no_result(tmp_path):
    with pytest.raises(FileNotFoundError):
        RunResult.read(tmp_path)
