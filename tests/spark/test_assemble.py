import datetime as dt

import pytest

from jobs.assemble_batch import assemble
from jobs.options import Settings
from pipelines.adapters import delta
from pipelines.conversations import assemble as stages
from schemas import CONVERSATIONS, FEEDBACK, TURN_SIGNALS, TURNS

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
LATER = NOON + dt.timedelta(days=20)


@pytest.fixture
def settings(lake):
    return Settings(lake.path, lake.path.with_name("keys"))


def put(spark, lake, table, *rows):
    delta.append(spark.createDataFrame([table.row(**row) for row in rows], table.spark_schema).coalesce(1), lake, table)


def turn(turn_id, parent_id="r", minute=0, ref="ref", **values):
    at = NOON + dt.timedelta(minutes=minute)
    role = values.pop("role", "user" if parent_id == "r" else "assistant")
    return {
        "turn_id": turn_id, "parent_id": parent_id, "root_id": values.pop("root_id", "r"), "conversation_ref": ref,
        "role": role, "created_at": at, "landed_at": at, "offset": minute, **values,
    }  # fmt: skip


def conversations(spark, lake):
    rows = delta.read(spark, lake, CONVERSATIONS).collect()
    return {row["conversation_id"]: row for row in rows}


def test_late_turns_extend_the_conversation_and_bump_its_revision(spark, lake, settings):
    put(spark, lake, TURNS, turn("a"), turn("b", "a", 1))
    assemble(settings, idle_minutes=None)
    first = conversations(spark, lake)["r"]
    assert (list(first["turn_ids"]), first["revision"], first["complete"]) == (["a", "b"], 1, True)

    put(spark, lake, TURNS, turn("c", "b", 2, role="user"))
    signals = {"turn_id": "a", "root_id": "r", "parent_id": "r", "conversation_ref": "ref", "lang": "de", "keep": True}
    put(spark, lake, TURN_SIGNALS, signals)
    assemble(settings, idle_minutes=10**9)
    second = conversations(spark, lake)["r"]
    assert (list(second["turn_ids"]), second["revision"], second["complete"]) == (["a", "b", "c"], 2, False)
    assert (second["language"], second["n_kept"]) == ("de", 1)

    version = delta.version(lake, CONVERSATIONS.name)
    assemble(settings, idle_minutes=10**9)
    assert delta.version(lake, CONVERSATIONS.name) == version
    assemble(settings, idle_minutes=30)
    third = conversations(spark, lake)["r"]
    assert (third["revision"], third["complete"]) == (2, True)


def test_feedback_that_comes_later_reaches_the_answer_and_the_newest_thumb_of_a_person_counts(spark, lake, settings):
    put(spark, lake, TURNS, turn("a"), turn("b", "a", 1, response_id="resp-1", span_id="span-1"))
    assemble(settings, idle_minutes=None)
    put(
        spark,
        lake,
        FEEDBACK,
        {"feedback_id": "f1", "kind": "thumb", "value": 1.0, "target_response_id": "resp-1"},
        {"feedback_id": "f2", "kind": "thumb", "value": -1.0, "target_turn_id": "b", "created_at": LATER},
        {"feedback_id": "f2", "kind": "thumb", "value": -1.0, "target_turn_id": "b", "created_at": LATER, "offset": 7},
        {"feedback_id": "f3", "kind": "edit", "target_turn_id": "b"},
        {"feedback_id": "f4", "kind": "score", "target_response_id": "span-1"},
        {"feedback_id": "f5", "kind": "thumb", "value": 1.0, "target_turn_id": "b", "created_at": NOON},
    )
    assemble(settings, idle_minutes=None)
    found = conversations(spark, lake)["r"]
    assert found["feedback"].asDict() == {"n": 5, "thumbs_up": 1, "thumbs_down": 1, "edits": 1}
    assert found["revision"] == 2


def test_anonymous_talks_keep_their_names_when_they_grow_or_branch(spark, lake, settings):
    put(spark, lake, TURNS, turn("a", ref=None), turn("b", "a", 1, ref=None), turn("x", "r", 2, ref=None))
    assemble(settings, idle_minutes=None)
    assert set(conversations(spark, lake)) == {"a", "x"}
    put(spark, lake, TURNS, turn("c", "b", 3, ref=None), turn("b2", "a", 4, ref=None))
    assemble(settings, idle_minutes=None)
    found = conversations(spark, lake)
    assert {name: list(row["turn_ids"]) for name, row in found.items()} == {
        "a": ["a", "b", "c"],
        "b2": ["a", "b2"],
        "x": ["x"],
    }
    assert (found["a"]["revision"], found["x"]["revision"]) == (2, 1)


