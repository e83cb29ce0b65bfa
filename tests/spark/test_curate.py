"""Curation on small talks: each rule drops what it names, and every answer is in exactly one place."""

import datetime as dt

import pytest

from pipelines.datasets.curate import curate
from pipelines.datasets.gate import content_key
from pipelines.datasets.policy import CurationPolicy
from pipelines.datasets.rules import BARRING_FLAGS
from pipelines.intake.identity import IdentityKey
from schemas import CONVERSATIONS, TRAINING_EXAMPLES, TURN_SIGNALS, TURNS

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
BUCKET = IdentityKey(bytes(range(32))).split_bucket


class Talks:
    """Rows of conversations, turns and signals, written talk by talk."""

    def __init__(self, spark):
        self.spark = spark
        self.conversations, self.turns, self.signals = [], [], []

    def add(self, tenant, name, *said, minute=0, system=None, branches=(), **conversation):
        """Add a talk of ``tenant``; each of ``said`` is (role, text) or (role, text, columns of the turn)."""
        ids, parent = [], f"root-{name}"
        for nth, (role, text, *more) in enumerate(said):
            turn_id = f"{name}-{nth}"
            self.turn(tenant, turn_id, parent, name, role, text, minute, system and f"{name}-s", *more)
            ids, parent = [*ids, turn_id], turn_id
        if system:
            self.turn(tenant, f"{name}-s", f"root-{name}", name, "system", system, minute, None)
        for branch in branches:
            self.turn(tenant, branch, ids[0], name, "assistant", f"other {branch}", minute, None)
        row = {
            "tenant": tenant,
            "conversation_id": f"root-{name}",
            "root_id": f"root-{name}",
            "turn_ids": ids,
            "branch_turn_ids": list(branches),
            "n_turns": len(ids),
            "started_at": START + dt.timedelta(minutes=minute),
            "feedback": None,
        }
        self.conversations.append(CONVERSATIONS.row(**(row | conversation)))
        return self

    def turn(self, tenant, turn_id, parent, name, role, text, minute, system_turn_id, more=None):
        more = dict(more or {})
        signal = {k: more.pop(k) for k in ("keep", "reason") if k in more}
        tagged = more.pop("tagged", True)
        row = {
            "tenant": tenant,
            "turn_id": turn_id,
            "parent_id": parent,
            "root_id": f"root-{name}",
            "role": role,
            "text": text,
            "system_turn_id": system_turn_id,
            "created_at": START + dt.timedelta(minutes=minute),
        }
        self.turns.append(TURNS.row(**(row | more)))
        if tagged:
            self.signals.append(TURN_SIGNALS.row(tenant=tenant, turn_id=turn_id, **signal))

    def curate(self):
        frames = [
            self.spark.createDataFrame(rows, table.spark_schema)
            for rows, table in ((self.conversations, CONVERSATIONS), (self.turns, TURNS), (self.signals, TURN_SIGNALS))
        ]
        held = []
        cut = curate(*frames, BUCKET, hold=lambda frame: held.append(frame.persist()) or held[-1])
        wanted = [name for name in TRAINING_EXAMPLES.column_names if name != "dataset_version"]
        assert cut.examples.columns == [*wanted, "key_epochs"]
        self.examples = [row.asDict(recursive=True) for row in cut.examples.collect()]
        self.drops = cut.drops.collect()
        for frame in held:
            frame.unpersist()
        return self

    def examples_of(self, tenant):
        return {row["turn_ids"][-1]: row for row in self.examples if row["tenant"] == tenant}

    def drops_of(self, tenant):
        return [row for row in self.drops if row.tenant == tenant]

    def rules_of(self, tenant):
        return {row.subject_id: row.rule for row in self.drops_of(tenant)}


FULL = [("user", "hello"), ("assistant", "good day")]
CALL = {"id": "call_1", "name": "weather", "arguments": '{"city":"Rome"}'}
TOOLS = '[{"type":"function","function":{"name":"weather"}}]'

