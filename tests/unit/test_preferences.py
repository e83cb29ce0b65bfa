"""What people preferred: paths of answers, and evidence between the answers to one question."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.datasets.answer_paths import PathStep, answer_paths
from pipelines.datasets.preferences import Judgement, Rival, label_of, preferences, trust_of


def paths(*steps):
    return {one.turn_id: one for one in answer_paths(PathStep(*step) for step in steps)}


def rival(turn_id, at, **more):
    return Rival(turn_id, "talk", (at,), **more)


DRAFT = rival("draft", 1, is_active=False)
KEPT = rival("kept", 2, is_continued=True)


def said(kind, turn_id, value=None, *, by="ann", measure="", name=None):
    return Judgement(name or f"f-{kind}-{turn_id}-{by}", turn_id, kind, value, measure, by)


def told(*judgements, rivals=(DRAFT, KEPT)):
    found = preferences(list(rivals), list(judgements))
    return [(one.evidence, one.chosen_id, one.rejected_id, one.is_contradicted) for one in found]


def test_an_answer_has_the_path_of_its_branch_up_to_the_trunk():
    found = paths(
        ("u1", "root", "user", 0),
        ("a1", "u1", "assistant", 1),
        ("u2", "a1", "user", 2),
        ("a2", "u2", "assistant", 3),
        ("b1", "u2", "assistant", None),
        ("v2", "a1", "user", None),
        ("c1", "v2", "assistant", None),
    )
    assert found["a2"].path_ids == ("u1", "a1", "u2", "a2")
    assert found["b1"].path_ids == ("u1", "a1", "u2", "b1")
    assert found["c1"].path_ids == ("u1", "a1", "v2", "c1")
    assert [found[name].asked_id for name in ("a1", "a2", "b1", "c1")] == ["u1", "u2", "u2", "v2"]
    assert {name for name, one in found.items() if one.is_active} == {"a1", "a2"}
    assert {name for name, one in found.items() if one.is_continued} == {"a1"}


def test_an_answer_that_calls_a_tool_does_not_close_its_reply():
    found = paths(
        ("u1", "root", "user", 0),
        ("call", "u1", "assistant", 1),
        ("result", "call", "tool", 2),
        ("end", "result", "assistant", 3),
        ("other", "u1", "assistant", None),
        ("other-result", "other", "tool", None),
        ("other-end", "other-result", "assistant", None),
    )
    assert {name for name, one in found.items() if one.closes} == {"end", "other-end"}
    assert found["other-end"].asked_id == "u1"


def test_a_branch_whose_parent_never_came_begins_where_it_is_known():
    found = paths(("u1", "root", "user", 0), ("lost", "gone", "assistant", None))
    assert (found["lost"].path_ids, found["lost"].asked_id) == (("lost",), None)


@given(st.integers(1, 12), st.randoms(use_true_random=False))
def test_every_answer_is_the_end_of_one_path_without_repeats_whatever_the_tree(n, chance):
    steps = [("t0", "root", "user", 0)]
    for nth in range(1, n):
        parent = f"t{chance.randrange(nth)}"
        steps.append((f"t{nth}", parent, chance.choice(["user", "assistant", "tool"]), None))
    shuffled = steps[:]
    chance.shuffle(shuffled)
    found = paths(*shuffled)
    parents = {step[0]: step[1] for step in steps}
    assert set(found) == {step[0] for step in steps if step[2] == "assistant"}
    for name, one in found.items():
        assert one.path_ids[-1] == name
        assert one.path_ids[0] == "t0"
        assert all(parents[after] == before for before, after in zip(one.path_ids, one.path_ids[1:], strict=False))


def test_the_answer_that_the_talk_went_on_from_is_before_the_draft_in_its_place():
    assert told() == [("regeneration", "kept", "draft", False)]


def test_an_answer_that_merely_came_last_is_not_kept():
    assert told(rivals=(DRAFT, rival("kept", 2))) == []


@pytest.mark.parametrize(
    "evidence", [said("copy", "kept"), said("thumb", "kept", 1.0), said("regenerate", "draft"), said("retry", "draft")]
)
def test_what_a_user_does_with_the_last_answer_keeps_it(evidence):
    assert told(evidence, rivals=(DRAFT, rival("kept", 2))) == [("regeneration", "kept", "draft", False)]


def test_choices_of_one_response_are_no_drafts_of_each_other():
    assert (
        told(
            rivals=(rival("a", 1, is_active=False, response_id="r"), rival("b", 2, is_continued=True, response_id="r"))
        )
        == []
    )


def test_equal_words_in_two_talks_without_a_name_are_no_tries_of_one_question():
    first, second = rival("a", 1, is_logged=False), rival("b", 2, is_logged=False, is_continued=True)
    assert told(rivals=(first, second)) == []
    assert told(said("regenerate", "a"), rivals=(first, second)) == [("regeneration", "b", "a", False)]


def test_an_answer_that_was_sent_back_too_is_nobody_s_choice():
    assert told(said("regenerate", "kept")) == []


@pytest.mark.parametrize("evidence", [said("thumb", "kept", -1.0), said("thumb", "draft", 1.0)])
def test_a_thumb_against_what_was_kept_contradicts_it(evidence):
    assert told(evidence) == [("regeneration", "kept", "draft", True)]


def test_a_vote_and_a_rank_name_the_better_answer():
    assert told(said("vote", "a", 1.0), said("vote", "b", -1.0), rivals=(rival("a", 1), rival("b", 2))) == [
        ("vote", "a", "b", False)
    ]
    assert told(said("rank", "a", 1.0), said("rank", "b", 0.0), rivals=(rival("a", 1), rival("b", 2))) == [
        ("vote", "b", "a", False)
    ]


def test_a_tie_names_none():
    assert told(said("vote", "a", -1.0), said("vote", "b", -1.0), rivals=(rival("a", 1), rival("b", 2))) == []


def test_people_who_vote_against_each_other_give_no_pair():
    votes = [said("vote", name, value, by=by) for by, name, value in
             (("ann", "a", 1.0), ("ann", "b", 0.0), ("bob", "a", 0.0), ("bob", "b", 1.0))]  # fmt: skip
    [(evidence, _, _, is_contradicted)] = told(*votes, rivals=(rival("a", 1), rival("b", 2)))
    assert (evidence, is_contradicted) == ("vote", True)


def test_the_best_of_ranked_answers_is_before_each_other_and_those_are_not_compared():
    ranks = [said("rank", name, float(place)) for place, name in enumerate("abc")]
    found = told(*ranks, rivals=[rival(name, nth) for nth, name in enumerate("abc")])
    assert found == [("vote", "a", "b", False), ("vote", "a", "c", False)]


def test_the_most_trusted_evidence_names_a_pair_and_a_vote_against_it_contradicts_it():
    votes = said("vote", "kept", 1.0, by="bob"), said("vote", "draft", 0.0, by="bob")
    assert told(*votes) == [("regeneration", "kept", "draft", False)]
    against = said("vote", "kept", 0.0, by="bob"), said("vote", "draft", 1.0, by="bob")
    assert told(*against) == [("regeneration", "kept", "draft", True)]


def test_an_edit_is_a_pair_of_its_own_and_names_its_feedback():
    [one] = preferences([KEPT], [said("edit", "kept", name="f1")])
    assert (one.evidence, one.chosen_id, one.rejected_id, one.feedback_ids, one.trust) == (
        "edit",
        None,
        "kept",
        ("f1",),
        1,
    )


def test_only_evidence_that_is_asked_for_counts():
    votes = said("vote", "kept", 0.0), said("vote", "draft", 1.0), said("edit", "kept")
    found = preferences([DRAFT, KEPT], list(votes), ("vote",))
    assert [(one.evidence, one.chosen_id, one.is_contradicted) for one in found] == [("vote", "draft", False)]


def test_trust_falls_from_edits_to_thumbs():
    assert [trust_of(name) for name in ("edit", "regeneration", "vote", "near_equal_prompts", "thumb")] == [
        1,
        2,
        3,
        4,
        5,
    ]


@pytest.mark.parametrize(
    ("values", "label"), [((1.0,), True), ((-1.0,), False), ((1.0, 1.0), True), ((1.0, -1.0), None)]
)
def test_thumbs_that_agree_are_a_label(values, label):
    thumbs = [said("thumb", "a", value, by=str(nth)) for nth, value in enumerate(values)]
    found = label_of(thumbs)
    assert found == (label, tuple(sorted(one.feedback_id for one in thumbs)))


def test_no_thumb_is_no_label():
    assert label_of([said("copy", "a"), said("thumb", "a", 0.0)]) is None


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["vote", "rank"]), st.integers(-1, 2),
                          st.sampled_from(["ann", "bob"])), max_size=12))  # fmt: skip
def test_no_two_answers_are_told_both_ways_and_order_of_arrival_decides_nothing(ballots):
    judgements = list({(a, k, by): said(k, a, float(v), by=by) for a, k, v, by in ballots}.values())
    rivals = [rival(name, nth, is_active=name == "d") for nth, name in enumerate("abcd")]
    found = preferences(rivals, judgements)
    both = [frozenset((one.chosen_id, one.rejected_id)) for one in found]
    assert len(both) == len(set(both))
    assert all(len(pair) == 2 for pair in both)
    random.Random(1).shuffle(judgements)
    assert preferences(rivals[::-1], judgements) == found
