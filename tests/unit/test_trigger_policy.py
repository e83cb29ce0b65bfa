import contextlib
import datetime as dt
import string
import tomllib

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipelines.training.trigger import PastRun, TriggerInputs, decide
from pipelines.training.trigger_policy import Limits, TriggerPolicy, TriggerPolicyError, declared_policy, read_policy

NOW = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)


def ago(**span):
    return NOW - dt.timedelta(**span)


def run(state="succeeded", **span):
    return PastRun("run-1", ago(**span), state)


def inputs(**changes):
    return TriggerInputs(**{"dataset_version": "ds-1", "n_examples": 130, "n_new": 120, **changes})


def test_nothing_starts_before_a_dataset_has_passed_the_gate():
    decision = decide(TriggerInputs(None, asked="op"), TriggerPolicy(new_examples=1), NOW)
    assert (decision.verdict, decision.reason) == ("hold", "No dataset version has passed the gate yet.")


def test_the_reason_names_what_was_found_and_what_was_wanted():
    seen = inputs(last_run_id="run-1")
    assert decide(seen, TriggerPolicy(new_examples=50), NOW).reason == (
        "120 new examples (since run-1), at least 50 wanted: start."
    )
    assert decide(seen, TriggerPolicy(new_examples=500), NOW).reason == (
        "120 new examples (since run-1), at least 500 wanted: 380 to go."
    )


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_run_starts_exactly_from_the_wanted_count_on(at_least, n_new):
    decision = decide(inputs(n_new=n_new), TriggerPolicy(new_examples=at_least), NOW)
    assert (decision.verdict == "start") == (n_new >= at_least)


@pytest.mark.parametrize(
    ("policy", "changes", "verdict", "by"),
    [
        (TriggerPolicy(new_examples=None, drift=0.1), {"drift": 0.2}, "start", "drift"),
        (TriggerPolicy(new_examples=None, drift=0.1), {"drift": 0.2, "n_new": 0}, "hold", "drift"),
        (TriggerPolicy(new_examples=None, drift=0.1), {"drift": 0.05}, "hold", "drift"),
        (TriggerPolicy(new_examples=None, drift=0.1), {"drift": None}, "hold", "drift"),
        (TriggerPolicy(new_examples=None, feedback_drop=0.1),
         {"feedback": 0.5, "feedback_before": 0.7, "n_ratings": 60}, "start", "feedback_drop"),
        (TriggerPolicy(new_examples=None, feedback_drop=0.1),
         {"feedback": 0.5, "feedback_before": 0.7, "n_ratings": 6}, "hold", "feedback_drop"),
        (TriggerPolicy(new_examples=None, feedback_drop=0.1),
         {"feedback": 0.65, "feedback_before": 0.7, "n_ratings": 60}, "hold", "feedback_drop"),
        (TriggerPolicy(new_examples=None, every_hours=24), {"runs": (run(hours=25),)}, "start", "schedule"),
        (TriggerPolicy(new_examples=None, every_hours=24), {"runs": (run(hours=23),)}, "hold", "schedule"),
        (TriggerPolicy(new_examples=None, every_hours=24), {"runs": (run(hours=99),), "n_new": 0}, "hold", "schedule"),
        (TriggerPolicy(new_examples=None), {"event": "e-1"}, "start", "event"),
        (TriggerPolicy(new_examples=None, on_events=False), {"event": "e-1"}, "hold", "none"),
        (TriggerPolicy(new_examples=None), {"asked": "op"}, "start", "manual"),
        (TriggerPolicy(new_examples=50, drift=0.1), {"drift": 0.01}, "start", "new_examples"),
    ],
)  # fmt: skip
def test_any_declared_policy_starts_a_run_and_is_named(policy, changes, verdict, by):
    decision = decide(inputs(**changes), policy, NOW)
    assert (decision.verdict, decision.policy) == (verdict, by)


@pytest.mark.parametrize(
    ("limits", "changes", "by", "words"),
    [
        (Limits(), {"runs": (run("running", hours=9),)}, "single_flight", "run-1 still runs"),
        (Limits(cooldown_minutes=60), {"runs": (run(minutes=30),)}, "cooldown", "began 30 min ago"),
        (Limits(debounce_minutes=10), {"dataset_at": ago(minutes=3)}, "debounce", "3 min old"),
        (Limits(runs_a_week=2), {"runs": (run(days=1), run(days=6))}, "budget", "2 runs started in seven days"),
    ],
)
def test_a_limit_holds_what_a_policy_wants_and_is_named(limits, changes, by, words):
    decision = decide(inputs(**changes), TriggerPolicy(new_examples=50, limits=limits), NOW)
    assert (decision.verdict, decision.policy) == ("hold", by)
    assert words in decision.reason