BROKEN = {
    "consent-of-a-turn": ([("user", "hi", {"consent": "analytics"}), FULL[1]], {}, "consent"),
    "consent-of-the-talk": (FULL, {"consent": "none"}, "consent"),
    "quality": ([FULL[0], ("assistant", "x", {"keep": False, "reason": "too_short"})], {}, "quality:too_short"),
    "not-tagged": ([FULL[0], ("assistant", "x", {"tagged": False})], {}, "quality:not_tagged"),
    "no-user": ([("assistant", "hello, how can I help?")], {}, "no_user_turn"),
    "length": ([FULL[0], ("assistant", "cut", {"finish_reason": "length"})], {}, "finish_reason"),
    "max-tokens": ([FULL[0], ("assistant", "cut", {"finish_reason": "MAX_TOKENS"})], {}, "finish_reason"),
    "content-filter": ([FULL[0], ("assistant", "cut", {"finish_reason": "content_filter"})], {}, "finish_reason"),
    "blank": ([FULL[0], ("assistant", "  ")], {}, "empty_reply"),
    "null": ([FULL[0], ("assistant", None)], {}, "empty_reply"),
    "no-head": ([("user", "late", {"parent_id": "lost"}), FULL[1]], {}, "not_trainable_flag:history_missing"),
}


@pytest.fixture(scope="module")
def talks(spark):
    """All scenarios in one cut, each under a tenant of its own: no rule reaches over tenants."""
    talks = Talks(spark)
    talks.add(
        "tools", "a", ("user", "Weather?"), ("assistant", "", {"tool_calls": [CALL], "tools": TOOLS}),
        ("tool", "22 C", {"tool_call_id": "call_1"}), ("assistant", "It is 22 C."), system="Be brief.",
    )  # fmt: skip
    for tenant, (said, conversation, _) in BROKEN.items():
        talks.add(tenant, "a", *said, **conversation)
    for flag in BARRING_FLAGS:
        said = FULL[0], ("assistant", "one", {"flags": [flag]}), ("user", "more"), ("assistant", "two")
        talks.add("flags", flag, *said)
    talks.add("informs", "a", FULL[0], ("assistant", "fine", {"flags": ["control_token_in_content", "nul_removed"]}))
    talks.add("withdrawn", "a", *FULL, ("user", "secret", {"consent": "none"}), ("assistant", "later"))
    talks.add("system", "a", *FULL, system="Be brief.")
    talks.turns[-1]["consent"] = "none"
    talks.add("repeats", "late", *FULL, minute=9)
    talks.add("repeats", "first", ("user", " hello\n"), ("assistant", "good  day"), minute=1)
    talks.add("repeats", "other", ("user", "hello there"), FULL[1])
    talks.add("branches", "a", *FULL, branches=("a-x", "a-y"))
    talks.add("growing", "a", *FULL, complete=False)
    talks.add("shared", "a", *FULL)
    talks.conversations.append(talks.conversations[-1] | {"conversation_id": "leaf", "consent": "none"})
    talks.add("spaces", "a", ("user", "x \u00a0y\t\u3000"), ("assistant", "\u2003z\n\n w"), minute=1)
    talks.add("spaces", "b", ("user", "x  \u00a0y \u3000"), ("assistant", " \u2003z w "), minute=2)
    talks.add("spaces", "c", ("user", "x y"), ("assistant", "z w"), minute=3)
    for nth in range(40):
        more = {"finish_reason": "length"} if nth % 7 == 0 else {"keep": nth % 5 != 0, "reason": "too_short"}
        talks.add(
            "many", f"t{nth}", ("user", f"q {nth % 11}"), ("assistant", f"a {nth % 11}", more), ("user", "go on"),
            ("assistant", f"b {nth}"), minute=nth, consent="analytics" if nth % 13 == 0 else "training",
        )  # fmt: skip
    for nth in range(60):
        talks.add("users", f"t{nth}", ("user", f"q {nth}"), ("assistant", f"a {nth}"), user_ref=f"user{nth % 20}")
    return talks.curate()


