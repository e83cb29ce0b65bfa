"""The curate job on a lake: what passes is published once, what is held leaves nothing to train on."""

import datetime as dt
import json
import random
import shutil
from dataclasses import replace

import pytest
from rich.console import Console

from jobs.curate_batch import curate_lake
from jobs.curate_what_if import compare_policies
from jobs.options import Exit, Settings, UserError
from jobs.trigger_batch import decide
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.datasets.policy import Caps, CurationPolicy
from pipelines.datasets.policy_files import PREFERENCE
from pipelines.datasets.version import verify_version
from pipelines.privacy.keys import KeyFolder
from schemas import (
    CONVERSATIONS,
    DATASET_VERSIONS,
    DROPS,
    FEEDBACK,
    TRAINING_EXAMPLES,
    TRAINING_RUNS,
    TRIGGER_DECISIONS,
    TURN_SIGNALS,
    TURNS,
)

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
# Keys are new in each test: with a tenth of the users held out, a few dozen would now and then be all of one split.
HALF = CurationPolicy(validation_percent=50)
SPOKEN = "the harbour master counts blue herons"


@pytest.fixture
def settings(lake):
    keys = lake.path.with_name("lake.keys")
    KeyFolder(keys).open_or_create()
    return Settings(lake.path, keys, json=True, console=Console(quiet=True))


def fill(spark, lake, numbers, tenant="default", said=None):
    """Append one talk of two turns a number; every fifth answer is cut short. ``said`` has other texts by number."""
    turns, signals, conversations = [], [], []
    for nth in numbers:
        ids = [f"{tenant}-{nth}-{i}" for i in range(2)]
        shared = {"tenant": tenant, "root_id": f"{tenant}-{nth}", "created_at": START + dt.timedelta(minutes=nth)}
        texts = (said or {}).get(nth, (f"{SPOKEN} {nth}?", f"{SPOKEN} {nth} times."))
        for i, role in enumerate(("user", "assistant")):
            parent = ids[0] if i else shared["root_id"]
            finish = "length" if nth % 5 == 4 else "stop"
            turns.append(
                TURNS.row(**shared, turn_id=ids[i], parent_id=parent, role=role, text=texts[i], finish_reason=finish)
            )
            signals.append(TURN_SIGNALS.row(tenant=tenant, turn_id=ids[i]))
        conversations.append(
            CONVERSATIONS.row(
                tenant=tenant, conversation_id=shared["root_id"], root_id=shared["root_id"], turn_ids=ids,
                feedback=None, user_ref=f"user-{nth}", n_turns=2,
            )
        )  # fmt: skip
    for table, rows in ((TURNS, turns), (TURN_SIGNALS, signals), (CONVERSATIONS, conversations)):
        delta.append(spark.createDataFrame(rows, table.spark_schema), lake, table)


def publish_rows(spark, lake, version, n, at):
    """Append the rows of a dataset version that passed the gate."""
    examples = [TRAINING_EXAMPLES.row(dataset_version=version, example_id=f"e{i}") for i in range(n)]
    told = DATASET_VERSIONS.row(dataset_version=version, n_examples=n, created_at=at)
    for table, rows in ((TRAINING_EXAMPLES, examples), (DATASET_VERSIONS, [told])):
        delta.append(spark.createDataFrame(rows, table.spark_schema), lake, table)


def rows_of(spark, lake, table):
    return [row.asDict(recursive=True) for row in delta.read(spark, lake, table).collect()]


def test_a_passed_version_is_published_once_and_a_repeat_adds_no_rows(spark, lake, settings):
    fill(spark, lake, range(60))
    first = curate_lake(settings, policy=HALF)
    assert (first["examples"], first["drops"], first["gate"]) == (48, {"finish_reason": 12}, "passed")
    assert verify_version(lake.dataset(first["dataset_version"])) == []
    counts = [len(rows_of(spark, lake, table)) for table in (TRAINING_EXAMPLES, DROPS, DATASET_VERSIONS)]
    assert counts == [48, 12, 1]
    folder = lake.dataset(first["dataset_version"])
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    manifest = written["manifest.json"]
    shutil.rmtree(folder)
    second = curate_lake(settings, policy=HALF)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written
    assert second["dataset_version"] == first["dataset_version"]
    assert [len(rows_of(spark, lake, table)) for table in (TRAINING_EXAMPLES, DROPS, DATASET_VERSIONS)] == counts
    told = json.loads(manifest)
    assert told["drop_counts"] == {"finish_reason": 12}
    assert told["source_versions"] == {table.name: 1 for table in (CONVERSATIONS, TURNS, TURN_SIGNALS)}
    assert told["key_epochs"] == [1]
    assert told["source_offsets"] == {"turnmill.logs": {"0": 0}}
    assert told["shape"]["languages"] == {"en": 48}
    assert told["gate"]["rescan"] == {"examples": 48, "turns": 96, "unread_turns": 0}
    assert told["consent"]["withdrawals_version"] is None
    assert all(one["held"] for one in told["gate"]["expectations"])
    assert SPOKEN not in manifest.decode()
    assert not (lake.path / "datasets" / ".staging").exists()


