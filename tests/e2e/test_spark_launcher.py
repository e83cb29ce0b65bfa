"""A run inside Spark: real processes of TorchDistributor, on the driver and in the tasks of a barrier stage."""

import random

import orjson
import pytest

from pipelines.adapters.cluster_launchers import SparkDistributor
from pipelines.training.launch import follow
from pipelines.training.launchers import TrainingFailed
from pipelines.training.run_spec import RunSpec

pytestmark = pytest.mark.long

WORDS = ["sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain", "snow", "fire"]


def row(i):
    asked = random.Random(i).choices(WORDS, k=3)
    return {
        "prompt": [{"role": "user", "content": f"Turn round: {' '.join(asked)}"}],
        "completion": [{"role": "assistant", "content": " ".join(reversed(asked))}],
    }


@pytest.fixture(scope="module")
def places(tmp_path_factory, random_base):
    base, dataset = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("dataset")
    random_base(base, WORDS)
    for split, rows in (("train", range(32)), ("validation", range(100, 104))):
        (dataset / f"{split}.jsonl").write_bytes(b"".join(orjson.dumps(row(i)) + b"\n" for i in rows))
    return {"dataset": str(dataset), "base": str(base), "base_label": "b@1"}


def specified(places, **changes):
    fields = {"max_steps": 3, "nproc": 2, "batch_size": 4, "max_length": 64, "lora_rank": 4}
    return RunSpec("run-1", "ds-1", **places, **{**fields, **changes})


def test_tasks_of_spark_train_a_run_once_and_keep_its_output_in_the_run(spark, places, tmp_path, capfd):
    launcher, told = SparkDistributor(local=False), []
    assert launcher.status(tmp_path / "run").state == "absent"
    launcher.launch(specified(places), tmp_path / "run")
    result = follow(launcher, tmp_path / "run", lambda *steps: told.append(steps))
    assert (result.steps, result.nproc, told) == (3, 2, [(3, 3)])
    assert list((tmp_path / "run" / "adapter").glob("*.safetensors"))
    launcher.launch(specified(places), tmp_path / "run")
    assert (tmp_path / "run" / "starts").read_bytes() == b"."
    assert capfd.readouterr().out == ""


def test_a_run_that_the_driver_cannot_end_well_fails_typed_and_quotes_nothing(spark, places, tmp_path):
    dataset = tmp_path / "ds"
    dataset.mkdir()
    for split in ("train", "validation"):
        (dataset / f"{split}.jsonl").write_bytes(orjson.dumps({"prompt": "a private sentence"}) + b"\n")
    launcher = SparkDistributor()
    launcher.launch(specified(places | {"dataset": str(dataset)}, nproc=1), tmp_path / "run")
    with pytest.raises(TrainingFailed) as failed:
        follow(launcher, tmp_path / "run")
    assert "private" not in str(failed.value)
    assert launcher.status(tmp_path / "run").state == "stopped"
    assert "Traceback" in launcher.logs(tmp_path / "run")
    assert "private" not in launcher.logs(tmp_path / "run")
    assert not launcher.cancel(tmp_path / "run")
