import pytest

from pipelines.adapters.expectations import run_gate
from pipelines.datasets.gate import PROMISES, GateRows, content_key
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


def frame(made):
    collected = GateRows()
    for row in made:
        collected.add(row)
    return collected.frame("ds-1")


def gate(made):
    return run_gate(frame(made), TRAINING_EXAMPLES, PROMISES, id_column="example_id")


def test_a_sound_dataset_passes_every_expectation():
    result = gate(rows())
    assert result.passed
    assert result.n_expectations == sum(len(c.checks) for c in TRAINING_EXAMPLES.columns) + 1 + len(PROMISES)


def test_a_failed_check_tells_counts_and_row_ids_and_never_the_value():
    made = rows()
    made[3]["kind"] = made[7]["kind"] = SECRET
    [failed] = gate(made).failed
    assert failed.name == "kind must be one of sft, preference, unpaired"
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
    assert names["the dataset has rows"] == "0"


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
        ("completion", [message("user", "hi")], "every completion is one answer with content"),
        ("completion", [message("assistant", "  ")], "every completion is one answer with content"),
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
    assert SECRET not in frame(made).to_csv()


def test_the_boundary_between_prompt_and_completion_counts():
    a, b, c = message("user", "a"), message("assistant", "b"), message("assistant", "c")
    one = {"tenant": "t", "prompt": [a, b], "completion": [c]}
    other = {"tenant": "t", "prompt": [a], "completion": [b, c]}
    assert content_key(one) != content_key(other)
