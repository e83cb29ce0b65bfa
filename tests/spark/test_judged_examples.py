"""Feedback on small talks becomes pairs, liked and disliked answers, and whole talks; what fits nowhere is told."""

import datetime as dt

import pytest

from pipelines.datasets.curate import curate
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.policy_files import CONVERSATIONS as WHOLE_TALKS
from pipelines.datasets.policy_files import PREFERENCE, UNPAIRED
from pipelines.datasets.stored_text import unlike_turns
from pipelines.intake.identity import IdentityKey
from schemas import CONSENT_WITHDRAWALS, CONVERSATIONS, FEEDBACK, TRAINING_EXAMPLES, TURN_SIGNALS, TURNS

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
BUCKET = IdentityKey(bytes(range(32))).split_bucket
CALL = {"id": "call_1", "name": "weather", "arguments": '{"city":"Rome"}'}
TURN_WORDS = {"u": "user", "a": "assistant", "t": "tool"}


class Lake:
    """Rows of talks and of what people said of them; each scenario is a tenant of its own."""

    def __init__(self, spark):
        self.spark, self.minute = spark, 0
        self.rows = {table.name: [] for table in (CONVERSATIONS, TURNS, TURN_SIGNALS, FEEDBACK, CONSENT_WITHDRAWALS)}

    def talk(self, tenant, path, branches=(), name="talk", **conversation):
        """Add a talk of (turn, text, columns) along the active path and (parent, turn, text) beside it.

        The first letter of a turn tells its role. Branches came first: they are earlier tries.
        """
        root, ids = f"root-{name}", []
        for parent, turn, text, *more in branches:
            self.turn(tenant, turn, parent, root, text, *more)
        for turn, text, *more in path:
            self.turn(tenant, turn, ids[-1] if ids else root, root, text, *more)
            ids.append(turn)
        row = {
            "tenant": tenant, "conversation_id": root, "root_id": root, "conversation_ref": f"ref-{name}",
            "user_ref": "ann", "turn_ids": ids, "branch_turn_ids": [turn for _, turn, *_ in branches],
            "n_turns": len(ids), "feedback": None,
        }  # fmt: skip
        self.rows["conversations"].append(CONVERSATIONS.row(**(row | conversation)))
        return self

    def turn(self, tenant, turn, parent, root, text, more=None):
        self.minute += 1
        more = dict(more or {})
        signal = {k: more.pop(k) for k in ("keep", "reason") if k in more}
        row = {
            "tenant": tenant, "turn_id": turn, "parent_id": parent, "root_id": root, "text": text,
            "role": TURN_WORDS[turn[0]], "created_at": START + dt.timedelta(minutes=self.minute),
            "model": "m-1" if turn[0] == "a" else None,
        }  # fmt: skip
        self.rows["turns"].append(TURNS.row(**(row | more)))
        self.rows["turn_signals"].append(TURN_SIGNALS.row(tenant=tenant, turn_id=turn, **signal))

    def said(self, tenant, kind, target, value=None, **more):
        nth = len(self.rows["feedback"])
        row = {
            "tenant": tenant, "feedback_id": f"f{nth}", "target_turn_id": target, "kind": kind, "value": value,
            "user_ref": "ann", "created_at": START + dt.timedelta(days=1, minutes=nth), "offset": nth, "text": None,
        }  # fmt: skip
        self.rows["feedback"].append(FEEDBACK.row(**(row | more)))
        return self

    def cut(self, policy):
        tables = (CONVERSATIONS, TURNS, TURN_SIGNALS, FEEDBACK, CONSENT_WITHDRAWALS)
        frames = [self.spark.createDataFrame(self.rows[t.name], t.spark_schema) for t in tables]
        made = curate(
            *frames[:3], BUCKET, policy, feedback=frames[3], withdrawals=frames[4],
            hold=lambda frame: frame.localCheckpoint(),
        )  # fmt: skip
        assert unlike_turns(made.examples, frames[1], frames[3]).collect() == []
        examples = [row.asDict(recursive=True) for row in made.examples.collect()]
        drops = made.drops.collect()
        assert len({row["example_id"] for row in examples}) == len(examples)
        return Cut(examples, drops)


