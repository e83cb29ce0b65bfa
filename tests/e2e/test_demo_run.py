"""The whole way in one command, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.options import Exit

FIGURES = {
    "records_acked", "turns", "dead_letters", "conversations", "embeddings", "index_rows", "examples",
    "dataset_version", "run_id", "loss_before", "loss_after", "planted_personal_values", "left_personal_values",
    "repeats", "seconds", "search", "drift",
}  # fmt: skip


def turnmill(*arguments, folder, timeout=900):
    command = [str(Path(sys.executable).with_name("turnmill")), *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK_", "SPARK_", "TURNMILL_LAKE"))}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A finished demo: its folder and its figures."""
    folder = tmp_path_factory.mktemp("demo")
    done = turnmill("demo", "--json", "--conversations", 120, folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_the_demo_goes_from_a_chat_log_to_a_fine_tuned_model(demo):
    _, figures = demo
    assert figures.keys() >= FIGURES
    assert figures["left_personal_values"] == 0
    assert figures["planted_personal_values"] > 100
    assert figures["loss_after"] < figures["loss_before"]
    assert figures["accounts"]["balanced"]
    assert figures["search"]["text"]
    assert figures["search"]["score"] > 0.3
    assert figures["drift"]["score"] >= 0
    assert figures["drift"]["turns_before"] + figures["drift"]["turns_after"] == figures["index_rows"]
    assert figures["accounts"]["records"] == figures["records_acked"]
    assert min(figures[name] for name in ("turns", "dead_letters", "conversations", "embeddings", "index_rows")) > 0


def test_raw_text_does_not_outlive_the_demo(demo):
    folder, _ = demo
    assert not (folder / "turnmill-demo.kafka").exists()


def test_its_lake_answers_search_and_sql(demo):
    folder, figures = demo
    asked = turnmill(
        "sql", "select count(*) as n from turns", "--format", "json", "--lake", "turnmill-demo", folder=folder
    )
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["n"] == figures["turns"]
    found = turnmill("search", "how do I reset my password", "--json", "--lake", "turnmill-demo", folder=folder)
    assert found.returncode == 0, found.stderr
    hits = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(hits) == 10
    assert hits[0].keys() >= {"turn_id", "text", "score", "conversation_ref", "version"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    status = turnmill("status", "--json", "--lake", "turnmill-demo", folder=folder)
    assert json.loads(status.stdout)["accounts"]["balanced"]


def test_a_folder_that_is_no_demo_is_refused_and_left_alone(tmp_path):
    (tmp_path / "turnmill-demo").mkdir()
    (tmp_path / "turnmill-demo" / "thesis.txt").write_text("mine")
    refused = turnmill("demo", "--json", folder=tmp_path)
    assert refused.returncode == Exit.WRONG_USE
    assert "stays as it is" in refused.stderr
    assert (tmp_path / "turnmill-demo" / "thesis.txt").read_text() == "mine"
