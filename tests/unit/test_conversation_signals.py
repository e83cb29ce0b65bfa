"""Signals of whole conversations: order of roles, tool calls, languages, contentment. No text is looked at."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conversations.nodes import Node
from pipelines.conversations.signals import QUESTIONS_BACK, conversation_signals, tool_pairs
from pipelines.quality.language import SURE
from pipelines.quality.sketch import sketch
from schemas.conversations import NO_SIGNALS, SIGNALS

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
SHORT = {"u": "user", "a": "assistant", "t": "tool"}


def turn(nth, role, **more):
    at = START + dt.timedelta(minutes=nth)
    return Node(f"t{nth}", f"t{nth - 1}", SHORT.get(role, role), at, (at, nth), "training", **more)


def talk(*roles):
    """A path of ``roles``; a pair is a role with more of its node."""
    pairs = [role if isinstance(role, tuple) else (role, {}) for role in roles]
    return [turn(nth, role, **more) for nth, (role, more) in enumerate(pairs)]


def signals(*roles):
    return conversation_signals(talk(*roles))


def calls(*ids):
    return ("a", {"call_ids": ids})


def result(call_id):
    return ("t", {"tool_call_id": call_id})


def says(role, lang, score=1.0):
    return (role, {"lang": lang, "lang_score": score})


def asks(words):
    return ("u", {"text_sketch": sketch(words), "n_words": len(words.split())})


def test_a_plain_talk_has_no_signal():
    assert signals("u", "a", "u", "a") == NO_SIGNALS


def test_every_declared_field_is_filled_and_no_other():
    assert list(signals("u")) == [field.name for field in SIGNALS]


def test_an_answer_after_an_answer_is_counted_and_so_is_the_last_question_without_one():
    found = signals("u", "a", "a", "u")
    assert (found["assistant_repeats"], found["user_repeats"], found["is_abandoned"]) == (1, 0, True)


def test_an_answer_that_the_log_calls_a_users_shows_as_two_turns_of_the_user():
    found = signals("u", "a", "u", "u")
    assert (found["user_repeats"], found["assistant_repeats"]) == (1, 0)


def test_a_talk_that_begins_with_an_answer_says_so():
    assert signals("a", "u", "a")["begins_with_answer"]
    assert signals(result("c"), "u", "a")["begins_with_answer"]


def test_results_of_several_tools_are_no_fault_of_order():
    found = signals("u", calls("c1", "c2"), result("c2"), result("c1"), "a")
    assert found == NO_SIGNALS


def test_an_id_used_again_is_a_new_call_that_waits_for_its_own_result():
    found = signals(calls("call_1"), result("call_1"), calls("call_1"), "u")
    assert (found["unanswered_calls"], found["pending_calls"], found["orphan_results"]) == (1, 0, 0)


def test_a_call_at_the_end_still_waits():
    found = signals("u", calls("c1", "c2"), result("c1"))
    assert (found["unanswered_calls"], found["pending_calls"], found["is_abandoned"]) == (0, 1, True)


def test_a_result_without_a_call_is_an_orphan():
    assert signals("u", "a", result("c9"), "a")["orphan_results"] == 1
    assert signals("u", calls("c1"), result("c1"), result("c1"), "a")["orphan_results"] == 1
    assert signals("u", calls("c1"), result("c9"), "a")["orphan_results"] == 1


def test_calls_without_ids_are_paired_by_their_order():
    assert signals("u", calls(None, None), result(None), result(None), "a") == NO_SIGNALS
    assert signals("u", calls("c1"), result(None), "a") == NO_SIGNALS


@given(st.lists(st.tuples(st.sampled_from("uat"), st.lists(st.sampled_from(["x", "y", None]), max_size=3))))
def test_each_call_is_answered_unanswered_or_pending_and_each_result_answers_one_or_is_an_orphan(steps):
    path = [
        turn(nth, role, call_ids=tuple(ids) if role == "a" else (), tool_call_id=ids[0] if ids else None)
        for nth, (role, ids) in enumerate(steps)
    ]
    pairs = tool_pairs(path)
    n_calls = sum(len(node.call_ids) for node in path)
    n_results = sum(node.role == "tool" for node in path)
    assert n_calls - pairs.unanswered - pairs.pending == n_results - pairs.orphans
    assert min(pairs) >= 0


def test_an_answer_in_another_language_is_counted():
    assert signals(says("u", "de"), says("a", "en"), says("u", "de"), says("a", "de"))["language_mismatches"] == 1


@pytest.mark.parametrize(
    "answer", [says("a", "und", 0.99), says("a", "en", SURE - 0.1), says("a", None), says("a", "de")]
)
def test_an_uncertain_language_is_never_a_mismatch(answer):
    assert signals(says("u", "de"), answer)["language_mismatches"] == 0


def test_languages_that_are_taken_for_each_other_are_no_mismatch():
    assert signals(says("u", "no"), says("a", "da"))["language_mismatches"] == 0


def test_a_short_question_does_not_change_the_language_that_was_asked_in():
    assert signals(says("u", "de"), says("a", "de"), says("u", "und", 0.1), says("a", "en"))["language_mismatches"] == 1


def test_only_a_cut_answer_at_the_end_is_a_truncated_ending():
    cut = ("a", {"is_truncated": True})
    assert signals("u", cut)["ends_truncated"]
    assert not signals("u", cut, "u", "a")["ends_truncated"]
    assert not signals("u", "a", ("u", {"is_truncated": True}))["ends_truncated"]


QUESTION = "how do I reset the password of my router at home"


def test_a_question_asked_again_is_counted_and_another_one_is_not():
    again = "How do I reset the password of my router at home?!"
    other = "what should I cook for dinner with rice and tomatoes"
    assert signals(asks(QUESTION), "a", asks(other), "a")["reasks"] == 0
    assert signals(asks(QUESTION), "a", asks(again), "a")["reasks"] == 1


def test_short_words_said_again_are_no_question_asked_again():
    assert signals(asks("yes"), "a", asks("yes"), "a", asks("go on"), "a", asks("go on"))["reasks"] == 0
    assert (
        signals(asks("Thank you for your assistance."), "a", asks("No, thank you for your assistance."))["reasks"] == 0
    )


def test_only_the_questions_shortly_before_are_compared():
    others = [asks(f"tell me the {n}{n} story of the number {n * 7919} and its {n * 31} friends") for n in range(40)]
    far = signals(asks(QUESTION), *others[: QUESTIONS_BACK * 4], asks(QUESTION))["reasks"]
    without = signals(*others[: QUESTIONS_BACK * 4], asks(QUESTION))["reasks"]
    assert far == without


def test_contentment_is_thumbs_against_thumbs_and_questions_asked_again():
    liked, disliked = ("a", {"feedback": (1, 1, 0, 0)}), ("a", {"feedback": (1, 0, 1, 0)})
    assert signals("u", liked)["satisfaction"] == 1.0
    assert signals("u", disliked, "u", liked)["satisfaction"] == 0.0
    assert signals(asks(QUESTION), liked, asks(QUESTION), "a", asks(QUESTION), "a")["satisfaction"] == -1 / 3
    assert signals("u", ("a", {"feedback": (3, 0, 0, 2)}))["satisfaction"] is None