class Cut:
    def __init__(self, examples, drops):
        self.examples, self.drops = examples, drops

    def of(self, tenant):
        return [row for row in self.examples if row["tenant"] == tenant]

    def rules(self, tenant):
        return {(row.subject, row.subject_id): row.rule for row in self.drops if row.tenant == tenant}


def texts(messages):
    return [(m["role"], m["text"]) for m in messages]


ASKED = [("u1", "Is it raining?"), ("a1", "Yes, it is."), ("u2", "Thanks.")]
TRIED = [("u1", "a0", "Who knows?")]


@pytest.fixture(scope="module")
def lake(spark):
    lake = Lake(spark)
    lake.talk("edit", ASKED).said("edit", "edit", "a1", text="Yes, take an umbrella.", key_epoch=2)
    bad = {"model": "m-0", "keep": False, "flags": ["branch_inactive"]}
    lake.talk("again", ASKED, [("u1", "a0", "Who knows?", bad)])
    weather = [("a2", "", {"tool_calls": [CALL]}), ("t3", "22 C", {"tool_call_id": "call_1"}), ("a4", "It is 22 C.")]
    tries = [("t3", "a9", "No idea."), ("u2", "a8", "Bye.")]
    lake.talk("calls", [*ASKED, *weather, ("u5", "Good.")], tries)
    entry = {"offset": 77, "measure": "side_by_side"}
    for side, answer in (("left", "Blue."), ("right", "Green.")):
        lake.talk("arena", [(f"u-{side}", "Which colour?"), (f"a-{side}", answer, {"model": side})], name=side)
    lake.said("arena", "vote", "a-left", -1.0, **entry).said("arena", "vote", "a-right", 1.0, **entry)
    lake.talk("system", [("u1", "Which?"), ("a1", "This.", {"system_turn_id": None}), ("u2", "Ok.")], TRIED)
    lake.talk("equal", ASKED, [("u1", "a0", " Yes,  it is. ")])
    for tenant, other in (("tools", "[2]"), ("offered", None)):
        asked = [("u1", "Is it raining?"), ("a1", "Yes, it is.", {"tools": "[1]"}), ("u2", "Thanks.")]
        lake.talk(tenant, asked, [("u1", "a0", "Who knows?", {"tools": other})])
    lake.talk("torn", ASKED, TRIED).said("torn", "thumb", "a1", -1.0)
    lake.talk("empty", ASKED).said("empty", "edit", "a1", text=" ")
    lake.talk("tool", [("u1", "Weather?"), ("a1", "", {"tool_calls": [CALL]}), ("t2", "22 C"), ("a3", "22.")])
    lake.said("tool", "edit", "a1", text="It is warm.")
    lake.talk("lost", ASKED).said("lost", "edit", "nowhere", text="x")
    lake.talk(
        "two", [("u1", "Q?"), ("a1", "A.", {"response_id": "r"}), ("u2", "B?"), ("a2", "B.", {"response_id": "r"})]
    )
    lake.said("two", "edit", None, target_response_id="r", text="C.")
    lake.talk("withdrawn", ASKED).said("withdrawn", "edit", "a1", text="No.", user_ref="bob")
    lake.rows["consent_withdrawals"].append(
        CONSENT_WITHDRAWALS.row(tenant="withdrawn", subject_kind="user", subject_ref="bob")
    )
    lake.talk("private", ASKED).said("private", "edit", "a1", text="No.", consent="analytics")
    lake.talk("changed", ASKED).said("changed", "thumb", "a1", 1.0).said("changed", "thumb", "a1", -1.0)
    lake.talk("thumbs", ASKED, TRIED).said("thumbs", "thumb", "a1", 1.0).said("thumbs", "thumb", "a0", -1.0)
    lake.talk("split", ASKED).said("split", "thumb", "a1", 1.0).said("split", "thumb", "a1", -1.0, user_ref="bob")
    for name, answer in (("x", "Boil it for nine minutes."), ("y", "I do not know.")):
        lake.talk("weak", [(f"u-{name}", "How do I cook an egg hard?"), (f"a-{name}", answer)], name=name)
    lake.said("weak", "thumb", "a-x", 1.0).said("weak", "thumb", "a-y", -1.0)
    lake.talk("growing", ASKED, TRIED, complete=False).said("growing", "thumb", "a1", 1.0)
    return lake


@pytest.fixture(scope="module")
def pairs(lake):
    return lake.cut(PREFERENCE)