def test_limits_end():
    limits = Limits(cooldown_minutes=60, debounce_minutes=10, runs_a_week=2)
    known = inputs(runs=(run(minutes=61), run(days=8)), dataset_at=ago(minutes=11))
    assert decide(known, TriggerPolicy(new_examples=50, limits=limits), NOW).verdict == "start"


def test_a_hand_passes_rest_and_quiet_but_neither_the_budget_nor_a_run_in_flight():
    limits = Limits(cooldown_minutes=60, debounce_minutes=10, runs_a_week=2)
    policy = TriggerPolicy(new_examples=None, limits=limits)
    asked = {"asked": "op", "dataset_at": ago(minutes=1)}
    assert decide(inputs(**asked, runs=(run(minutes=5),)), policy, NOW).verdict == "start"
    assert decide(inputs(**asked, runs=(run(minutes=5), run(days=2))), policy, NOW).policy == "budget"
    assert decide(inputs(**asked, runs=(run("running", minutes=5),)), policy, NOW).policy == "single_flight"


MOMENTS = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 31), timezones=st.just(dt.UTC))
STATES = st.sampled_from(["running", "succeeded", "failed"])
KNOWN = st.builds(
    inputs,
    n_new=st.integers(0, 100),
    drift=st.none() | st.floats(0, 2),
    feedback=st.none() | st.floats(0, 1),
    feedback_before=st.none() | st.floats(0, 1),
    n_ratings=st.integers(0, 100),
    asked=st.none() | st.just("op"),
    runs=st.lists(st.builds(PastRun, st.just("run-1"), MOMENTS, STATES), max_size=4).map(tuple),
)


@given(KNOWN, st.integers(1, 3))
def test_no_inputs_ever_start_a_second_run_or_pass_the_budget(found, budget):
    wanted = {"new_examples": 10, "drift": 0.1, "feedback_drop": 0.1, "every_hours": 1}
    policy = TriggerPolicy(**wanted, limits=Limits(runs_a_week=budget))
    decision = decide(found, policy, NOW)
    in_week = sum(NOW - past.started_at < dt.timedelta(days=7) for past in found.runs)
    if any(past.state == "running" for past in found.runs) or in_week >= budget:
        assert decision.verdict == "hold"
    assert decision.reason.endswith(".")
    assert decision == decide(found, policy, NOW)


@pytest.mark.parametrize("declared", [{"new_examples": 0}, {"drift": -0.1}, {"limits": {"runs_a_week": 0}}])
def test_a_policy_that_would_always_start_is_refused(declared):
    with pytest.raises(TriggerPolicyError, match="wanted . or more"):
        declared_policy(declared)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"new_example": 5}, "found new_example"),
        ({"limits": {"cooldown": 5}}, "found cooldown"),
        ({"new_examples": "5"}, "wanted new_examples as int"),
        ({"new_examples": True}, "found bool"),
        ({"on_events": 1}, "wanted on_events as bool"),
        ({"limits": 3}, "limits as a table"),
    ],
)
def test_a_declaration_that_is_not_understood_is_told(declared, words):
    with pytest.raises(TriggerPolicyError, match=words):
        declared_policy(declared)


def test_a_file_declares_the_policies_that_it_names_and_no_other(tmp_path):
    path = tmp_path / "trigger.toml"
    path.write_text('[trigger]\nname = "nightly"\nevery_hours = 24\n[trigger.limits]\nruns_a_week = 5\n')
    policy = read_policy(path)
    assert policy == TriggerPolicy("nightly", new_examples=None, every_hours=24, limits=Limits(runs_a_week=5))
    assert policy.numbers["limit_runs_a_week"] == 5.0


@given(st.text(string.printable, max_size=40))
def test_no_file_content_gives_anything_but_a_policy_or_its_error(text):
    try:
        declared = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with contextlib.suppress(TriggerPolicyError):
        declared_policy(declared)