def test_equal_rows_give_equal_bytes_in_whatever_order_they_came(spark, tmp_path, settings):
    numbers = list(range(60))
    random.Random(4).shuffle(numbers)
    cuts = []
    for name, batches in (("one", [sorted(numbers)]), ("two", [numbers[:25], numbers[25:]])):
        lake = Lake(tmp_path / name)
        for batch in batches:
            fill(spark, lake, batch)
        policy = replace(HALF, caps=Caps(tenant=30))
        cuts.append((lake, curate_lake(replace(settings, lake=lake.path), policy=policy)))
    (one, first), (two, second) = cuts
    assert first["dataset_version"] == second["dataset_version"]
    assert (first["examples"], first["drops"]) == (30, {"cap_tenant": 18, "finish_reason": 12})
    for file in ("train.jsonl", "validation.jsonl", "examples.parquet"):
        paths = [lake.dataset(first["dataset_version"]) / file for lake in (one, two)]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    drops = [sorted(map(str, rows_of(spark, lake, DROPS))) for lake in (one, two)]
    assert drops[0] == drops[1]


def test_a_repeat_in_other_words_and_an_item_of_a_benchmark_are_dropped_with_their_evidence(
    spark, lake, settings, tmp_path
):
    said = {
        60: ("How can I get the oven door off for cleaning it?", "Open it wide, close both hinge locks, lift it out."),
        61: ("How can I get the oven door off for cleaning it??", "Open it wide, close both hinge locks, lift it out!"),
        62: (
            "Name the port from which the brig Halcyon set sail for the island of Tern with her crew of nine.",
            "Dunmore.",
        ),
    }
    fill(spark, lake, [*range(40), 60, 61, 62], said=said)
    (tmp_path / "sails.jsonl").write_text(json.dumps({"id": "s1", "prompt": said[62][0]}) + "\n")
    cut = curate_lake(settings, policy=HALF, benchmarks=[tmp_path / "sails.jsonl"])
    dropped = {row["rule"]: row for row in rows_of(spark, lake, DROPS) if row["rule"] != "finish_reason"}
    assert dropped["contaminated"]["matched_id"] == "sails#s1"
    repeat = dropped.get("near_duplicate") or dropped["split_leak"]
    assert {repeat["subject_id"], repeat["matched_id"]} == {"default-60-1", "default-61-1"}
    assert repeat["score"] >= repeat["threshold"] == 0.8
    manifest = json.loads((lake.dataset(cut["dataset_version"]) / "manifest.json").read_bytes())
    [evidence] = manifest["contamination"]
    assert (evidence["item"], evidence["side"], evidence["verdict"]) == ("s1", "prompt", "contaminated")
    assert [(one["name"], one["items"]) for one in manifest["benchmarks"]] == [("sails", 1)]
    assert manifest["policy_hash"] == HALF.hash
    assert "Halcyon" not in json.dumps(manifest)


def test_what_if_counts_both_policies_by_rule_and_writes_nothing(spark, lake, settings, capsys):
    fill(spark, lake, range(40))
    before = sorted(path for path in lake.path.rglob("*") if not path.name.startswith("."))
    told = compare_policies(settings, CurationPolicy(), CurationPolicy(name="small", caps=Caps(tenant=10)), None)
    assert told["current"]["counts"] == {"kept": 32, "finish_reason": 8}
    assert told["what_if"]["counts"] == {"kept": 10, "cap_tenant": 22, "finish_reason": 8}
    assert json.loads(capsys.readouterr().out)["what_if"]["policy"] == "small"
    assert sorted(path for path in lake.path.rglob("*") if not path.name.startswith(".")) == before


def test_new_talk_makes_another_version_and_leaves_the_first_as_it_was(spark, lake, settings):
    fill(spark, lake, range(40))
    first = curate_lake(settings, policy=HALF)
    before = (lake.dataset(first["dataset_version"]) / "train.jsonl").read_bytes()
    fill(spark, lake, range(40, 80))
    second = curate_lake(settings, policy=HALF)
    assert second["dataset_version"] != first["dataset_version"]
    assert (lake.dataset(first["dataset_version"]) / "train.jsonl").read_bytes() == before
    versions = [row["dataset_version"] for row in rows_of(spark, lake, TRAINING_EXAMPLES)]
    assert (versions.count(first["dataset_version"]), versions.count(second["dataset_version"])) == (32, 64)


