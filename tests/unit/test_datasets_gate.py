import pytest

from pipelines.adapters.expectations import run_gate
from pipelines.datasets.gate import GateFindings, GateRows, content_key, promises
from pipelines.datasets.policy import Caps, CurationPolicy, GateLimits
from pipelines.datasets.shape import Shape, drift, length_class, shape_of
from schemas import TRAINING_EXAMPLES

SECRET = "mallory.example@example.com"


def message(role, text):
    return {"role": role, "text": text, "tool_calls": [], "tool_call_id": None}


def rows(n=40):
    made = []
    for i in range(n):
        row = TRAINING_EXAMPLES.row(
            example_id=f"e{i:03d}",
            prompt=[message("user", f"question {i}")],
            completion=[message("assistant", f"answer {i}")],
            user_ref=f"u{i}",
            split="validation" if i % 10 == 0 else "train",
        )
        del row["dataset_version"]
        made.append(row)
    return made


LENIENT, NOTHING = CurationPolicy(), GateFindings()


def frame(made, policy=LENIENT, findings=NOTHING):
    collected = GateRows()
    for row in made:
        collected.add(row)
    return collected.frame("ds-1", policy, findings), collected.shape


def gate(made, policy=LENIENT, findings=NOTHING):
    told, shape = frame(made, policy, findings)
    return run_gate(told, TRAINING_EXAMPLES, promises(policy, findings, shape), id_column="example_id")


def failures(*told, **more):
    return {failed.name: failed for failed in gate(*told, **more).failed}


def test_a_sound_dataset_passes_every_expectation():
    result = gate(rows())
    assert result.passed
    n_promises = len(promises(CurationPolicy(), GateFindings(), Shape()))
    assert result.n_expectations == sum(len(c.checks) for c in TRAINING_EXAMPLES.columns) + 1 + n_promises


def test_a_failed_check_tells_counts_and_row_ids_and_never_the_value():
    made = rows()
    made[3]["kind"] = made[7]["kind"] = SECRET
    failed = gate(made).failed[0]
    assert failed.name == "kind must be one of sft, conversation, preference, unpaired"
    assert failed.observed == "2 of 40 rows break it"
    assert failed.ids == ("e003", "e007")
    assert SECRET not in repr(failed)


def test_a_missing_value_is_told_by_its_column():
    made = rows()
    made[5]["source"] = None
    [failed] = gate(made).failed
    assert (failed.column, failed.ids) == ("source", ("e005",))


def test_a_dataset_without_validation_rows_is_held():
    made = rows()
    for row in made:
        row["split"] = "train"
    [failed] = gate(made).failed
    assert str(failed) == (
        "both splits have rows: wanted rows with each of train, validation, found none with validation among 40 rows"
    )


def test_an_empty_dataset_is_held():
    names = {failed.name: failed.observed for failed in gate([]).failed}
    assert names["the dataset has enough rows"] == "0"


def test_two_examples_that_say_the_same_are_held():
    made = rows()
    made[1]["prompt"], made[1]["completion"] = [message("user", " question  2")], [message("assistant", "answer 2\n")]
    [failed] = gate(made).failed
    assert failed.name == "no two examples of a tenant say the same"
    assert failed.ids == ("e001", "e002")


def test_a_repeated_id_is_held():
    made = rows()
    made[1]["example_id"] = "e002"
    assert "dataset_version, example_id must be unique" in {failed.name for failed in gate(made).failed}


def test_a_user_in_both_splits_is_held():
    made = rows()
    made[0]["user_ref"] = made[1]["user_ref"]
    [failed] = gate(made).failed
    assert failed.name == "no user or conversation is in both splits"


@pytest.mark.parametrize(
    ("side", "said", "name"),
    [
        ("prompt", [], "every prompt has a turn of the user"),
        ("prompt", [message("system", "hi")], "every prompt has a turn of the user"),
        ("completion", [message("user", "hi")], "every target is an answer with content"),
        ("completion", [message("assistant", "  ")], "every target is an answer with content"),
    ],
)
def test_a_row_that_cannot_teach_is_held(side, said, name):
    made = rows()
    made[4][side] = said
    [failed] = gate(made).failed
    assert (failed.name, failed.ids) == (name, ("e004",))


def test_rows_of_two_tenants_are_held():
    made = rows()
    made[4]["tenant"] = "other"
    assert [failed.name for failed in gate(made).failed] == ["all rows belong to one tenant"]


def test_the_gate_sees_no_text():
    made = rows(10)
    made[2]["prompt"] = [message("user", SECRET)]
    assert SECRET not in frame(made)[0].to_csv()


def test_the_boundary_between_prompt_and_completion_counts():
    a, b, c = message("user", "a"), message("assistant", "b"), message("assistant", "c")
    one = {"tenant": "t", "kind": "sft", "prompt": [a, b], "completion": [c]}
    other = one | {"prompt": [a], "completion": [b, c]}
    assert content_key(one) != content_key(other)