def test_an_edit_is_before_the_answer_that_it_mends(pairs):
    [row] = pairs.of("edit")
    assert texts(row["prompt"]) == [("user", "Is it raining?")]
    assert texts(row["chosen"]) == [("assistant", "Yes, take an umbrella.")]
    assert texts(row["rejected"]) == [("assistant", "Yes, it is.")]
    assert (row["trust"], row["evidence"], row["feedback_ids"]) == (1, "edit", ["f0"])
    assert (row["model"], row["rejected_model"], row["completion"]) == (None, "m-1", None)
    assert row["turn_ids"] == ["u1", "a1"]
    assert sorted(row["key_epochs"]) == [1, 2]


def test_what_a_user_stayed_with_is_before_the_draft_though_the_draft_is_bad_or_inactive(pairs):
    [row] = pairs.of("again")
    assert (texts(row["chosen"]), texts(row["rejected"])) == (
        [("assistant", "Yes, it is.")],
        [("assistant", "Who knows?")],
    )
    assert (row["trust"], row["model"], row["rejected_model"]) == (2, "m-1", "m-0")
    assert row["turn_ids"] == ["u1", "a0", "a1"]


def test_the_prompt_is_all_that_both_sides_share_and_calls_stay_whole(pairs):
    by_rejected = {texts(row["rejected"])[-1][1]: row for row in pairs.of("calls")}
    shared = by_rejected["No idea."]
    assert [m["role"] for m in shared["prompt"]] == ["user", "assistant", "user", "assistant", "tool"]
    assert texts(shared["chosen"]) == [("assistant", "It is 22 C.")]
    whole = by_rejected["Bye."]
    assert [m["role"] for m in whole["prompt"]] == ["user", "assistant", "user"]
    assert [m["role"] for m in whole["chosen"]] == ["assistant", "tool", "assistant"]
    assert whole["chosen"][0]["tool_calls"] == [CALL]
    assert whole["turn_ids"] == ["u1", "a1", "u2", "a8", "a2", "t3", "a4"]
    assert set(by_rejected) == {"No idea.", "Bye."}


def test_a_vote_between_two_models_pairs_two_talks(pairs):
    [row] = pairs.of("arena")
    assert (row["model"], row["rejected_model"], row["trust"], row["evidence"]) == ("right", "left", 3, "vote")
    assert texts(row["prompt"]) == [("user", "Which colour?")]
    assert row["turn_ids"] == ["u-right", "a-left", "a-right"]


def test_a_pair_has_the_tools_of_its_chosen_side_where_the_other_logged_none(pairs):
    assert [(row["tools"], texts(row["chosen"])) for row in pairs.of("offered")] == [
        ("[1]", [("assistant", "Yes, it is.")])
    ]


@pytest.mark.parametrize(
    ("tenant", "subject", "rule"),
    [
        ("equal", ("pair", "a1>a0"), "equal_sides"),
        ("tools", ("pair", "a1>a0"), "prompts_differ"),
        ("torn", ("pair", "a1>a0"), "contradicted"),
        ("growing", ("conversation", "root-talk"), "not_complete"),
    ],
)
def test_a_pair_that_cannot_teach_is_dropped_with_its_reason(pairs, tenant, subject, rule):
    assert pairs.of(tenant) == []
    assert pairs.rules(tenant) == {subject: rule}


@pytest.mark.parametrize(
    ("tenant", "rule"),
    [
        ("empty", "empty_reply"),
        ("tool", "edit_of_calls"),
        ("lost", "target_unknown"),
        ("two", "target_ambiguous"),
        ("withdrawn", "consent_withdrawn"),
        ("private", "consent"),
    ],
)
def test_an_edit_that_cannot_teach_is_dropped_with_its_reason(pairs, tenant, rule):
    assert pairs.of(tenant) == []
    assert list(pairs.rules(tenant).values()) == [rule]


def test_no_prompt_is_repeated_in_a_side_and_sides_differ(pairs):
    for row in pairs.examples:
        assert row["chosen"][0]["role"] == row["rejected"][0]["role"] == "assistant"
        assert texts(row["chosen"]) != texts(row["rejected"])
        assert row["kind"] == "preference"


