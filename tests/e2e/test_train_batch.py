"""Training for real: a tiny base made on the spot, torchrun, LoRA; a run that fails leaves no model."""

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import time

import orjson
import pyarrow as pa
import pytest
import torch
from rich.console import Console

from jobs.options import Settings, UserError
from jobs.train_batch import TrainOptions, train_lake
from pipelines.adapters import delta
from pipelines.adapters.jars import cache_folder
from pipelines.datasets.version import EXAMPLE_SCHEMA, publish, write_version
from pipelines.training.base_model import BaseModelMissing, TinyRecipe, resolve_base
from pipelines.training.encoded_rows import encode_split, mean_loss, read_jsonl
from pipelines.training.launch import LocalTorchrun
from pipelines.training.launchers import TrainingFailed, run_name
from pipelines.training.model_folder import load_model
from pipelines.training.run_lock import is_alive
from pipelines.training.run_spec import RunSpec
from schemas import DATASET_VERSIONS, MODEL_VERSIONS, TRAINING_EXAMPLES, TRAINING_RUNS, TRIGGER_DECISIONS

RECIPE = TinyRecipe(
    vocab_size=512,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    steps=30,
    batch_size=8,
    sequence_length=64,
)
STEPS = 20
MARK = "zanzibar-quokka"


def talks():
    words = ["sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain", "snow", "fire"]
    choose = random.Random(7)
    for _ in range(200):
        asked = " ".join(choose.choices(words, k=5))
        yield [{"role": "user", "content": f"Say {asked}."}, {"role": "assistant", "content": f"You said {asked}."}]


def message(role, text):
    return {"role": role, "text": text, "tool_calls": [], "tool_call_id": None}


