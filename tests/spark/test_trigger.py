"""Decisions over a real lake: every evaluation is a row, a dry run is none, an event is decided once."""

import datetime as dt

import pytest
from rich.console import Console

from jobs.options import Settings
from jobs.trigger_batch import decide
from pipelines.adapters import delta
from pipelines.training.trigger_policy import Limits, TriggerPolicy
from schemas import (
    DATASET_VERSIONS,
    EMBEDDINGS,
    FEEDBACK,
    TRAINING_EXAMPLES,
    TRAINING_RUNS,
    TRIGGER_DECISIONS,
    TURNS,
)

NOW = dt.datetime.now(dt.UTC)


def write(spark, lake, table, *rows):
    delta.append(spark.createDataFrame([table.row(**row) for row in rows], table.spark_schema), lake, table)


@pytest.fixture
def settings(lake):
    return Settings(lake.path, lake.path.with_name("keys"), json=True, console=Console(quiet=True))


@pytest.fixture
def curated(spark, lake):
    """Two versions of one tenant: the second has three examples more, about something else."""
    versions = {"ds-1": range(4), "ds-2": range(7)}
    write(
        spark, lake, TRAINING_EXAMPLES,
        *({"dataset_version": name, "example_id": f"e{i}", "turn_ids": ["u", f"t{i}"]}
          for name, ids in versions.items() for i in ids),
    )  # fmt: skip
    write(
        spark, lake, DATASET_VERSIONS,
        {"dataset_version": "ds-1", "n_examples": 4, "created_at": NOW - dt.timedelta(days=2)},
        {"dataset_version": "ds-2", "n_examples": 7, "created_at": NOW - dt.timedelta(hours=2)},
    )  # fmt: skip
    write(spark, lake, TURNS, *({"turn_id": f"t{i}", "text_hash": f"h{i}"} for i in range(7)))
    vectors = [[1.0, 0.0] if i < 4 else [0.0, 1.0] for i in range(7)]
    write(spark, lake, EMBEDDINGS, *({"text_hash": f"h{i}", "vector": v} for i, v in enumerate(vectors)))
    started = NOW - dt.timedelta(days=1)
    write(spark, lake, TRAINING_RUNS, {"run_id": "run-1", "dataset_version": "ds-1", "started_at": started})


def test_every_evaluation_is_a_row_and_a_dry_run_is_none(spark, lake, settings, curated):
    dry = decide(settings, at_least=3, dry_run=True)
    assert (dry["verdict"], dry["n_new"]) == ("start", 3.0)
    assert delta.read(spark, lake, TRIGGER_DECISIONS).isEmpty()
    held = decide(settings, at_least=4)
    started = decide(settings, at_least=3)
    rows = {row.decision_id: row for row in delta.read(spark, lake, TRIGGER_DECISIONS).collect()}
    assert rows.keys() == {held["decision_id"], started["decision_id"]}
    assert rows[held["decision_id"]].verdict == "hold"
    assert rows[held["decision_id"]].reason == "3 new examples (since run-1), at least 4 wanted: 1 to go."
    assert rows[held["decision_id"]].inputs["wanted_new_examples"] == 4.0
    assert rows[started["decision_id"]].dataset_version == "ds-2"


def test_drift_of_the_examples_is_measured_and_limits_hold_it(spark, lake, settings, curated):
    found = decide(settings, policy=TriggerPolicy(new_examples=None, drift=0.1))
    # Means are (1, 0) and (4, 3) / 7, whose cosine is 4 / 5.
    assert found["drift"] == pytest.approx(0.2, abs=1e-6)
    assert (found["verdict"], found["policy"]) == ("start", "drift")
    limits = Limits(cooldown_minutes=48 * 60)
    held = decide(settings, policy=TriggerPolicy(new_examples=None, drift=0.1, limits=limits))
    assert (held["verdict"], held["policy"]) == ("hold", "cooldown")


def test_a_fall_of_good_ratings_opens_a_run(spark, lake, settings, curated):
    ratings = [(f"f{i}", 1.0 if i % 5 else -1.0, NOW - dt.timedelta(days=30)) for i in range(20)]
    ratings += [(f"g{i}", 1.0 if i % 2 else -1.0, NOW - dt.timedelta(days=1)) for i in range(20)]
    write(
        spark, lake, FEEDBACK,
        *({"feedback_id": name, "target_turn_id": name, "kind": "thumb", "value": value, "created_at": at, "offset": i}
          for i, (name, value, at) in enumerate(ratings)),
    )  # fmt: skip
    found = decide(settings, policy=TriggerPolicy(new_examples=None, feedback_drop=0.2, least_ratings=20))
    assert (found["feedback_before"], found["feedback"], found["n_ratings"]) == (0.8, 0.5, 20.0)
    assert (found["verdict"], found["policy"]) == ("start", "feedback_drop")


def test_an_event_is_decided_once(spark, lake, settings, curated):
    policy = TriggerPolicy(new_examples=None)
    first = decide(settings, policy=policy, event="e-1")
    again = decide(settings, policy=policy, event="e-1")
    assert (first["verdict"], first["repeated"], again["repeated"]) == ("start", False, True)
    assert again["decision_id"] == first["decision_id"]
    assert delta.read(spark, lake, TRIGGER_DECISIONS).count() == 1
