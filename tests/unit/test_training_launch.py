"""One run a key, whoever asks and however often; a folder tells where its run stands."""

import os
import subprocess
import sys

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.adapters.kafka_events import read_request
from pipelines.training.checkpoints import MANIFEST, drop_incomplete, drop_older, latest_complete, seal_checkpoint
from pipelines.training.launch import LocalTorchrun
from pipelines.training.launchers import recorded_status, run_name
from pipelines.training.run_lock import WORKER_LOCK, is_alive, is_held, take
from pipelines.training.run_spec import RESULT_FILE, RunSpec
from pipelines.training.signals import is_good, mean_drift


def checkpoint(folder, step, content=b"weights"):
    made = folder / f"checkpoint-{step}"
    made.mkdir(parents=True)
    (made / "adapter_model.safetensors").write_bytes(content)
    (made / "optimizer.pt").write_bytes(b"state")
    return made


@given(st.text(max_size=30), st.text(max_size=30))
def test_equal_keys_give_one_run_and_other_keys_another(one, other):
    assert (run_name(one) == run_name(other)) == (one == other)
    assert run_name(one) == run_name(one)


def test_the_name_of_a_run_keeps_the_time_of_its_key():
    assert run_name("decision-20260101T093000-9f3c").startswith("run-20260101T093000-")


def test_a_checkpoint_without_its_manifest_does_not_count(tmp_path):
    seal_checkpoint(checkpoint(tmp_path, 5), "spec")
    checkpoint(tmp_path, 10)
    assert latest_complete(tmp_path, "spec").name == "checkpoint-5"
    assert drop_incomplete(tmp_path, "spec") == ["checkpoint-10"]
    assert latest_complete(tmp_path, "spec").name == "checkpoint-5"


@pytest.mark.parametrize("harm", ["changed", "shorter", "missing", "manifest"])
def test_a_harmed_checkpoint_does_not_count(tmp_path, harm):
    made = checkpoint(tmp_path, 5)
    seal_checkpoint(made, "spec")
    weights = made / "adapter_model.safetensors"
    match harm:
        case "changed":
            weights.write_bytes(b"Weights")
        case "shorter":
            weights.write_bytes(b"weight")
        case "missing":
            weights.unlink()
        case "manifest":
            (made / MANIFEST).write_bytes(b"{")
    assert latest_complete(tmp_path, "spec") is None


def test_a_checkpoint_of_another_run_does_not_count(tmp_path):
    seal_checkpoint(checkpoint(tmp_path, 5), "spec")
    assert latest_complete(tmp_path, "other") is None


def test_old_checkpoints_go_and_the_one_being_written_stays(tmp_path):
    for step in (5, 10, 15):
        seal_checkpoint(checkpoint(tmp_path, step), "spec")
    checkpoint(tmp_path, 20)
    drop_older(tmp_path, kept=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-15", "checkpoint-20"]


def test_a_lock_is_held_while_a_process_lives_and_no_longer(tmp_path):
    (tmp_path / WORKER_LOCK).touch()
    code = (
        "import sys, pathlib\nfrom pipelines.training.run_lock import take\n"
        "assert take(pathlib.Path(sys.argv[1])) is not None\nprint('held', flush=True)\nsys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / WORKER_LOCK)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    assert is_alive(tmp_path)
    assert take(tmp_path / WORKER_LOCK) is None
    holder.kill()
    holder.wait()
    assert not is_held(tmp_path / WORKER_LOCK)


def test_a_run_that_is_done_or_alive_is_not_launched_again(tmp_path):
    spec = RunSpec("run-1", "ds-1", "nowhere", "nowhere", "base@1")
    (tmp_path / RESULT_FILE).write_bytes(b"{}")
    LocalTorchrun(dict(os.environ)).launch(spec, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [RESULT_FILE]
    (tmp_path / RESULT_FILE).unlink()
    handle = take(tmp_path / WORKER_LOCK)
    LocalTorchrun(dict(os.environ)).launch(spec, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [WORKER_LOCK]
    os.close(handle)


def test_a_folder_tells_where_its_run_stands(tmp_path):
    assert recorded_status(tmp_path / "none", is_alive=False).state == "absent"
    lines = [{"step": 1, "steps": 9, "eta_seconds": 8.0, "loss": None}, {"step": 2, "steps": 9, "eta_seconds": 7.0}]
    (tmp_path / "progress.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines) + b'{"step": 3')
    running = recorded_status(tmp_path, is_alive=True)
    assert (running.state, running.step, running.steps, running.eta_seconds) == ("running", 2, 9, 7.0)
    assert recorded_status(tmp_path, is_alive=False).state == "stopped"
    (tmp_path / RESULT_FILE).write_bytes(b"{}")
    assert recorded_status(tmp_path, is_alive=False).state == "succeeded"


def test_a_digest_is_that_of_what_is_trained_and_not_of_where(tmp_path):
    spec = RunSpec("run-1", "ds-1", "/a", "/b", "base@1")
    assert RunSpec("run-1", "ds-1", "/c", "/d", "base@1", max_restarts=3).digest == spec.digest
    assert RunSpec("run-1", "ds-1", "/a", "/b", "base@1", learning_rate=1e-4).digest != spec.digest
    assert RunSpec.read(spec.write(tmp_path)) == spec


@pytest.mark.parametrize(
    "value",
    [None, b"", b"{", b"[]", b'{"type": "training.decided", "id": "d"}', b'{"type": "training.wanted"}',
     b'{"type": "training.wanted", "id": "a b"}', b'{"type": "training.wanted", "id": 3}', b" " * 70_000],
)  # fmt: skip
def test_a_record_that_asks_for_nothing_is_no_request(value):
    assert read_request(value) is None


def test_a_request_names_its_event_and_tenant():
    request = read_request(b'{"type": "training.wanted", "id": "e-1", "tenant": "acme"}')
    assert (request.event_id, request.tenant) == ("e-1", "acme")


def test_drift_is_none_for_equal_sets_and_grows_with_the_angle():
    draw = np.random.default_rng(1)
    one = draw.normal(1, 0.1, (50, 8)).astype(np.float32)
    other = one.copy()
    other[:, :4] *= -1
    assert mean_drift(one, one) == pytest.approx(0, abs=1e-6)
    assert mean_drift(one, other) == pytest.approx(1, abs=0.05)
    assert mean_drift(one, -one) == pytest.approx(2, abs=1e-6)
    assert mean_drift(one, one[:0]) is None


@pytest.mark.parametrize(
    ("kind", "value", "good"),
    [("thumb", 1.0, True), ("thumb", -1.0, False), ("stars", 4.0, True), ("stars", 3.0, False), ("edit", None, False),
     ("copy", None, True), ("thumb", None, None), ("score", 0.7, None)],
)  # fmt: skip
def test_a_rating_is_good_bad_or_does_not_say(kind, value, good):
    assert is_good(kind, value) is good