@pytest.mark.parametrize(
    ("found", "name"),
    [
        ("contaminated", "no example holds an item of a benchmark"),
        ("unlike_turns", "every string is that of its stored turn"),
        ("suspect", "detectors find nothing outside of redactions"),
    ],
)
def test_what_was_found_elsewhere_holds_the_version_and_names_the_rows(found, name):
    failed = failures(rows(), findings=GateFindings(**{found: {"e004", "e009"}}))
    assert list(failed) == [name]
    assert failed[name].ids == ("e004", "e009")
    assert failed[name].observed == "2 of 40 rows break it"
    assert name in {one.name for one in gate(rows(), findings=GateFindings(**{found: ()})).checked}


def test_what_was_not_looked_at_is_not_promised():
    names = {one.name for one in gate(rows()).checked}
    assert not {name for name in names if "benchmark" in name or "stored turn" in name or "drift" in name}


def test_a_log_of_repeats_is_held():
    assert failures(rows(), findings=GateFindings(compared=1_000, repeats=900)) == {}
    [failed] = failures(rows(), findings=GateFindings(compared=1_000, repeats=990)).values()
    assert str(failed) == "share of dropped repeats: wanted at most 0.95, found 0.99"


def test_a_version_of_unknown_languages_is_held():
    made = rows()
    for row in made:
        row["language"] = "und"
    assert list(failures(made)) == ["share of unknown languages"]


def test_fewer_rows_than_the_policy_wants_are_held():
    policy = CurationPolicy(gate=GateLimits(min_examples=41))
    assert str(failures(rows(), policy)["the dataset has enough rows"]) == (
        "the dataset has enough rows: wanted at least 41, found 40"
    )


def test_an_origin_beyond_its_cap_is_held():
    policy = CurationPolicy(caps=Caps(user=1, source=39))
    assert list(failures(rows(), policy)) == ["no origin has more examples than its cap"]


def judged(kind, n=40):
    made = rows(n)
    for i, row in enumerate(made):
        row |= {"kind": kind, "trust": 5, "evidence": "thumb", "feedback_ids": [f"f{i}"]}
        if kind == "preference":
            row |= {"chosen": row["completion"], "rejected": [message("assistant", "no")], "completion": None}
        else:
            row["label"] = i % 2 == 0
    return made


@pytest.mark.parametrize("kind", ["preference", "unpaired"])
def test_judged_examples_pass_and_must_tell_their_evidence(kind):
    policy = CurationPolicy(kind=kind)
    assert gate(judged(kind), policy).passed
    made = judged(kind)
    made[3]["evidence"] = None
    assert failures(made, policy)["every judged example tells its evidence"].ids == ("e003",)


def test_one_label_alone_is_held():
    made = judged("unpaired")
    for row in made:
        row["label"] = True
    assert list(failures(made, CurationPolicy(kind="unpaired"))) == ["share of the rarer label"]


@pytest.mark.parametrize(
    "rejected",
    [
        [],
        [message("user", "q"), message("assistant", "no")],
        [message("assistant", " ")],
        [message("assistant", "answer 6")],
    ],
)
def test_a_pair_with_a_side_that_is_no_answer_of_its_own_is_held(rejected):
    made = judged("preference")
    made[6]["rejected"] = rejected
    assert failures(made, CurationPolicy(kind="preference"))["every target is an answer with content"].ids == ("e006",)


@pytest.mark.parametrize("mask", [[True], [False, False, True], [True, True, True], None])
def test_a_talk_whose_mask_does_not_fit_is_held(mask):
    made = rows()
    for row in made:
        row |= {"kind": "conversation", "loss_mask": [True, False, True]}
        row["completion"] = [*row["completion"], message("user", "and?"), message("assistant", "so")]
    assert gate(made, CurationPolicy(kind="conversation")).passed
    made[2]["loss_mask"] = mask
    assert failures(made, CurationPolicy(kind="conversation"))["every target is an answer with content"].ids == (
        "e002",
    )


def test_rows_of_another_kind_are_held():
    assert "all rows are of the policy's kind" in failures(rows(), CurationPolicy(kind="conversation"))


def test_a_version_far_from_the_one_before_is_held_and_a_small_one_is_not_compared():
    limits = GateLimits(drift_examples=30)
    before = shape_of({"languages": {"de": 40}, "sources": {"openai_chat": 40}, "lengths": {"to 32": 40}})
    [failed] = failures(rows(), CurationPolicy(gate=limits), GateFindings(before=before)).values()
    assert str(failed) == "drift of languages: wanted at most 0.5, found 1"
    assert gate(rows(), CurationPolicy(), GateFindings(before=before)).passed


def test_a_shape_is_told_and_read_back():
    told, shape = frame(judged("unpaired"))
    assert shape_of(shape.told()) == shape
    assert shape.told()["labels"] == {"disliked": 20, "liked": 20}
    assert shape.n == len(told) == 40


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ({"a": 3}, {"a": 9}, 0.0),
        ({"a": 1}, {"b": 1}, 1.0),
        ({"a": 1, "b": 1}, {"a": 3, "b": 1}, 0.25),
        ({}, {"a": 1}, 0.0),
    ],
)
def test_drift_is_the_share_that_moved(before, after, moved):
    assert drift(before, after) == drift(after, before) == moved


def test_lengths_are_those_of_the_target():
    row = rows(1)[0] | {"kind": "preference", "chosen": [message("assistant", "x" * 33)], "rejected": []}
    assert length_class(row) == "to 128"
    assert length_class(row | {"chosen": [message("assistant", "x" * 9_000)]}) == "above 8192"