def test_a_held_version_stops_here_and_says_what_failed_and_by_how_much(spark, lake, settings):
    fill(spark, lake, range(20))
    with pytest.raises(UserError) as held:
        curate_lake(settings, policy=CurationPolicy(validation_percent=0))
    assert held.value.exit_code == Exit.GATE_HELD == 4
    assert "both splits have rows" in held.value.message
    assert "none with validation among 16 rows" in held.value.message
    assert SPOKEN not in held.value.message
    [version] = rows_of(spark, lake, DATASET_VERSIONS)
    assert version["gate"] == "held"
    assert "both splits have rows" in version["failed_expectations"][0]
    assert (lake.path / version["manifest_path"]).is_file()
    assert not rows_of(spark, lake, TRAINING_EXAMPLES)
    assert not list(lake.path.glob("datasets/*/*.jsonl"))
    assert len(rows_of(spark, lake, DROPS)) == 4


def test_a_version_that_was_held_passes_once_its_fault_is_mended(spark, lake, settings):
    fill(spark, lake, range(60))
    with pytest.raises(UserError):
        curate_lake(settings, policy=CurationPolicy(validation_percent=100))
    passed = curate_lake(settings, policy=HALF)
    assert passed["gate"] == "passed"
    assert {row["gate"] for row in rows_of(spark, lake, DATASET_VERSIONS)} == {"held", "passed"}


def test_tenants_get_versions_of_their_own(spark, lake, settings):
    fill(spark, lake, range(60))
    fill(spark, lake, range(50), tenant="acme")
    figures = curate_lake(settings, policy=HALF)
    assert figures["tenant"] == "default"
    assert {cut["tenant"]: cut["examples"] for cut in figures["versions"]} == {"acme": 40, "default": 48}
    by_version = {(row["dataset_version"], row["tenant"]) for row in rows_of(spark, lake, TRAINING_EXAMPLES)}
    assert len(by_version) == 2


def test_pairs_are_cut_gated_and_published_like_answers_and_need_feedback(spark, lake, settings):
    policy = replace(PREFERENCE, validation_percent=50, licence="CC-BY-4.0")
    fill(spark, lake, range(20))
    with pytest.raises(UserError, match="turnmill settle"):
        curate_lake(settings, policy=policy)
    edits = [
        FEEDBACK.row(feedback_id=f"f{nth}", target_turn_id=f"default-{nth}-1", kind="edit", text=f"{SPOKEN}: {nth}.",
                     user_ref=f"user-{nth}") for nth in range(20)
    ]  # fmt: skip
    delta.append(spark.createDataFrame(edits, FEEDBACK.spark_schema), lake, FEEDBACK)
    cut = curate_lake(settings, policy=policy)
    assert (cut["examples"], cut["drops"]) == (16, {"finish_reason": 4})
    folder = lake.dataset(cut["dataset_version"])
    assert verify_version(folder) == []
    lines = [json.loads(line) for line in (folder / "train.jsonl").read_bytes().splitlines()]
    assert {tuple(line) for line in lines} == {("prompt", "chosen", "rejected")}
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert (manifest["kind"], manifest["licence"], manifest["shape"]["evidence"]) == (
        "preference", "CC-BY-4.0", {"edit": 16},
    )  # fmt: skip
    assert "passed" in (folder / "gate.html").read_text()
    assert SPOKEN not in (folder / "gate.html").read_text()


def test_an_empty_lake_says_what_to_run_first(lake, settings):
    with pytest.raises(UserError, match="turnmill assemble"):
        curate_lake(settings)


def test_the_trigger_counts_what_the_last_run_has_not_seen(spark, lake, settings):
    assert decide(settings, at_least=10)["reason"] == "No dataset version has passed the gate yet."
    publish_rows(spark, lake, "ds-1", 40, START)
    start = decide(settings, at_least=10)
    assert (start["verdict"], start["n_new"], start["dataset_version"]) == ("start", 40, "ds-1")
    run = TRAINING_RUNS.row(run_id="run-1", dataset_version="ds-1")
    failed = TRAINING_RUNS.row(run_id="run-2", state="failed", started_at=START + dt.timedelta(days=9))
    delta.append(spark.createDataFrame([run, failed], TRAINING_RUNS.spark_schema), lake, TRAINING_RUNS)
    publish_rows(spark, lake, "ds-2", 48, START + dt.timedelta(hours=1))
    held = decide(settings, at_least=10)
    assert (held["verdict"], held["n_new"]) == ("hold", 8)
    assert held["reason"] == "8 new examples (since run-1), at least 10 wanted: 2 to go."
    assert decide(settings, at_least=8)["verdict"] == "start"
    decisions = rows_of(spark, lake, TRIGGER_DECISIONS)
    assert len(decisions) == 4
    assert all(row["reason"] and "wanted_new_examples" in row["inputs"] for row in decisions)