def test_each_answer_becomes_one_example_with_all_that_was_said_before_it(talks):
    examples = talks.examples_of("tools")
    assert not talks.drops_of("tools")
    assert set(examples) == {"a-1", "a-3"}
    last = examples["a-3"]
    assert [m["role"] for m in last["prompt"]] == ["system", "user", "assistant", "tool"]
    assert last["prompt"][2]["tool_calls"] == [CALL]
    assert last["prompt"][3]["tool_call_id"] == "call_1"
    assert [m["text"] for m in last["completion"]] == ["It is 22 C."]
    assert last["turn_ids"] == ["a-s", "a-0", "a-1", "a-2", "a-3"]
    assert examples["a-1"]["completion"][0]["tool_calls"] == [CALL]
    assert (examples["a-1"]["tools"], last["tools"]) == (TOOLS, None)


@pytest.mark.parametrize("tenant", BROKEN)
def test_an_answer_that_breaks_a_rule_is_a_drop_with_that_rule(talks, tenant):
    said, _, rule = BROKEN[tenant]
    assert not talks.examples_of(tenant)
    assert talks.rules_of(tenant) == {f"a-{len(said) - 1}": rule}


def test_every_barring_flag_drops_its_answer_and_those_after_it(talks):
    assert not talks.examples_of("flags")
    assert talks.rules_of("flags") == {
        f"{flag}-{nth}": f"not_trainable_flag:{flag}" for flag in BARRING_FLAGS for nth in (1, 3)
    }


def test_a_flag_that_only_informs_drops_nothing(talks):
    assert set(talks.examples_of("informs")) == {"a-1"}


def test_a_turn_without_consent_drops_the_answers_after_it_and_not_those_before(talks):
    assert set(talks.examples_of("withdrawn")) == {"a-1"}
    assert talks.rules_of("withdrawn") == {"a-3": "consent"}


def test_a_system_message_without_consent_drops_its_answers(talks):
    assert talks.rules_of("system") == {"a-1": "consent"}


def test_the_earliest_of_equal_answers_stays_and_is_named_by_the_others(talks):
    assert set(talks.examples_of("repeats")) == {"first-1", "other-1"}
    [drop] = talks.drops_of("repeats")
    assert (drop.subject_id, drop.rule, drop.matched_id) == ("late-1", "exact_duplicate", "first-1")
    assert (drop.score, drop.threshold) == (1.0, 1.0)


def test_answers_of_other_branches_never_train(talks):
    assert set(talks.examples_of("branches")) == {"a-1"}
    assert talks.rules_of("branches") == {"a-x": "inactive_branch", "a-y": "inactive_branch"}


def test_a_talk_that_may_still_grow_is_one_drop(talks):
    assert not talks.examples_of("growing")
    assert [(row.subject, row.rule) for row in talks.drops_of("growing")] == [("conversation", "not_complete")]


def test_an_answer_that_two_paths_share_counts_once_and_trains_when_one_path_may(talks):
    examples = talks.examples_of("shared")
    assert set(examples) == {"a-1"}
    assert not talks.drops_of("shared")
    assert examples["a-1"]["conversation_id"] == "root-a"


def test_every_answer_of_a_complete_talk_is_exactly_one_example_or_one_drop(talks):
    accounted = [(row["tenant"], row["turn_ids"][-1]) for row in talks.examples]
    accounted += [(row.tenant, row.subject_id) for row in talks.drops if row.subject == "turn"]
    answers = [(row["tenant"], row["turn_id"]) for row in talks.turns if row["role"] == "assistant"]
    assert sorted(accounted) == sorted(answer for answer in answers if answer[0] != "growing")
    assert len(talks.drops_of("many")) > 20
    assert len(talks.examples_of("many")) > 20


def test_all_rows_of_a_user_are_in_the_split_of_the_keyed_bucket(talks):
    splits = {(row["user_ref"], row["split"]) for row in talks.examples_of("users").values()}
    assert len(splits) == 20
    assert splits == {(user, CurationPolicy().split(BUCKET("users", user))) for user, _ in splits}
    assert {split for _, split in splits} == {"train", "validation"}


def test_the_gate_and_the_duplicate_rule_mean_the_same_by_equal(talks):
    keys = [content_key(row) for row in talks.examples]
    assert len(set(keys)) == len(keys)
    assert talks.rules_of("spaces") == {"b-1": "exact_duplicate"}


def test_drops_carry_each_subject_and_rule_once(talks):
    keys = [(row.tenant, row.subject_id, row.rule) for row in talks.drops]
    assert len(set(keys)) == len(keys)