def test_a_repeat_that_landed_again_changes_only_the_consent(spark, lake, settings):
    put(spark, lake, TURNS, turn("a"), turn("b", "a", 1))
    assemble(settings, idle_minutes=None)
    put(spark, lake, TURNS, turn("a", minute=9, consent="none"))
    assemble(settings, idle_minutes=None)
    found = conversations(spark, lake)["r"]
    assert (list(found["turn_ids"]), found["consent"], found["revision"]) == (["a", "b"], "none", 2)


def test_another_tenant_with_the_same_ids_stays_apart(spark, lake, settings):
    put(spark, lake, TURNS, turn("a"), turn("a", tenant="other"), turn("b", "a", 1, tenant="other"))
    assemble(settings, idle_minutes=None)
    rows = delta.read(spark, lake, CONVERSATIONS).collect()
    assert {row["tenant"]: len(row["turn_ids"]) for row in rows} == {"default": 1, "other": 2}


def test_a_chain_of_responses_is_one_conversation_also_when_the_answer_lands_after_what_was_said_to_it(
    spark, lake, settings
):
    anonymous = {"ref": None}
    follow_up = turn("c", minute=2, previous_response_id="resp-1", **anonymous)
    put(spark, lake, TURNS, follow_up, turn("d", "c", 3, response_id="resp-2", **anonymous))
    assemble(settings, idle_minutes=None)
    assert [list(row["turn_ids"]) for row in conversations(spark, lake).values()] == [["c", "d"]]

    put(spark, lake, TURNS, turn("a", minute=0, **anonymous), turn("b", "a", 1, response_id="resp-1", **anonymous))
    assemble(settings, idle_minutes=None)
    put(spark, lake, TURNS, turn("e", minute=4, previous_response_id="resp-2", **anonymous))
    assemble(settings, idle_minutes=None)
    paths = sorted(list(row["turn_ids"]) for row in conversations(spark, lake).values())
    assert paths == [["a", "b", "c", "d", "e"]]


def test_a_request_with_only_the_tail_of_the_talk_continues_it(spark, lake, settings):
    talk = [turn("a"), turn("b", "a", 1), turn("c", "b", 2, role="user"), turn("d", "c", 3)]
    put(spark, lake, TURNS, *({**row, "content_id": row["turn_id"]} for row in talk))
    tail = [turn("d2", "r", 4, role="assistant", content_id="d"), turn("e", "d2", 5, role="user", content_id="e")]
    put(spark, lake, TURNS, *tail)
    assemble(settings, idle_minutes=None)
    row = conversations(spark, lake)["r"]
    assert (list(row["turn_ids"]), list(row["branch_turn_ids"]), row["n_branches"]) == (list("abcde"), ["d2"], 1)


def test_reordered_and_repeated_increments_give_the_conversations_of_ordered_input(spark, lake, settings, monkeypatch):
    # Small roots are taken apart too, so that both ways of grouping are tried.
    monkeypatch.setattr(stages, "LARGE_ROOT", 0)
    logged = [turn("a"), turn("b", "a", 1), turn("c", "b", 60 * 24 * 7, role="user")]
    anonymous = [turn(f"x{n}", "s" if n == 0 else f"x{n - 1}", n, ref=None, root_id="s") for n in range(4)]
    other = [turn("y0", "s", 9, ref=None, root_id="s"), turn("y1", "y0", 10, ref=None, root_id="s", user_ref="u")]
    feedback = {"feedback_id": "f", "kind": "thumb", "value": 1.0, "target_turn_id": "b"}
    put(spark, lake, TURNS, logged[2], anonymous[0], anonymous[3], other[1])
    put(spark, lake, FEEDBACK, feedback)
    assemble(settings, idle_minutes=None)
    put(spark, lake, TURNS, anonymous[2], logged[1], logged[0], other[0], logged[2] | {"offset": 99999})
    assemble(settings, idle_minutes=None)
    put(spark, lake, TURNS, anonymous[1], anonymous[0] | {"offset": 99998})
    assemble(settings, idle_minutes=None)
    found = conversations(spark, lake)
    assert sorted(list(row["turn_ids"]) for row in found.values()) == [
        ["a", "b", "c"],
        ["x0", "x1", "x2", "x3"],
        ["y0", "y1"],
    ]
    (liked,) = (row for row in found.values() if row["root_id"] == "r")
    assert liked["signals"]["satisfaction"] == liked["feedback"]["thumbs_up"] == 1
    assert liked["revision"] == 2