def test_thumbs_are_liked_and_disliked_answers_and_the_last_of_a_user_counts(lake):
    cut = lake.cut(UNPAIRED)
    assert [(row["label"], texts(row["completion"])) for row in cut.of("changed")] == [
        (False, [("assistant", "Yes, it is.")])
    ]
    both = {row["label"]: row for row in cut.of("thumbs")}
    assert texts(both[False]["completion"]) == [("assistant", "Who knows?")]
    assert both[True]["turn_ids"] == ["u1", "a1"]
    assert (both[True]["trust"], both[True]["evidence"], both[True]["kind"]) == (5, "thumb", "unpaired")
    assert cut.rules("split") == {("turn", "a1"): "contradicted"}


def test_likes_and_dislikes_of_near_equal_prompts_are_pairs_only_when_asked_for(lake, pairs):
    cut = lake.cut(CurationPolicy(kind="preference", evidence=("near_equal_prompts",)))
    [row] = cut.of("weak")
    assert (texts(row["chosen"])[0][1], texts(row["rejected"])[0][1]) == ("Boil it for nine minutes.", "I do not know.")
    assert (row["trust"], row["evidence"]) == (4, "near_equal_prompts")
    assert pairs.of("weak") == []
    assert cut.of("edit") == []


def test_a_whole_talk_is_one_example_whose_mask_leaves_out_what_is_not_to_be_learned(spark):
    lake = Lake(spark)
    lake.talk("talk", [
        ("u1", "One?"), ("a2", "Cut", {"finish_reason": "length"}), ("u3", "Two?"), ("a4", "Two."), ("u5", "Three?"),
        ("a6", "No.", {"keep": False, "reason": "too_short"}), ("u7", "Four?"), ("a8", "Four."), ("u9", "Bye."),
    ])  # fmt: skip
    lake.talk("sent", ASKED).said("sent", "regenerate", "a1")
    cut = lake.cut(WHOLE_TALKS)
    [row] = cut.examples
    assert texts(row["prompt"]) == [("user", "One?"), ("assistant", "Cut"), ("user", "Two?")]
    assert [m["text"] for m in row["completion"]] == ["Two.", "Three?", "No.", "Four?", "Four."]
    assert row["loss_mask"] == [True, False, False, False, True]
    assert row["turn_ids"] == ["u1", "a2", "u3", "a4", "u5", "a6", "u7", "a8"]
    assert cut.rules("talk") == {("turn", "a2"): "finish_reason", ("turn", "a6"): "quality:too_short"}
    assert cut.rules("sent") == {("turn", "a1"): "sent_back"}


def test_an_example_with_a_word_that_its_turn_does_not_have_is_found(spark):
    words = {"role": "assistant", "text": "Yes, it is.", "tool_calls": [CALL], "tool_call_id": None}
    asked = words | {"role": "user", "text": "Is it?", "tool_calls": []}
    turns = [TURNS.row(turn_id="u1", role="user", text="Is it?"), TURNS.row(turn_id="a1", tools="[]", **words)]
    ratings = [FEEDBACK.row(feedback_id="f1", kind="edit", text="No.")]
    edit = {"evidence": "edit", "feedback_ids": ["f1"], "completion": None, "rejected": [words]}
    written = words | {"text": "No.", "tool_calls": []}
    sides = {
        "sound": {"completion": [words]},
        "word": {"completion": [words | {"text": "Yes, it was."}]},
        "call": {"completion": [words | {"tool_calls": []}]},
        "prompt": {"prompt": [asked | {"text": "Was it?"}], "completion": [words]},
        "tools": {"completion": [words], "tools": None},
        "other-tools": {"completion": [words], "tools": '[{"type":"function"}]'},
        "no-turn": {"completion": [words], "turn_ids": ["u1", "a2"]},
        "too-few-turns": {"completion": [words], "turn_ids": ["a1"]},
        "edited": edit | {"chosen": [written]},
        "edit-changed": edit | {"chosen": [written | {"text": "Never."}]},
    }
    shared = {"prompt": [asked], "turn_ids": ["u1", "a1"], "tools": "[]"}
    rows = [TRAINING_EXAMPLES.row(**{"example_id": name} | shared | more) for name, more in sides.items()]
    frames = [spark.createDataFrame(made, table.spark_schema)
              for made, table in ((rows, TRAINING_EXAMPLES), (turns, TURNS), (ratings, FEEDBACK))]  # fmt: skip
    assert {row.example_id for row in unlike_turns(*frames).collect()} == set(sides) - {"sound", "edited"}
