"""A run inside Spark: real processes of TorchDistributor, on the driver and in the tasks of a barrier stage."""

import orjson
import pytest

from pipelines.adapters.cluster_launchers import SparkDistributor
from pipelines.training.launch import follow
from pipelines.training.launchers import TrainingFailed
from pipelines.training.run_spec import RunSpec

pytestmark = pytest.mark.long


def specified(run_places, **changes):
    fields = {"max_steps": 3, "nproc": 2, "batch_size": 4, "max_length": 64, "lora_rank": 4}
    return RunSpec("run-1", "ds-1", **run_places, **{**fields, **changes})


def test_tasks_of_spark_train_a_run_once_and_keep_its_output_in_the_run(spark, run_places, tmp_path, capfd):
    launcher, told = SparkDistributor(local=False), []
    assert launcher.status(tmp_path / "run").state == "absent"
    launcher.launch(specified(run_places), tmp_path / "run")
    result = follow(launcher, tmp_path / "run", lambda *steps: told.append(steps))
    assert (result.steps, result.nproc, told) == (3, 2, [(3, 3)])
    assert list((tmp_path / "run" / "adapter").glob("*.safetensors"))
    launcher.launch(specified(run_places), tmp_path / "run")
    assert (tmp_path / "run" / "starts").read_bytes() == b"."
    assert capfd.readouterr().out == ""


def test_a_run_that_the_driver_cannot_end_well_fails_typed_and_quotes_nothing(spark, run_places, tmp_path):
    dataset = tmp_path / "ds"
    dataset.mkdir()
    for split in ("train", "validation"):
        (dataset / f"{split}.jsonl").write_bytes(orjson.dumps({"prompt": "a private sentence"}) + b"\n")
    launcher = SparkDistributor()
    launcher.launch(specified(run_places | {"dataset": str(dataset)}, nproc=1), tmp_path / "run")
    with pytest.raises(TrainingFailed) as failed:
        follow(launcher, tmp_path / "run")
    assert "private" not in str(failed.value)
    assert launcher.status(tmp_path / "run").state == "stopped"
    assert "Traceback" in launcher.logs(tmp_path / "run")
    assert "private" not in launcher.logs(tmp_path / "run")
    assert not launcher.cancel(tmp_path / "run")
