import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipelines.training.trigger import NewExamples, TriggerInputs


def test_nothing_starts_before_a_dataset_has_passed_the_gate():
    decision = NewExamples(1).decide(TriggerInputs(None))
    assert (decision.verdict, decision.reason) == ("hold", "No dataset version has passed the gate yet.")


def test_the_reason_names_what_was_found_and_what_was_wanted():
    inputs = TriggerInputs("ds-1", n_examples=130, n_new=120, last_run_id="run-1")
    assert NewExamples(50).decide(inputs).reason == "120 new examples (since run-1), at least 50 wanted: start."
    held = NewExamples(500).decide(inputs)
    assert held.reason == "120 new examples (since run-1), at least 500 wanted: 380 to go."


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_run_starts_exactly_from_the_wanted_count_on(at_least, n_new):
    decision = NewExamples(at_least).decide(TriggerInputs("ds-1", n_new, n_new))
    assert (decision.verdict == "start") == (n_new >= at_least)


@pytest.mark.parametrize("at_least", [0, -1])
def test_a_policy_that_would_always_start_is_refused(at_least):
    with pytest.raises(ValueError, match="at_least"):
        NewExamples(at_least)
