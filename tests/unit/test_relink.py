"""Talks whose log entries left out the history: trimmed windows, response chains, message logs."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.conversations.nodes import Node
from pipelines.conversations.paths import assemble_root

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ROOT = "root"


def identity(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def logged(talk: list[tuple[str, str]], minute: int, **more: object) -> list[Node]:
    """The nodes of one request that sent ``talk``, chained from the root as intake does."""
    nodes, parent = [], ROOT
    for role, words in talk:
        content = identity(role, words)
        turn = identity(parent, content)
        at = START + dt.timedelta(minutes=minute)
        nodes.append(
            Node(turn, parent, role, at, (at, turn), "training", conversation_ref="c", content_id=content, **more)
        )
        parent = turn
    return nodes


def talk_of(n: int, salt: str = "") -> list[tuple[str, str]]:
    return [(("user", "assistant")[i % 2], f"message {i} {salt}") for i in range(n)]


def once(nodes: list[Node]) -> list[Node]:
    return list({node.turn_id: node for node in reversed(nodes)}.values())


def test_a_request_with_only_the_tail_continues_the_talk():
    talk = talk_of(8)
    nodes = once(logged(talk[:6], 0) + logged(talk[3:], 5))
    (row,) = assemble_root(ROOT, nodes)
    whole = logged(talk[:6], 0)
    assert row["turn_ids"][:6] == [node.turn_id for node in whole]
    assert row["n_turns"] == 8
    assert row["n_branches"] == 1
    assert sorted(row["turn_ids"] + row["branch_turn_ids"]) == sorted(node.turn_id for node in nodes)


def test_a_lone_repeated_word_of_the_user_is_no_overlap():
    talk = [("user", "yes"), ("assistant", "first"), ("user", "ok"), ("assistant", "second")]
    nodes = once(logged(talk, 0) + logged([("user", "ok"), ("assistant", "an other answer")], 5))
    (row,) = assemble_root(ROOT, nodes)
    assert row["n_branches"] == 2


def test_a_changed_first_message_stays_a_branch():
    nodes = once(logged(talk_of(4), 0) + logged(talk_of(4, "edited"), 5))
    (row,) = assemble_root(ROOT, nodes)
    assert row["n_branches"] == 2
    assert row["n_turns"] == 4


def test_feedback_and_consent_of_a_repeat_count_for_the_turn_that_it_repeats():
    talk = talk_of(6)
    first = logged(talk, 0)
    tail = [replace(node, feedback=(1, 1, 0, 0), consent="none") for node in logged(talk[3:], 5)]
    (row,) = assemble_root(ROOT, once(first + tail))
    assert row["consent"] == "none"
    assert row["feedback"]["thumbs_up"] == 3
    assert row["n_turns"] == 6


@given(st.integers(2, 14), st.integers(3, 6), st.randoms(use_true_random=False))
def test_sliding_windows_in_any_order_give_the_whole_talk(replies: int, window: int, order: random.Random):
    talk = talk_of(2 * replies)
    requests = [logged(talk[max(0, end - window) : end], end) for end in range(2, len(talk) + 1, 2)]
    nodes = once([node for request in requests for node in request])
    order.shuffle(nodes)
    (row,) = assemble_root(ROOT, nodes)
    assert row["n_turns"] == len(talk)
    assert row["n_branches"] == 1
    assert sorted(row["turn_ids"] + row["branch_turn_ids"]) == sorted(node.turn_id for node in nodes)


def test_a_chain_of_responses_is_one_talk_without_a_conversation_id():
    first = [replace(n, conversation_ref=None) for n in logged(talk_of(2), 0)]
    first[-1] = replace(first[-1], response_id="resp_1")
    second = [replace(n, conversation_ref=None) for n in logged([("user", "and?"), ("assistant", "more")], 5)]
    second[0] = replace(second[0], previous_response_id="resp_1")
    rows = assemble_root(ROOT, [*second, *first])
    assert [row["turn_ids"] for row in rows] == [[node.turn_id for node in first + second]]


def test_responses_that_name_each_other_do_not_hang():
    one, other = logged([("user", "a")], 0)[0], logged([("user", "b")], 1)[0]
    one = replace(one, response_id="1", previous_response_id="2")
    other = replace(other, response_id="2", previous_response_id="1")
    (row,) = assemble_root(ROOT, [one, other])
    assert row["n_turns"] == 2


@given(st.lists(st.sampled_from(["user", "assistant"]), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_messages_logged_alone_are_one_path_in_the_order_of_time(roles: list[str], order: random.Random):
    nodes = [logged([(role, f"message {i}")], i, alone=True)[0] for i, role in enumerate(roles)]
    nodes = [replace(node, turn_id=f"t{i}") for i, node in enumerate(nodes)]
    shuffled = list(nodes)
    order.shuffle(shuffled)
    (row,) = assemble_root(ROOT, shuffled)
    assert row["turn_ids"] == [node.turn_id for node in nodes]
