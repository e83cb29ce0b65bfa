import datetime as dt
import random

from hypothesis import given
from hypothesis import strategies as st

from pipelines.conversations.nodes import Node
from pipelines.conversations.paths import Known, assemble_root

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def node(turn_id, parent_id, minute=0, role="user", **values):
    values.setdefault("conversation_ref", "ref")
    return Node(
        turn_id,
        parent_id,
        role,
        START + dt.timedelta(minutes=minute),
        (minute, turn_id),
        values.pop("consent", "training"),
        **values,
    )


def test_a_logged_conversation_is_one_row_named_by_its_root():
    (row,) = assemble_root("r", [node("a", "r"), node("b", "a", 1, "assistant")])
    assert row["conversation_id"] == "r"
    assert row["turn_ids"] == ["a", "b"]
    assert row["n_branches"] == 1


def test_the_active_path_ends_in_the_latest_leaf_and_the_other_branch_stays_reachable():
    turns = [node("a", "r"), node("b1", "a", 1, "assistant"), node("b2", "a", 2, "assistant"), node("c", "b1", 3)]
    (row,) = assemble_root("r", turns)
    assert row["turn_ids"] == ["a", "b1", "c"]
    assert row["branch_turn_ids"] == ["b2"]
    assert row["n_branches"] == 2


def test_a_branch_that_the_source_does_not_show_is_not_the_active_path():
    turns = [node("a", "r"), node("b1", "a", 1, "assistant"), node("b2", "a", 2, "assistant", inactive=True)]
    (row,) = assemble_root("r", turns)
    assert row["turn_ids"] == ["a", "b1"]


def test_system_messages_stand_beside_the_chain():
    turns = [node("s", "r", role="system"), node("a", "r", system_turn_id="s")]
    (row,) = assemble_root("r", turns)
    assert row["turn_ids"] == ["a"]
    assert row["system_turn_id"] == "s"
    assert row["n_branches"] == 1


def test_a_talk_of_system_messages_only_is_no_conversation():
    assert assemble_root("r", [node("s", "r", role="system")]) == []


def test_without_a_conversation_id_each_leaf_is_a_conversation():
    turns = [
        node("a", "r", conversation_ref=None),
        node("b1", "a", 1, "assistant", conversation_ref=None),
        node("b2", "a", 2, "assistant", conversation_ref=None),
        node("x", "r", 3, conversation_ref=None),
    ]
    rows = {row["conversation_id"]: row["turn_ids"] for row in assemble_root("r", turns)}
    assert rows == {"a": ["a", "b1"], "b2": ["a", "b2"], "x": ["x"]}


def test_a_turn_that_continues_a_known_conversation_inherits_its_id():
    turns = [node(t, p, m, conversation_ref=None) for t, p, m in (("a", "r", 0), ("b", "a", 1), ("c", "b", 2))]
    rows = assemble_root("r", turns, [Known("a", ("a", "b"))])
    assert [(row["conversation_id"], row["turn_ids"]) for row in rows] == [("a", ["a", "b", "c"])]


def test_a_late_branch_gets_a_name_of_its_own():
    turns = [node(t, p, m, conversation_ref=None) for t, p, m in (("a", "r", 0), ("b", "a", 1), ("b2", "a", 2))]
    rows = assemble_root("r", turns, [Known("a", ("a", "b"))])
    assert {row["conversation_id"]: row["turn_ids"] for row in rows} == {"a": ["a", "b"], "b2": ["a", "b2"]}


def test_the_strictest_consent_counts():
    (row,) = assemble_root(
        "r", [node("a", "r"), node("b", "a", 1, consent="none"), node("c", "b", 2, consent="analytics")]
    )
    assert row["consent"] == "none"


@st.composite
def trees(draw, logged=None):
    n = draw(st.integers(1, 12))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    logged = draw(st.booleans()) if logged is None else logged
    return [
        node(f"t{i}", "r" if p < 0 else f"t{p}", i, conversation_ref="ref" if logged else None)
        for i, p in enumerate(parents)
    ]


