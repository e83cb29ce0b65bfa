"""The story of a turn, read by DuckDB from a lake that is written without Spark."""

import datetime as dt
import json

import pytest
from click.testing import CliRunner

from jobs.curate_batch import command
from jobs.curate_explain import told
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.datasets.turn_story import turn_story
from schemas import CONVERSATIONS, DATASET_VERSIONS, DROPS, LANDING, TRAINING_EXAMPLES, TURN_SIGNALS, TURNS

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
SPOKEN = "nobody reads these words"


def turn(turn_id, role, **more):
    return TURNS.row(turn_id=turn_id, role=role, text=SPOKEN, topic="logs", offset=41, **more)


@pytest.fixture
def told_lake(lake):
    """A talk of two answers; version ds-1 has one as example, ds-2 drops it; another talk is still growing."""
    rows = (
        (TURNS, [turn("u1", "user"), turn("a1", "assistant"), turn("a2", "assistant", flags=["unknown_part"]),
                turn("g1", "assistant"), turn("a1", "assistant", tenant="other")]),
        (LANDING, [LANDING.row(turn_id="a1", outcome="turn", offset=n) for n in range(3)]),
        (TURN_SIGNALS, [TURN_SIGNALS.row(turn_id="a1"),
                       TURN_SIGNALS.row(turn_id="a1", rule_version=2, keep=False, reason="too_long")]),
        (CONVERSATIONS, [
            CONVERSATIONS.row(conversation_id="c1", turn_ids=["u1", "a1"], branch_turn_ids=["a2"], n_turns=2),
            CONVERSATIONS.row(conversation_id="c2", turn_ids=["u1", "g1"], complete=False),
        ]),
        (DATASET_VERSIONS, [DATASET_VERSIONS.row(dataset_version=f"ds-{n}", created_at=START + dt.timedelta(days=n))
                           for n in (1, 2)]),
        (TRAINING_EXAMPLES, [TRAINING_EXAMPLES.row(dataset_version="ds-1", example_id="e1", turn_ids=["u1", "a1"])]),
        (DROPS, [
            DROPS.row(dataset_version="ds-2", subject_id="a1", rule="near_duplicate", score=0.87, threshold=0.8,
                      matched_id="b7"),
            DROPS.row(dataset_version="ds-1", subject_id="a2", rule="inactive_branch"),
            DROPS.row(dataset_version="ds-1", subject_id="c2", subject="conversation", rule="not_complete"),
            DROPS.row(dataset_version="ds-2", subject_id="a1", tenant="other", rule="consent"),
        ]),
    )  # fmt: skip
    for table, made in rows:
        delta.append_rows(made, lake, table, txn=("test", 1))
    return lake


def story_of(lake, turn_id, tenant="default"):
    [story] = turn_story(connect(lake), turn_id, tenant)
    return story


def test_a_story_goes_from_the_offset_to_each_version_newest_first(told_lake):
    story = story_of(told_lake, "a1")
    assert (story["landed"]["topic"], story["landed"]["offset"], story["landed"]["repeats"]) == ("logs", 41, 2)
    assert (story["signals"]["rule_version"], story["signals"]["keep"], story["signals"]["reason"]) == (
        2, False, "too_long"
    )  # fmt: skip
    assert [(c["conversation_id"], c["position"]) for c in story["conversations"]] == [("c1", 1)]
    newest, first = story["versions"]
    assert (newest["dataset_version"], newest["example"]) == ("ds-2", None)
    assert newest["drops"] == [
        {"subject": "turn", "rule": "near_duplicate", "score": 0.87, "threshold": 0.8, "matched_id": "b7"}
    ]
    assert (first["dataset_version"], first["drops"], first["example"]["split"]) == ("ds-1", [], "train")


def test_a_turn_of_a_prompt_is_counted_in_the_examples_that_have_it(told_lake):
    story = story_of(told_lake, "u1")
    by_version = {version["dataset_version"]: version for version in story["versions"]}
    assert (by_version["ds-1"]["in_prompts"], by_version["ds-1"]["example"]) == (1, None)
    assert [c["position"] for c in story["conversations"]] == [0, 0]


def test_an_answer_on_another_branch_has_no_place_on_the_path(told_lake):
    story = story_of(told_lake, "a2")
    assert [c["position"] for c in story["conversations"]] == [None]
    assert story["signals"] is None
    assert story["versions"][0]["drops"][0]["rule"] == "inactive_branch"
    assert "on another branch" in "\n".join(told(story))


def test_the_drop_of_a_whole_conversation_is_told_for_its_turns(told_lake):
    [version] = story_of(told_lake, "g1")["versions"]
    assert version["drops"][0]["subject"] == "conversation"
    assert "its conversation, not_complete. The conversation may still grow." in "\n".join(
        told(story_of(told_lake, "g1"))
    )


def test_tenants_with_the_same_id_have_stories_of_their_own(told_lake):
    stories = turn_story(connect(told_lake), "a1")
    assert [story["tenant"] for story in stories] == ["default", "other"]
    assert [drop["rule"] for drop in stories[1]["versions"][0]["drops"]] == ["consent"]


def explain(lake, *words):
    return CliRunner().invoke(command, ["--lake", str(lake.path), *words])


def test_the_command_tells_the_story_in_words_and_as_json_and_no_text_of_the_turn(told_lake):
    words = explain(told_lake, "--explain", "a1", "--tenant", "default")
    assert words.exit_code == 0, words.output
    assert "logs/0/41" in words.output
    assert "near_duplicate (score 0.87, threshold 0.8); because of b7" in words.output
    line = explain(told_lake, "--explain", "a1", "--tenant", "default", "--json")
    assert json.loads(line.stdout)["versions"][0]["drops"][0]["matched_id"] == "b7"
    assert SPOKEN not in words.output + line.output


def test_an_unknown_turn_is_told_with_what_to_do_next(told_lake):
    unknown = explain(told_lake, "--explain", "zz")
    assert unknown.exit_code == 1
    assert "turns_current" in unknown.output


def test_an_unknown_policy_is_wrong_use_and_names_the_known_ones(told_lake):
    refused = explain(told_lake, "--policy", "sft-stric")
    assert refused.exit_code == 2
    assert "sft-lenient, sft-strict, conversations, preference, unpaired" in refused.output