def written(folder, n=60):
    rows = [
        TRAINING_EXAMPLES.row(
            example_id=f"e{i:04d}",
            prompt=[message("user", f"Where does bird {i} sleep? {MARK}")],
            completion=[message("assistant", f"Bird {i} sleeps under the red bridge, always.")],
            split="validation" if i % 6 == 0 else "train",
        )
        for i in range(n)
    ]
    for row in rows:
        del row["dataset_version"]
    return write_version(pa.Table.from_pylist(rows, schema=EXAMPLE_SCHEMA).to_batches(), folder), rows


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache without models; the jars are those of the machine."""
    folder = tmp_path_factory.mktemp("cache")
    (cache_folder() / "jars").mkdir(parents=True, exist_ok=True)
    (folder / "jars").symlink_to(cache_folder() / "jars")
    return folder


@pytest.fixture
def dataset(spark, lake):
    """A published version with its rows."""
    version, rows = written(lake.path / "staging")
    name = version.dataset_version
    manifest = {"content_hash": version.content_hash, "sha256": dict(version.sha256)}
    publish(lake.path / "staging", lake.dataset(name), manifest)
    told = [{**row, "dataset_version": name} for row in rows]
    delta.append(spark.createDataFrame(told, TRAINING_EXAMPLES.spark_schema), lake, TRAINING_EXAMPLES)
    row = DATASET_VERSIONS.row(
        dataset_version=name, content_hash=version.content_hash, n_examples=60, n_train=50, n_validation=10
    )
    delta.append(spark.createDataFrame([row], DATASET_VERSIONS.spark_schema), lake, DATASET_VERSIONS)
    return name


@pytest.fixture
def settings(spark, lake, cache, monkeypatch):  # the session starts first: its jars are in the cache too
    monkeypatch.setenv("TURNMILL_CACHE", str(cache))
    monkeypatch.setattr("jobs.train_batch.carrier_texts", lambda n, seed: talks())
    return Settings(lake.path, lake.path.with_name("keys"), json=True, console=Console(quiet=True))


def test_a_run_lowers_the_held_out_loss_and_makes_a_model_that_loads(spark, lake, dataset, settings):
    decision = TRIGGER_DECISIONS.row(decision_id="d-1", dataset_version=dataset)
    delta.append(spark.createDataFrame([decision], TRIGGER_DECISIONS.spark_schema), lake, TRIGGER_DECISIONS)
    steps = []
    figures = train_lake(
        settings,
        options=TrainOptions(max_steps=STEPS, max_length=128),
        decision_id="d-1",
        progress=lambda step, total: steps.append((step, total)),
        recipe=RECIPE,
    )
    assert figures["loss_after"] < 0.85 * figures["loss_before"]
    assert figures["steps"] == STEPS
    assert steps[-1] == (STEPS, STEPS)
    [run] = delta.read(spark, lake, TRAINING_RUNS).collect()
    assert (run.state, run.dataset_version, run.failure) == ("succeeded", dataset, None)
    assert run.base.startswith("turnmill-tiny@")
    assert run.metrics["loss_after"] == figures["loss_after"]
    assert run.started_at < run.ended_at
    [model] = delta.read(spark, lake, MODEL_VERSIONS).collect()
    assert (model.run_id, model.parent) == (run.run_id, run.base)
    tuned, tokenizer = load_model(lake.path / model.path)
    held_out = encode_split(tokenizer, read_jsonl(lake.dataset(dataset) / "validation.jsonl"), 128, 99).rows
    loss = mean_loss(tuned, held_out, tokenizer.pad_token_id, torch.device("cpu"))
    assert loss == pytest.approx(figures["loss_after"], rel=1e-3)
    assert delta.read(spark, lake, TRIGGER_DECISIONS).collect()[0].run_id == run.run_id
    log = (lake.run(run.run_id) / "train.log").read_text()
    assert "'loss'" in log
    assert MARK not in log
    assert "bridge" not in log
    config = json.loads((lake.path / model.path / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "turnmill-tiny"
    assert model.verdict in ("promote", "hold", "reject")
    assert model.verdict_reason.endswith(".")
    assert model.alias == {"promote": "champion", "hold": "challenger", "reject": None}[model.verdict]
    assert model.evaluation["loss"] == pytest.approx(figures["loss_after"], rel=1e-3)
    assert run.trigger_key == "d-1"
    names = {path.name for path in (lake.path / model.path).rglob("*") if path.is_file()}
    assert {"README.md", "evaluation.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth", ".pkl"))]
    again = train_lake(settings, decision_id="d-1", recipe=RECIPE)
    assert (again["run_id"], again["model_version"]) == (run.run_id, model.model_version)
    assert delta.read(spark, lake, TRAINING_RUNS).count() == delta.read(spark, lake, MODEL_VERSIONS).count() == 1


def test_a_failed_run_is_told_in_one_sentence_and_leaves_no_model(spark, lake, dataset, settings):
    abandoned = TRAINING_RUNS.row(run_id="run-0", state="running", started_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    delta.append(spark.createDataFrame([abandoned], TRAINING_RUNS.spark_schema), lake, TRAINING_RUNS)
    with pytest.raises(UserError, match="failed: The training processes ended with code"):
        train_lake(settings, options=TrainOptions(max_steps=2, max_length=16), recipe=RECIPE)
    runs = {run.run_id: run for run in delta.read(spark, lake, TRAINING_RUNS).collect()}
    assert (runs["run-0"].state, runs["run-0"].failure) == ("failed", "It ended without a result.")
    [failed] = [run for name, run in runs.items() if name != "run-0"]
    assert failed.state == "failed"
    assert "code" in failed.failure
    assert delta.read(spark, lake, MODEL_VERSIONS).isEmpty()


def test_a_dataset_that_changed_on_disk_is_not_trained_on(lake, dataset, settings):
    with (lake.dataset(dataset) / "train.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(UserError, match="not what was published"):
        train_lake(settings, recipe=RECIPE)


DRIVER = """
import importlib.util, sys
from pathlib import Path
from rich.console import Console
from jobs import train_batch
from jobs.options import Settings