@given(trees(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_result(turns: list[Node], shuffler: random.Random):
    shuffled = [*turns, *turns[:2]]
    shuffler.shuffle(shuffled)
    key = lambda row: row["conversation_id"]  # noqa: E731
    assert sorted(assemble_root("r", shuffled), key=key) == sorted(assemble_root("r", turns), key=key)


@given(trees())
def test_each_anonymous_leaf_has_one_conversation_with_a_name_of_its_own(turns: list[Node]):
    rows = assemble_root("r", turns)
    names = [row["conversation_id"] for row in rows]
    assert len(set(names)) == len(names)
    covered = {turn_id for row in rows for turn_id in (*row["turn_ids"], *row["branch_turn_ids"])}
    assert covered == {turn.turn_id for turn in turns}


@given(trees(logged=False), st.integers(0, 12))
def test_assembling_in_two_steps_gives_the_names_of_one_step(turns: list[Node], cut: int):
    first = [Known(row["conversation_id"], tuple(row["turn_ids"])) for row in assemble_root("r", turns[:cut])]
    stepwise = {row["conversation_id"]: row["turn_ids"] for row in assemble_root("r", turns, first)}
    assert stepwise == {row["conversation_id"]: row["turn_ids"] for row in assemble_root("r", turns)}


@given(trees(), st.lists(st.integers(0, 11), max_size=4), st.randoms(use_true_random=False))
def test_increments_in_any_order_with_repeats_give_the_paths_of_ordered_input(
    turns: list[Node], cuts: list[int], order: random.Random
):
    arriving = [*turns, *order.choices(turns, k=3)]
    order.shuffle(arriving)
    known: list[Known] = []
    for end in [*sorted(cuts), len(arriving)]:
        rows = assemble_root("r", arriving[:end], known)
        assert len({row["conversation_id"] for row in rows}) == len(rows)
        known = [Known(row["conversation_id"], tuple(row["turn_ids"])) for row in rows]
    ordered = assemble_root("r", turns)
    told = ("turn_ids", "branch_turn_ids", "n_branches", "started_at", "last_at", "consent", "signals")
    assert sorted(repr([row[name] for name in told]) for row in rows) == sorted(
        repr([row[name] for name in told]) for row in ordered
    )


@given(trees(logged=False), st.integers(1, 11))
def test_a_conversation_that_only_grew_keeps_its_name(turns: list[Node], cut: int):
    before = {row["conversation_id"]: row["turn_ids"] for row in assemble_root("r", turns[:cut])}
    known = [Known(name, tuple(path)) for name, path in before.items()]
    after = {row["conversation_id"]: row["turn_ids"] for row in assemble_root("r", turns, known)}
    assert {name: after[name][: len(path)] for name, path in before.items()} == before


def test_equal_times_are_ordered_by_what_was_answered_and_not_by_arrival():
    (row,) = assemble_root("r", [node("b", "a", 0, "assistant"), node("a", "r", 0)])
    assert row["turn_ids"] == ["a", "b"]


def test_a_replaced_answer_is_no_part_of_the_path_and_stays_reachable():
    (row,) = assemble_root("r", [node("u1", "r"), node("r1", "u1", 1, "assistant"), node("r2", "u1", 2, "assistant")])
    assert (row["turn_ids"], row["branch_turn_ids"]) == (["u1", "r2"], ["r1"])


def test_no_turn_of_a_talk_of_several_rounds_is_lost():
    (row,) = assemble_root(
        "r", [node(name, before, nth) for nth, (before, name) in enumerate(("ra", "ab", "bc", "cd"))]
    )
    assert (row["turn_ids"], row["n_turns"]) == (list("abcd"), 4)


def test_all_users_of_a_conversation_are_named_also_those_of_other_branches():
    turns = [node("a", "r", user_ref="u2"), node("b", "a", 1, user_ref="u3"), node("c", "a", 2, user_ref="u1")]
    (row,) = assemble_root("r", turns)
    assert (row["user_ref"], row["user_refs"]) == ("u1", ["u1", "u2", "u3"])
