"""A champion goes when people surely like it less than the model before; want of ratings decides nothing."""

import datetime as dt
import json

import hypothesis.strategies as st
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from jobs.model_versions import command as models
from jobs.models_watch import FEEDBACK_FILE
from pipelines.adapters import delta
from pipelines.promotion.live_feedback import Rating, WatchRule, judge_feedback
from pipelines.promotion.unpaired_bootstrap import unpaired_bootstrap
from schemas import FEEDBACK, MODEL_VERSIONS, TURNS

NAMES = ("model-new", "model-old")
RULE = WatchRule(least_ratings=20, least_owners=10)
PROMOTED_AT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
LATER, EARLIER, LONG_AGO = (PROMOTED_AT + dt.timedelta(days=days) for days in (1, -1, -90))


def opinions(n, n_good, owners=None):
    return [Rating(i < n_good, f"user-{i % (owners or n)}") for i in range(n)]


def test_a_surely_lower_share_of_good_ratings_rolls_back_and_says_the_figures():
    found = judge_feedback(opinions(200, 80), opinions(200, 160), NAMES, RULE)
    assert found.verdict == "roll_back"
    assert "40.0% of 200 ratings of model-new" in found.reason
    assert found.numbers["feedback_change_high"] < -RULE.most_drop


@pytest.mark.parametrize(("good", "before"), [(160, 160), (180, 120), (150, 160)])
def test_a_model_that_is_not_surely_worse_stays(good, before):
    assert judge_feedback(opinions(200, good), opinions(200, before), NAMES, RULE).verdict == "keep"


@pytest.mark.parametrize(
    ("champion", "before"),
    [
        ([], opinions(200, 160)),
        (opinions(200, 0), opinions(19, 19)),
        (opinions(200, 0, owners=9), opinions(200, 160)),
        (opinions(200, 0), opinions(200, 160, owners=1)),
    ],
)
def test_few_ratings_or_few_people_decide_nothing(champion, before):
    found = judge_feedback(champion, before, NAMES, RULE)
    assert found.verdict == "wait"
    assert "too few to judge" in found.reason


def test_many_ratings_of_few_people_are_less_sure_than_as_many_of_many():
    many = unpaired_bootstrap([0.0, 1.0] * 50, [1.0] * 100, *([f"u{i}" for i in range(100)],) * 2)
    few = unpaired_bootstrap([0.0, 1.0] * 50, [1.0] * 100, *([f"u{i // 20}{i % 2}" for i in range(100)],) * 2)
    assert few.high - few.low > many.high - many.low


sides = st.lists(st.tuples(st.floats(-5, 5), st.sampled_from("abcdefgh")), min_size=1, max_size=30)


@given(sides, sides)
@settings(max_examples=60, deadline=None)
def test_the_interval_holds_the_difference_and_turns_over_with_the_sides(first, second):
    values, owners = zip(*first, strict=True)
    others, other_owners = zip(*second, strict=True)
    found = unpaired_bootstrap(values, others, owners, other_owners, resamples=200)
    assert found.mean == pytest.approx(np.mean(values) - np.mean(others))
    turned = unpaired_bootstrap(others, values, other_owners, owners, resamples=200)
    assert (turned.mean, turned.low, turned.high) == pytest.approx((-found.mean, -found.high, -found.low))
    if min(len(set(owners)), len(set(other_owners))) < 2:
        assert found.low == float("-inf")


@pytest.mark.parametrize(("first", "owners"), [([], []), ([1.0], []), ([float("nan")], ["a"])])
def test_rows_that_do_not_fit_are_refused(first, owners):
    with pytest.raises(ValueError, match="one finite value"):
        unpaired_bootstrap(first, [1.0], owners, ["a"])


def answer(nth, model, at, **values):
    return TURNS.row(
        turn_id=f"{model}-{nth}", role="assistant", model=model, created_at=at, response_id=f"r-{model}-{nth}", **values
    )


def thumb(nth, target, value, **values):
    told = {"feedback_id": f"f-{target}-{nth}", "kind": "thumb", "value": value, "user_ref": f"u{nth}"}
    return FEEDBACK.row(**{**told, "target_turn_id": target, **values})


@pytest.fixture
def watched_lake(lake):
    """30 people who like the model before, and 30 who do not like the champion."""
    old = MODEL_VERSIONS.row(model_version="model-old", alias=None, path="models/model-old")
    new = MODEL_VERSIONS.row(
        model_version="model-new", alias="champion", replaced="model-old", promoted_at=PROMOTED_AT,
        path="models/model-new", evaluation=[("loss", 1.25)],
    )  # fmt: skip
    turns, said = [], []
    for nth in range(30):
        turns += [answer(nth, "provider/model-new", LATER), answer(nth, "model-old", EARLIER)]
        said += [thumb(nth, f"provider/model-new-{nth}", -1.0), thumb(nth, f"model-old-{nth}", 1.0)]
    turns += [answer(99, "model-old", LONG_AGO), answer(98, "model-new", LATER, consent="none")]
    said += [thumb(99, "model-old-99", -1.0), thumb(98, "model-new-98", 1.0), thumb(97, "nowhere", 1.0)]
    by_response = {"target_turn_id": None, "target_response_id": "r-model-old-3"}
    said += [thumb(96, "by-response", 1.0, **by_response), thumb(95, "model-old-5", None, kind="vote")]
    lake.model("model-new").mkdir(parents=True)
    for table, rows in ((MODEL_VERSIONS, [old, new]), (TURNS, turns), (FEEDBACK, said)):
        delta.append_rows(rows, lake, table, txn=("test", 1))
    return lake


def watch(lake, *words):
    flags = ["--least-ratings", "20", "--least-owners", "10", "--lake", str(lake.path), "--json"]
    done = CliRunner().invoke(models, ["watch", *flags, *words])
    return done, json.loads(done.stdout) if done.stdout else {}


def test_a_dry_run_tells_with_exit_code_4_that_the_champion_would_go_and_writes_nothing(watched_lake):
    done, told = watch(watched_lake, "--dry-run")
    assert (done.exit_code, told["verdict"], told["rolled_back"]) == (4, "roll_back", False)
    assert (told["feedback_n"], told["feedback"]) == (30, 0.0)
    assert (told["feedback_before_n"], told["feedback_before"]) == (31, 1.0)
    assert not list(watched_lake.model("model-new").iterdir())


def test_a_decision_to_wait_is_written_beside_the_weights(watched_lake):
    done, told = watch(watched_lake, "--least-ratings", "500")
    assert (done.exit_code, told["verdict"]) == (0, "wait")
    kept = json.loads((watched_lake.model("model-new") / FEEDBACK_FILE).read_bytes())
    assert kept["reason"] == told["reason"]


def test_models_are_found_by_the_names_that_they_are_served_under(watched_lake):
    _, told = watch(watched_lake, "--dry-run", "--served-as", "model-old=other-name")
    assert (told["verdict"], told["feedback_before_n"]) == ("wait", 0)
    done, _ = watch(watched_lake, "--served-as", "model-old")
    assert done.exit_code == 2


def test_without_a_champion_there_is_nothing_to_watch(lake):
    lake.path.mkdir(parents=True, exist_ok=True)
    done, told = watch(lake)
    assert (done.exit_code, told["verdict"], told["model_version"]) == (0, "wait", None)


def test_events_need_a_cluster(watched_lake):
    done, _ = watch(watched_lake, "--events", "--dry-run")
    assert done.exit_code == 2
    assert "--bootstrap" in done.stderr