loaded = importlib.util.spec_from_file_location("training_test", sys.argv[3])
test = importlib.util.module_from_spec(loaded)
loaded.loader.exec_module(test)
train_batch.carrier_texts = lambda n, seed: test.talks()
lake = Path(sys.argv[1])
settings = Settings(lake, lake.with_name("keys"), json=True, console=Console(quiet=True))
options = train_batch.TrainOptions(max_steps=400, max_length=128)
train_batch.train_lake(settings, options=options, decision_id=sys.argv[2], recipe=test.RECIPE)
"""


@pytest.mark.long
def test_a_launcher_killed_before_it_recorded_leaves_one_run_and_one_model(spark, lake, dataset, settings, tmp_path):
    key = "decision-20260101T093000-0a1b2c3d"
    folder = lake.run(run_name(key))
    with (tmp_path / "driver.log").open("wb") as log:
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(lake.path), key, __file__], stdout=log, stderr=log)
        while not (folder / "progress.jsonl").is_file():
            assert driver.poll() is None, (tmp_path / "driver.log").read_text()
            time.sleep(0.1)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert is_alive(folder)
    [left] = delta.read(spark, lake, TRAINING_RUNS).collect()
    assert (left.run_id, left.state) == (run_name(key), "running")
    figures = train_lake(settings, decision_id=key, recipe=RECIPE)
    assert not is_alive(folder)
    steps = [orjson.loads(line)["step"] for line in (folder / "progress.jsonl").read_bytes().splitlines()]
    assert steps == [*range(1, 401)]
    [run] = delta.read(spark, lake, TRAINING_RUNS).collect()
    [model] = delta.read(spark, lake, MODEL_VERSIONS).collect()
    assert (run.state, model.run_id, figures["model_version"]) == ("succeeded", run.run_id, model.model_version)


def test_an_unknown_dataset_is_told(spark, lake, settings):
    with pytest.raises(UserError, match="wanted ds-none that passed the gate"):
        train_lake(settings, dataset="ds-none", recipe=RECIPE)


def test_two_processes_train_as_one_run(cache, tmp_path):
    base = resolve_base("turnmill-tiny", cache, talks, recipe=RECIPE)
    version, _ = written(tmp_path / "ds")
    spec = RunSpec(
        "run-1", version.dataset_version, str(tmp_path / "ds"), str(base.path), base.label,
        max_steps=10, nproc=2, batch_size=4, max_length=128,
    )  # fmt: skip
    result = LocalTorchrun(dict(os.environ)).run(spec, tmp_path / "run")
    assert result.nproc == 2
    assert result.loss_after < result.loss_before
    assert [orjson.loads(line)["step"] for line in (tmp_path / "run" / "progress.jsonl").read_bytes().splitlines()] == [
        *range(1, 11)
    ]


def test_a_launch_without_its_data_fails_and_quotes_nothing(cache, tmp_path):
    base = resolve_base("turnmill-tiny", cache, talks, recipe=RECIPE)
    spec = RunSpec("run-1", "ds-1", str(tmp_path / "nowhere"), str(base.path), base.label, max_steps=2)
    with pytest.raises(TrainingFailed, match="code 1"):
        LocalTorchrun(dict(os.environ)).run(spec, tmp_path / "run")
    assert not (tmp_path / "run" / "result.json").exists()


def test_the_tiny_base_is_made_once_and_again_only_for_other_texts(cache):
    made = resolve_base("turnmill-tiny", cache, talks, recipe=RECIPE)
    before = (made.path / "model.safetensors").stat().st_mtime_ns
    assert resolve_base("turnmill-tiny", cache, talks, recipe=RECIPE) == made
    assert (made.path / "model.safetensors").stat().st_mtime_ns == before
    other = resolve_base(
        "turnmill-tiny", cache, lambda: [*talks()][1:], recipe=TinyRecipe(**vars(RECIPE) | {"steps": 4})
    )
    assert other.fingerprint != made.fingerprint


def test_a_local_folder_is_a_base_and_one_without_safetensors_is_none(cache, tmp_path):
    made = resolve_base("turnmill-tiny", cache, talks, recipe=RECIPE)
    local = resolve_base(str(made.path), cache, talks)
    assert (local.path, local.name) == (made.path.resolve(), made.path.name)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BaseModelMissing, match="safetensors"):
        resolve_base(str(tmp_path), cache, talks)
